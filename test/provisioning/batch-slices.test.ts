import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { describe, it } from "node:test";
import type { Incoming } from "../../src/http/request/incoming.ts";
import { limits } from "../../src/model/limits.ts";
import { batchRoute } from "../../src/outlets/v3/batch-routes.ts";
import { BatchTurns } from "../../src/outlets/v3/batch-turns.ts";

/** Sends these lines with mode=all. */
async function send(lines: readonly string[]) {
  const added: number[] = [];
  const addAll = async (_: number, devices: readonly unknown[]) => {
    added.push(devices.length);
    return [];
  };
  const route = batchRoute({ provisioning: { addAll } } as never, new BatchTurns());
  const stream = Readable.from([Buffer.from(lines.join("\n"))]);
  const incoming = { query: [], pathParameters: {}, idempotencyKeys: undefined, body: { kind: "lines", stream } };
  const answer = route.answer as (incoming: Incoming, caller: object) => Promise<{ readonly status: number }>;
  const caller = { kind: "enterprise", tenantId: 1, clientId: "c" };
  return { added, answered: answer(incoming as unknown as Incoming, caller) };
}

function line(attributes: number, value: string): string {
  const values = Array.from({ length: attributes }, (_, nth) => `"a${nth}":${value}`);
  return `{"userId":1,"deviceName":"n","deviceTypeName":"Lamp","attributes":{${values.join(",")}}}`;
}

describe("a batch with mode=all whose lines have many attributes", () => {
  it("is read in slices, so that others are answered meanwhile", async () => {
    let turns = 0;
    const count = () => {
      turns += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    // Nulls erase nothing on a new device: they count for no limit.
    const { added, answered } = await send(Array<string>(12).fill(line(4_000, "null")));
    assert.equal((await answered).status, 200);
    clearImmediate(next);
    assert.deepEqual(added, [12]);
    assert.ok(turns >= 12, `${turns} turns`);
  });

  it("is read no further than to the limit of attributes", async () => {
    const lines = [...Array<string>(11).fill(line(limits.attributesAtOnce / 10, "1")), "not read"];
    const { added, answered } = await send(lines);
    await assert.rejects(answered, { code: "limit_reached", limit: "attributesAtOnce" });
    assert.deepEqual(added, []);
  });
});
