import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { DeviceId, TenantId, UserId } from "../../src/model/ids.ts";
import { homeNameTable } from "../../src/store/tables/home-names.ts";
import { linkTable } from "../../src/store/tables/links.ts";
import { thingTable } from "../../src/store/tables/things.ts";
import { onDatabase } from "../contracts/store/harness.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { recordingSql } from "./recording-sql.ts";

describe("the statements on things, on SQLite", () => {
  it("read no thing of another home: an index leads to each", () =>
    onDatabase(sqliteHarness, async (database) => {
      const { sql, texts } = recordingSql();
      const things = thingTable(sql);
      const [userId, deviceId] = [1 as UserId, 1 as DeviceId];
      const place = { afterDevice: 0, afterThing: "", kind: "light" };
      await things.marks(userId, deviceId);
      await things.some(userId, ["one"]);
      await things.some(userId, ["one", "two"]);
      await things.within({ kind: "user", userId }, "one");
      await things.within({ kind: "enterprise", tenantId: 1 as TenantId }, "one");
      await things.ofDevices([{ userId, id: deviceId }], place, 10);
      await things.ofKind(userId, "light", "Den", 10);
      await things.setState({ userId, thingId: "one", state: "", print: 0, samples: "" });
      await things.setGone(userId, ["one"], 0);
      await things.trimGone(userId, deviceId, 0, 1);
      await things.removeOfDevice(userId, deviceId);
      await things.removeOfUser(userId);
      // SQLite removes the things of a removed device by this condition.
      const cascade = "DELETE FROM things WHERE device_id = $1";
      for (const text of [...texts, cascade]) {
        const plan = await database.sql<{ detail: string }>(`EXPLAIN QUERY PLAN ${text.replaceAll(/\$(\d+)/g, "?$1")}`);
        const reads = plan.map(({ detail }) => detail).filter((detail) => /\b(things|t|g)\b/.test(detail));
        assert.ok(reads.length > 0, `the plan of ${text} names no table`);
        for (const read of reads) assert.match(read, /^SEARCH /, text);
      }
      assert.equal(texts.length, 12);
    }));

  it("find the few things that sound an alarm by an index of their own", () =>
    onDatabase(sqliteHarness, async (database) => {
      const { sql, texts } = recordingSql();
      const [things, links] = [thingTable(sql), linkTable(sql)];
      await things.findSounding({}, 10);
      await things.findSounding({ tenantIds: [1 as TenantId] }, 10);
      await things.findSounding({ userId: 1 as UserId }, 10);
      await things.soundingDevices([{ userId: 1 as UserId, deviceId: 1 as DeviceId }]);
      await links.listed({ isSounding: true, limit: 10 });
      for (const text of texts) {
        const plan = await database.sql<{ detail: string }>(`EXPLAIN QUERY PLAN ${text.replaceAll(/\$(\d+)/g, "?$1")}`);
        const reads = plan.map(({ detail }) => detail).filter((detail) => /\b(things|t|o)\b/.test(detail));
        for (const read of reads) assert.match(read, /USING INDEX things_sounding/, `${read}: ${text}`);
        assert.ok(reads.length > 0, text);
      }
    }));

  it("read names for a search from an index alone, and no row of a thing", () =>
    onDatabase(sqliteHarness, async (database) => {
      const { sql, texts } = recordingSql();
      const place = { tenantId: 1 as TenantId, limit: 500 };
      await homeNameTable(sql).joined({ ...place, afterType: 2, afterId: 7 }, true);
      await homeNameTable(sql).joined({ ...place, afterType: 2 }, true);
      const plans = texts.map((text) =>
        database.sql<{ detail: string }>(`EXPLAIN QUERY PLAN ${text.replaceAll(/\$(\d+)/g, "?$1")}`),
      );
      const reads = (await Promise.all(plans)).map((plan) =>
        plan.map(({ detail }) => detail).filter((detail) => /^S\w+ (devices|t)\b|TEMP/.test(detail)),
      );
      const ofThings = "SEARCH t USING COVERING INDEX things_named (device_id=? AND gone_ms=?)";
      const [rest, next] = ["(tenant_id=? AND type_id=? AND id>?)", "(tenant_id=? AND type_id>?)"];
      const names = (range: string) => `SEARCH devices USING INDEX devices_of_tenant ${range}`;
      const ids = (range: string) => `SEARCH devices USING COVERING INDEX devices_of_tenant ${range}`;
      assert.deepEqual(reads, [
        [ids(rest), ofThings, names(rest)],
        [ids(rest)],
        [ids(next), ofThings, names(next)],
        [ids(next)],
      ]);
    }));
});
