import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { TenantId } from "../../src/model/ids.ts";
import { TraitMaps } from "../../src/own-things/trait-maps.ts";
import { lampMap } from "./made-own-things.ts";

/** A stub of the table of trait maps that records each read. */
function stored() {
  const reads: string[] = [];
  const row = (typeId: number, changedMs = 1, map = JSON.stringify(lampMap), tenantId = 1) => {
    return { tenantId: tenantId as TenantId, typeId, typeName: `type ${typeId}`, map, changedMs };
  };
  const rows = new Map<string, ReturnType<typeof row>>();
  const tx = {
    deviceTypeMaps: {
      find: async (tenantId: TenantId, typeId: number) => {
        reads.push(`${tenantId}/${typeId}`);
        return rows.get(`${tenantId}/${typeId}`);
      },
    },
  } as never;
  const put = (one: ReturnType<typeof row>) => void rows.set(`${one.tenantId}/${one.typeId}`, one);
  const version = (typeId: number, mapChangedMs = 1, tenantId = 1) => {
    return { tenantId: tenantId as TenantId, typeId, mapChangedMs };
  };
  return { reads, rows, row, tx, put, version };
}

describe("the cache of parsed trait maps", () => {
  it("reads a map once for each version, and keeps the maps of different tenants apart", async () => {
    const { reads, row, tx, put, version } = stored();
    const maps = new TraitMaps();
    put(row(1));
    put(row(1, 1, JSON.stringify({ ...lampMap, kind: "switch" }), 2));
    const first = await maps.of(tx, version(1));
    assert.equal(await maps.of(tx, version(1)), first);
    assert.equal((await maps.of(tx, version(1, 1, 2)))?.map.kind, "switch");
    assert.deepEqual(reads, ["1/1", "2/1"]);
    assert.equal(maps.read(row(1)), first, "a row of the same version is not parsed again");
    put(row(1, 2, JSON.stringify({ ...lampMap, kind: "switch" })));
    assert.deepEqual((await maps.of(tx, version(1, 2)))?.changedMs, 2);
    assert.equal((await maps.of(tx, version(1, 2)))?.map.kind, "switch");
    assert.equal(reads.length, 3);
  });

  it("returns undefined for a map that was removed or can't be parsed, and is empty after forgetAll", async () => {
    const { reads, rows, row, tx, put, version } = stored();
    const maps = new TraitMaps();
    assert.equal(await maps.of(tx, version(1)), undefined);
    put(row(1, 1, "{}"));
    assert.equal(await maps.of(tx, version(1)), undefined);
    put(row(1));
    assert.ok(await maps.of(tx, version(1)));
    rows.clear();
    assert.ok(await maps.of(tx, version(1)));
    maps.forgetAll();
    assert.equal(await maps.of(tx, version(1)), undefined);
    assert.equal(reads.length, 4);
  });

  it("evicts the least recently used map when there are too many", async () => {
    const { reads, row, tx, put, version } = stored();
    const maps = new TraitMaps();
    for (let typeId = 1; typeId <= 2_001; typeId++) put(row(typeId));
    for (let typeId = 1; typeId <= 2_000; typeId++) await maps.of(tx, version(typeId));
    await maps.of(tx, version(1));
    await maps.of(tx, version(2_001));
    reads.length = 0;
    for (const typeId of [1, 3, 2_000, 2_001]) await maps.of(tx, version(typeId));
    assert.deepEqual(reads, []);
    await maps.of(tx, version(2));
    assert.deepEqual(reads, ["1/2"]);
  });
});
