import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ResumePoint } from "../../src/events/event-id.ts";
import { EventReader, entriesAtOnce, type ReaderParts, readsAtOnce } from "../../src/events/event-reader.ts";
import { LogPage, type LogTables, readLogPage } from "../../src/events/log-page.ts";
import { ReadTurns } from "../../src/events/read-turns.ts";
import type { TenantId, UserId } from "../../src/model/ids.ts";
import { TimeSlices } from "../../src/runtime/time-slices.ts";
import type { Store } from "../../src/store/seam.ts";
import type { TailedEntry } from "../../src/store/tables/log.ts";
import type { LogPosition } from "../../src/store/tables/log-position.ts";
import { gate } from "../contracts/store/home.ts";
import { flushPromises, manualRuntime } from "../federation/manual-runtime.ts";
import { madeEvents } from "./moved-events.ts";

const at = (id: number): LogPosition => ({ transaction: 0, id });

interface MadeLog {
  /** The number of entries. */
  readonly length: () => number;
  readonly userOf: (id: number) => number;
  /** Called at each read; the answer waits for it. */
  readonly reading?: () => Promise<void>;
}

/** A store whose log has entries 1, 2, 3 and so on, all of tenant 1. */
function madeLog({ length, userOf, reading = async () => undefined }: MadeLog): Store<LogTables> {
  const entry = (id: number): TailedEntry => ({
    position: at(id),
    userId: userOf(id) as UserId,
    tenantId: 1 as TenantId,
    deviceId: null,
    kind: "attribute",
    timeMs: id,
    body: "",
  });
  const log = {
    tail: async ({ id }: LogPosition, limit: number) =>
      Array.from({ length: Math.max(0, Math.min(limit, length() - id)) }, (_, i) => entry(id + i + 1)),
    end: async () => at(length()),
    horizon: async () => at(0),
  };
  const tables = { log, logEpoch: { current: async () => ({ name: "e", takesOldIds: false }) } };
  const read = async (act: (tables: unknown) => unknown) => {
    await reading();
    return act(tables);
  };
  return { isShared: false, read } as unknown as Store<LogTables>;
}

/** A stream of user 1 that begins at the beginning of the log. */
function madeReader(
  { store, ...parts }: Partial<ReaderParts> & Pick<ReaderParts, "readTurns"> & { readonly store: Store<LogTables> },
  from: number | ResumePoint = 0,
): EventReader {
  const firstReads: ReaderParts["firstReads"] = { page: ({ after, limit }) => readLogPage(store, after, limit) };
  const all = {
    firstReads,
    timeSlices: new TimeSlices({ turn: flushPromises, runtime: manualRuntime() }),
    groupKey: "group",
    accessScope: { kind: "user", userId: 1 },
    turnOwner: { tenant: "1", holder: "1" },
    eventsOf: () => [],
    writer: { write: () => undefined, unsentBytes: 0, closed: new AbortController().signal },
    runtime: manualRuntime(),
    revocationsRead: async () => undefined,
    hasExpired: () => false,
    heartbeatMs: 15_000,
    ...parts,
  } as unknown as ReaderParts;
  const resumePoint = typeof from === "number" ? { epoch: "e", position: at(from) } : from;
  return new EventReader(all, { resumePoint, frames: "" });
}

describe("a stream that catches up", () => {
  it("lets others have a turn between two reads, also when no entry is its own", async () => {
    const entries = 4_000;
    const happened: string[] = [];
    const reading = async () => void happened.push("read");
    const store = madeLog({ length: () => entries, userOf: () => 2, reading });
    const turn = async () => void happened.push("turn");
    const read = (after: LogPosition, limit: number) => readLogPage(store, after, limit);
    const readTurns = new ReadTurns({ read, turn, runtime: {}, atMost: 1 });
    const eventsOf = () => assert.fail("an entry of another user");
    const reader = madeReader({ store, readTurns, eventsOf });
    assert.equal(await reader.catchUp(), true);
    assert.equal(reader.after.id, entries);
    assert.ok(happened.length > 10);
    assert.ok(!happened.join().includes("read,read"), happened.join());
  });

  it("is announced before its first old event, also when it missed few entries but large ones", async () => {
    const store = madeLog({ length: () => 40, userOf: () => 1 });
    const read = (after: LogPosition, limit: number) => readLogPage(store, after, limit);
    const readTurns = new ReadTurns({ read, turn: flushPromises, runtime: {}, atMost: 1 });
    let text = "";
    const closed = new AbortController().signal;
    const write = (bytes: Buffer) => {
      text += bytes;
    };
    const writer = { write, unsentBytes: 0, closed } as ReaderParts["writer"];
    const large = "x".repeat(60_000);
    const eventsOf = ({ position }: TailedEntry) => [
      { id: `e.0-${position.id}`, name: "attribute" as const, data: { large } },
    ];
    const reader = madeReader({ store, readTurns, writer, eventsOf } as never);
    assert.equal(await reader.catchUp(), true);
    const events = [...text.matchAll(/^event: (\w+)\ndata: (.{0,100})/gm)];
    assert.match(events[0]!.join(), /heartbeat.*"catchingUp":true/s);
    const ids = [...text.matchAll(/^id: e\.0-(\d+)\nevent: attribute$/gm)].map(([, id]) => Number(id));
    assert.deepEqual(
      ids,
      Array.from({ length: 40 }, (_, i) => i + 1),
    );
  });

  it("shares its bytes with the streams of its group, and sends the rest of an entry that it was sent in part", async () => {
    const store = madeLog({ length: () => 300, userOf: () => 1 });
    const read = (after: LogPosition, limit: number) => readLogPage(store, after, limit);
    const newReadTurns = () => new ReadTurns({ read, turn: flushPromises, runtime: {}, atMost: 1 });
    const shared = { store, firstReads: newReadTurns(), readTurns: newReadTurns() };
    const made = new Map<string, number>();
    const stream = (groupKey: string, position: number, sentChanges?: number) => {
      let text = "";
      const write = (bytes: Buffer) => {
        text += bytes;
      };
      const writer = {
        write,
        unsentBytes: 0,
        closed: new AbortController().signal,
      } as unknown as ReaderParts["writer"];
      const eventsOf: ReaderParts["eventsOf"] = ({ position: { id } }, _epoch, sent = 0) => {
        made.set(groupKey, (made.get(groupKey) ?? 0) + 1);
        return [1, 2]
          .slice(sent)
          .map((change) => ({ id: `${id}-${change}`, name: "attribute", data: { deviceId: null } }));
      };
      const resumePoint = { epoch: "e", position: at(position), sentChanges };
      const reader = madeReader({ ...shared, writer, groupKey, eventsOf }, resumePoint);
      return { reader, ids: () => [...text.matchAll(/^id: (\S+)\nevent: attribute$/gm)].map(([, id]) => id) };
    };
    const streams = Array.from({ length: 20 }, () => stream("a", 10));
    const others = [stream("a", 11, 1), stream("b", 10), stream("a", 11)];
    const ends = await Promise.all([...streams, ...others].map(({ reader }) => reader.catchUp()));
    assert.ok(ends.every(Boolean));
    const all = Array.from({ length: 290 }, (_, i) => [`${i + 11}-1`, `${i + 11}-2`]).flat();
    for (const { ids } of [...streams, others[1]!]) assert.deepEqual(ids(), all);
    assert.deepEqual(others[0]!.ids(), all.slice(1));
    assert.deepEqual(others[2]!.ids(), all.slice(2));
    // Those of the first 50 entries are made again for the streams that begin elsewhere.
    assert.deepEqual(Object.fromEntries(made), { a: 290 + 50 + 49, b: 290 });
  });

  it("asks for at least one entry when its client has to take others first", async () => {
    const store = madeLog({ length: () => 200, userOf: () => 1 });
    let unsentBytes = 0;
    const limits: number[] = [];
    const readTurns: ReaderParts["readTurns"] = {
      page({ limit }) {
        limits.push(limit);
        // The page was read for a stream that is further behind.
        return readLogPage(store, at(0), Math.max(limit, 100));
      },
    };
    const writer = {
      write: () => undefined,
      get unsentBytes() {
        return unsentBytes;
      },
      drained: async () => {
        unsentBytes = limits.length < 3 ? 300_000 : 0;
        return true;
      },
      closed: new AbortController().signal,
    } as unknown as ReaderParts["writer"];
    const eventsOf = () => [{ id: "x", name: "attribute" as const, data: { deviceId: null, text: "x".repeat(6_000) } }];
    const reader = madeReader({ store, readTurns, writer, eventsOf }, 50);
    unsentBytes = 300_000;
    void reader.catchUp();
    while (limits.length < 3) await flushPromises();
    assert.ok(
      limits.every((limit) => limit > 0),
      limits.join(),
    );
  });

  it("ends with its token", { timeout: 30_000 }, async (t) => {
    const { opened, open } = gate();
    t.after(open);
    const { join, fill, resume, hold, elapsedMs, advance } = await madeEvents(t);
    const id = (await join()).lastEventId;
    await fill(2_000);
    const untilMs = elapsedMs() + 500;
    const hasExpired = () => elapsedMs() >= untilMs;
    let reads = 0;
    hold.afterRead = async () => {
      reads += 1;
      if (reads > 2) await opened;
    };
    const reader = await resume(id, { hasExpired });
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
  /** Turns whose reads wait for the test. Each page has one entry, and the log has more. */
  function heldTurns(atMost: number) {
    const begun: string[] = [];
    const ends = new Map<string, () => void>();
    const names = new Map<number, string>();
    const read = async ({ id }: LogPosition) => {
      const name = names.get(id)!;
      begun.push(name);
      const { opened, open } = gate();
      ends.set(name, open);
      await opened;
      const entries = [{ position: at(id + 1) } as TailedEntry];
      return new LogPage({ epoch: "e", entries, isLast: false, end: at(1e6), horizon: at(0) });
    };
    const turns = new ReadTurns({ read, turn: flushPromises, runtime: {}, atMost });
    return {
      begun,
      /** `a1x` reads for user 1 of tenant a. Streams of different names are far apart in the log. */
      request(name: string, closed = new AbortController().signal) {
        const after = at(10 * (names.size + 1));
        names.set(after.id, name);
        return turns.page({ owner: { tenant: name[0]!, holder: name[1]! }, epoch: "e", after, limit: 1, closed });
      },
      async end(name: string) {
        ends.get(name)!();
        // The read ends, then others have a turn.
        for (let i = 0; i < 3; i++) await flushPromises();
      },
    };
  }

  it("are bounded; tenants take turns, and so do the users of a tenant", async () => {
    const { begun, request, end } = heldTurns(2);
    const names = ["a1v", "a1w", "a1x", "a1y", "a2x", "a3x", "b1x", "b1y", "c1x"];
    const all = names.map((name) => request(name));
    for (let i = 0; i < 3; i++) await flushPromises();
    assert.deepEqual(begun, ["a1v", "b1x"]);
    for (let i = 0; i < names.length; i++) await end(begun[i]!);
    assert.deepEqual(begun, ["a1v", "b1x", "c1x", "a2x", "b1y", "a3x", "a1w", "a1x", "a1y"]);
    await Promise.all(all);
  });

  it("are not made for a stream that was closed while it waited", async () => {
    const { begun, request, end } = heldTurns(1);
    const first = request("a1x");
    for (let i = 0; i < 3; i++) await flushPromises();
    const closing = new AbortController();
    const waiting = request("a1y", closing.signal);
    const last = request("a1z");
    closing.abort();
    assert.equal(await waiting, undefined);
    assert.equal(await request("a1q", closing.signal), undefined, "it was closed before");
    await end("a1x");
    await end("a1z");
    await Promise.all([first, last]);
    assert.deepEqual(begun, ["a1x", "a1z"]);
  });

  it("leave no timer behind when their stream is closed while it waits", async () => {
    const runtime = manualRuntime();
    const store = madeLog({ length: () => 1_000, userOf: () => 2 });
    const { opened: never } = gate();
    let reads = 0;
    const read = async (after: LogPosition, limit: number) => {
      reads += 1;
      await never;
      return readLogPage(store, after, limit);
    };
    const readTurns = new ReadTurns({ read, turn: flushPromises, runtime: {}, atMost: 1 });
    const closings = [0, 1].map(() => new AbortController());
    const ends = closings.map(({ signal: closed }, i) => {
      const writer = { write: () => undefined, unsentBytes: 0, closed } as unknown as ReaderParts["writer"];
      return madeReader({ store, readTurns, runtime, writer }, 100 * i).catchUp();
    });
    while (reads === 0) await flushPromises();
    assert.equal(runtime.timers, 2);
    for (const closing of closings) closing.abort();
    assert.deepEqual(await Promise.all(ends), [false, false]);
    assert.deepEqual([runtime.timers, reads], [0, 1]);
  });

  it("are shared: a thousand streams that resume catch up with a growing log, and each gets its own entries", async () => {
    const count = 1_000;
    const runtime = manualRuntime();
    const pause = (ms: number) => new Promise<void>((resolve) => runtime.after(ms, resolve));
    let reads = 0;
    const store = madeLog({
      length: () => Math.floor(1_000 + runtime.elapsedMs() / 2),
      userOf: (id) => id % count,
      async reading() {
        reads += 1;
        await pause(3);
      },
    });
    const read = (after: LogPosition, limit: number) => readLogPage(store, after, limit);
    const newReadTurns = () => new ReadTurns({ read, turn: () => pause(0), runtime: {}, atMost: readsAtOnce });
    const [firstReads, readTurns] = [newReadTurns(), newReadTurns()];
    const timeSlices = new TimeSlices({ turn: () => pause(0), runtime });
    const shared = { store, firstReads, readTurns, timeSlices, runtime };
    const streams = Array.from({ length: count }, (_, i) => {
      const got: number[] = [];
      const eventsOf: ReaderParts["eventsOf"] = ({ position }) => {
        got.push(position.id);
        return [];
      };
      const accessScope = { kind: "user", userId: i as UserId } as const;
      const turnOwner = { tenant: "1", holder: String(i) };
      const groupKey = String(i);
      // The streams broke off at nearly the same time, each after its own last event.
      const from = (i * 7) % 500;
      return {
        i,
        got,
        from,
        reader: madeReader({ ...shared, accessScope, turnOwner, groupKey, eventsOf }, from),
      };
    });
    let caughtUp = 0;
    for (const { reader } of streams) void reader.catchUp().then((isOpen) => (caughtUp += Number(isOpen)));
    while (caughtUp < count && runtime.elapsedMs() < 10_000) await runtime.advance(10);
    assert.equal(caughtUp, count);
    assert.ok(reads < 100, `${reads} reads`);
    for (const { i, got, from, reader } of streams) {
      const own = Array.from({ length: reader.after.id - from }, (_, k) => from + k + 1).filter(
        (id) => id % count === i,
      );
      assert.deepEqual(got, own);
    }
  });

  it("are made once for streams at the same position", async () => {
    let reads = 0;
    const page = new LogPage({ epoch: "e", entries: [], isLast: true, end: at(0), horizon: at(0) });
    const { opened, open } = gate();
    const read = async () => {
      reads += 1;
      await opened;
      return page;
    };
    const turns = new ReadTurns({ read, turn: flushPromises, runtime: {}, atMost: 2 });
    const closed = new AbortController().signal;
    const request = (holder: string) =>
      turns.page({ owner: { tenant: "1", holder }, epoch: "e", after: at(0), limit: 1, closed });
    const early = [request("a"), request("b"), request("c")];
    for (let i = 0; i < 3; i++) await flushPromises();
    const late = request("d");
    for (let i = 0; i < 3; i++) await flushPromises();
    open();
    assert.deepEqual(await Promise.all([...early, late]), [page, page, page, page]);
    assert.equal(reads, 1);
  });

  it("that were made before a stream's last read do not send it back", async () => {
    const entriesOf = (first: number) =>
      Array.from({ length: 50 }, (_, i) => ({ position: at(first + i), userId: 1, timeMs: 0 }) as TailedEntry);
    const older = new LogPage({ epoch: "e", entries: entriesOf(101), isLast: true, end: at(150), horizon: at(0) });
    const store = madeLog({ length: () => 200, userOf: () => 1 });
    const got: number[] = [];
    const eventsOf: ReaderParts["eventsOf"] = ({ position }) => {
      got.push(position.id);
      return [];
    };
    const reader = madeReader({ store, readTurns: { page: async () => older }, eventsOf }, 150);
    assert.equal(await reader.catchUp(), true);
    assert.equal(reader.after.id, 200);
    assert.deepEqual(
      got,
      entriesOf(151).map(({ position }) => position.id),
    );
  });

  it("are not shared between two epochs of the log, whose positions can't be compared", async () => {
    const asked: string[] = [];
    const read = async (after: LogPosition) => {
      asked.push(`after ${after.id}`);
      await flushPromises();
      return new LogPage({ epoch: "new", entries: [], isLast: true, end: at(5), horizon: at(0) });
    };
    const turns = new ReadTurns({ read, turn: flushPromises, runtime: {}, atMost: 1 });
    const closed = new AbortController().signal;
    const request = (epoch: string, id: number) =>
      turns.page({ owner: { tenant: "1", holder: "1" }, epoch, after: at(id), limit: entriesAtOnce, closed });
    await Promise.all([request("old", 3), request("new", 4), request("old", 4)]);
    assert.deepEqual(asked, ["after 3", "after 4"]);
  });

  it("go on after one has failed", async () => {
    const page = new LogPage({ epoch: "e", entries: [], isLast: true, end: at(0), horizon: at(0) });
    let reads = 0;
    const read = async () => {
      reads += 1;
      if (reads === 1) throw new RangeError("a read fails");
      return page;
    };
    const turns = new ReadTurns({ read, turn: flushPromises, runtime: {}, atMost: 1 });
    const closed = new AbortController().signal;
    const request = { owner: { tenant: "1", holder: "1" }, epoch: "e", after: at(0), limit: 1, closed };
    const [failing, next] = [turns.page(request), turns.page(request)];
    await assert.rejects(failing, RangeError);
    assert.equal(await next, page);
  });
});
