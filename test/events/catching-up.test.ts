import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EventReader, type ReaderParts } from "../../src/events/event-reader.ts";

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
});
