import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EventReader, type ReaderParts } from "../../src/events/event-reader.ts";
import { ReadTurns } from "../../src/events/read-turns.ts";
import { gate } from "../contracts/store/home.ts";
import { settled } from "../federation/moved-runtime.ts";
import { madeEvents } from "./moved-events.ts";

describe("a stream that catches up", () => {
  it("lets others have a turn after each read, also when no entry is its own", async () => {
    const entries = 4_000;
    const happened: string[] = [];
    const tail = async ({ id }: { readonly id: number }, limit: number) => {
      happened.push("read");
      return Array.from({ length: Math.min(limit, entries - id) }, (_, i) => ({
        position: { transaction: 0, id: id + i + 1 },
        userId: 2,
      }));
    };
    const position = { transaction: 0, id: entries };
    const tx = {
      log: { tail, end: async () => position, horizon: async () => ({ transaction: 0, id: 0 }) },
      logEpoch: { current: async () => ({ name: "e" }) },
    };
    const parts = {
      store: { read: (act: (of: unknown) => unknown) => act(tx) },
      accessScope: { kind: "user", userId: 1 },
      eventsOf: () => assert.fail("an entry of another user"),
      writer: { write: () => undefined, unsentBytes: 0, closed: new AbortController().signal },
      turn: async () => void happened.push("turn"),
      runtime: { after: () => () => undefined, nowMs: () => 0, elapsedMs: () => 0 },
      readTurns: new ReadTurns(1),
      revocationsRead: async () => undefined,
      untilMs: 1,
    } as unknown as ReaderParts;
    const reader = new EventReader(parts, {
      resumePoint: { epoch: "e", position: { transaction: 0, id: 0 } },
      frames: "",
    });
    assert.equal(await reader.catchUp(), true);
    assert.equal(reader.after.id, entries);
    assert.ok(happened.length > 10);
    assert.ok(!happened.join().includes("read,read"), happened.join());
  });

  it("ends with its token", { timeout: 30_000 }, async (t) => {
    const { opened, open } = gate();
    t.after(open);
    const { join, fill, resume, hold, elapsedMs, advance } = await madeEvents(t);
    const id = (await join()).lastEventId;
    await fill(2_000);
    const untilMs = elapsedMs() + 500;
    let reads = 0;
    hold.afterRead = async () => {
      reads += 1;
      if (reads > 2) await opened;
    };
    const reader = await resume(id, { untilMs });
    await advance(400);
    assert.deepEqual([reader.values().length, reader.isEnded], [50, false]);
    await advance(100);
    // The second page was read before the token ended.
    open();
    await advance(10);
    assert.ok(reader.isEnded);
    assert.equal(reader.values().length, 50, "nothing was sent after the token's end");
  });

  it("sends nothing that it has read before it knows which access has ended", { timeout: 30_000 }, async (t) => {
    const { opened, open } = gate();
    t.after(open);
    const { join, fill, resume, hold, onRevocationsRead, advance } = await madeEvents(t);
    const id = (await join()).lastEventId;
    await fill(200);
    let reads = 0;
    hold.afterRead = async () => {
      reads += 1;
      if (reads > 1) await opened;
    };
    const reader = await resume(id);
    onRevocationsRead.act = () => reader.end();
    open();
    await advance(20);
    assert.deepEqual(reader.values(), []);
  });

  it("tells its client how far it has come, and then that it is current", { timeout: 30_000 }, async (t) => {
    const { opened, open } = gate();
    t.after(open);
    const { join, fill, resume, hold, nowMs, advance, until } = await madeEvents(t);
    const id = (await join()).lastEventId;
    const firstMs = await fill(1_000);
    let reads = 0;
    hold.afterRead = async () => {
      reads += 1;
      if (reads > 2) await opened;
    };
    const reader = await resume(id, { heartbeatSeconds: 2 });
    await advance(4_100);
    assert.equal(reader.values().length, 50);
    const old = { everySeconds: 2, catchingUp: true };
    assert.deepEqual(reader.heartbeats(), [
      { ...old, time: firstMs },
      { ...old, time: firstMs + 49_000 },
      { ...old, time: firstMs + 49_000 },
    ]);
    // A client that begins again goes on where it was.
    const { lastEventId } = reader;
    open();
    const again = await resume(lastEventId, { heartbeatSeconds: 2 });
    await until(() => reader.values().length === 1_000 && again.values().length === 950);
    for (const stream of [reader, again]) {
      await until(() => stream.heartbeats().at(-1)?.catchingUp === undefined);
      assert.ok(stream.heartbeats().at(-1)!.time > nowMs() - 3_000);
    }
  });

  it("tells a client with the default interval that it is current as soon as it is", { timeout: 30_000 }, async (t) => {
    const { join, fill, resume, advance, until } = await madeEvents(t);
    const id = (await join()).lastEventId;
    await fill(60);
    const reader = await resume(id);
    await until(() => reader.values().length === 60);
    await advance(1_000);
    assert.deepEqual(
      reader.heartbeats().map(({ catchingUp = false }) => catchingUp),
      [true, false],
    );
  });
});

describe("reads of streams that catch up", () => {
  it("are bounded, and owners take turns", async () => {
    const turns = new ReadTurns(2);
    const ends = new Map<string, () => void>();
    const begun: string[] = [];
    const read = (owner: string, name: string) =>
      turns.run(owner, () => {
        begun.push(name);
        const { opened, open } = gate();
        ends.set(name, open);
        return opened;
      });
    const all = ["a1", "a2", "a3", "a4", "b1", "b2", "c1"].map((name) => read(name[0]!, name));
    await settled();
    assert.deepEqual(begun, ["a1", "a2"]);
    for (let i = 0; i < 7; i++) {
      ends.get(begun[i]!)!();
      await settled();
    }
    assert.deepEqual(begun, ["a1", "a2", "a3", "b1", "c1", "a4", "b2"]);
    await Promise.all(all);
  });

  it("go on after one has failed", async () => {
    const turns = new ReadTurns(1);
    const failing = turns.run("a", () => Promise.reject(new RangeError("a read fails")));
    const next = turns.run("a", async () => "read");
    await assert.rejects(failing, RangeError);
    assert.equal(await next, "read");
  });
});
