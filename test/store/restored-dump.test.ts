import assert from "node:assert/strict";
import { describe, it } from "node:test";
import pg from "pg";
import type { DeviceId, UserId } from "../../src/model/ids.ts";
import { openPostgres } from "../../src/store/postgres/store.ts";
import type { OpenStore } from "../../src/store/seam.ts";
import { logStart } from "../../src/store/tables/log-position.ts";
import { sharedCluster } from "../set-up/postgres.ts";

const entry = (timeMs: number) => ({
  userId: 1 as UserId,
  deviceId: 1 as DeviceId,
  kind: "device" as const,
  timeMs,
  body: "{}",
});

describe("a dump that was restored to another server", () => {
  it("continues: new log entries come after old ones, and no reader waits for ever", async (t) => {
    const url = await (await sharedCluster()).createDatabase();
    const open = async () => {
      const store = await openPostgres({ url });
      t.after(() => store.close());
      return store;
    };
    const first = await open();
    for (const timeMs of [1, 2, 3]) await first.transaction((tx) => tx.log.append(entry(timeMs)));
    const seen = await times(first);
    assert.deepEqual(seen, [1, 2, 3]);
    await first.close();
    // The old server's transaction ids are far ahead. Two of three entries were delivered to webhooks.
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    t.after(() => client.end());
    await client.query("UPDATE log SET xid = ((xid::text::bigint) + 1000000000)::text::xid8");
    await client.query(`UPDATE webhook_feed SET (transaction_id, entry_id) =
      (SELECT xid::text::bigint, id FROM log WHERE time_ms = 2)`);
    await client.query(`INSERT INTO commands (user_id, device_id, attribute, thermostat_id, value, state, requested_ms)
      VALUES (1, 1, 1, 't', 'true', 'queued', 5)`);
    await client.query("ALTER TABLE thing_commands DROP CONSTRAINT thing_commands_user_id_device_id_fkey");
    await client.query(`INSERT INTO thing_commands (user_id, device_id, thing_id, external_key, command, state, step,
      requested_ms) VALUES (1, 1, 't', 'thermostat/t', '{}', 'queued', 0, 5)`);

    const restored = await open();
    await restored.transaction((tx) => tx.log.append(entry(4)));
    assert.deepEqual(await times(restored), [1, 2, 3, 4]);
    const { untold, horizon, sent } = await restored.transaction(async (tx) => ({
      untold: await tx.log.tail(await tx.webhooks.lockFeed(), 10),
      horizon: await tx.log.horizon(),
      sent: [...(await tx.commands.overdue(-1, 10, -1, 10)), ...(await tx.thingCommands.overdue(-1, 10, -1, 10))],
    }));
    assert.deepEqual(
      untold.map(({ timeMs }) => timeMs),
      [3, 4],
    );
    assert.equal(sent.length, 2);
    assert.ok(horizon.transaction > 4);

    // The next start finds nothing to reorder.
    const again = await open();
    assert.deepEqual(await again.read((tx) => tx.log.horizon()), horizon);
  });
});

async function times(store: OpenStore): Promise<readonly number[]> {
  return (await store.read((tx) => tx.log.tail(logStart, 10))).map(({ timeMs }) => timeMs);
}
