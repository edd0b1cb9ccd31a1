import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { TenantId, UserId } from "../../src/model/ids.ts";
import type { Parts } from "../../src/service/parts.ts";
import { ratios, summary } from "../comparison.ts";
import { prepare, preparedFolder } from "../prepared-folder.ts";
import type { Row } from "../row.ts";
import { addUsers } from "../users.ts";

const lines = 1_000;
const [warmUpRounds, measuredRounds] = [4, 11];
const typeName = "Lamp";
const lampMap = {
  kind: "light",
  traits: { onOff: { on: { attribute: "power", words: { true: "on", false: "off" }, writable: true } } },
};
const values = [
  ["power", "on"],
  ["level", "55"],
] as const;

/**
 * CPU of a batch of devices that is added in one transaction (`mode=all`). On SQLite all other writers wait for this
 * transaction, so it must not cost much more than the bare inserts of its rows.
 */
export const deviceBatch: Row = {
  name: "device-batch",
  async measure(progress) {
    using folder = preparedFolder();
    using bareFolder = preparedFolder();
    const bareUser = await prepare(bareFolder, async (parts) => (await companyIn(parts)).users[0]!);
    using bare = new DatabaseSync(join(bareFolder.path, "breezeway.db"));
    return await prepare(folder, async (parts) => {
      const { tenantId, users } = await companyIn(parts);
      progress(`adding ${lines} devices at once, ${warmUpRounds + measuredRounds} times`);
      const insert = bareInsert(bare, bareUser);
      const figures = { batch: [] as number[], bare: [] as number[] };
      for (let round = 0; round < warmUpRounds + measuredRounds; round++) {
        const devices = Array.from({ length: lines }, (_, n) => ({
          ...{ userId: users[round]!, typeName, name: `lamp ${n}`, room: "Hall" },
          changes: values.map(([key, value]) => ({ key, value })),
        }));
        const batchMs = await cpuMsOf(() => parts.provisioning.addAll(tenantId, devices));
        const bareMs = await cpuMsOf(async () => insert());
        if (round < warmUpRounds) continue;
        figures.batch.push(batchMs);
        figures.bare.push(bareMs);
      }
      return [
        {
          what: `CPU of a batch of ${lines} devices with two attributes and a trait map`,
          reference: "inserting the same rows in a loop",
          ...summary(ratios(figures.batch, figures.bare)),
          unit: "x" as const,
          bar: { atMost: 3 },
        },
        { what: "CPU of that batch", reference: null, ...summary(figures.batch), unit: "ms" as const, bar: null },
      ];
    });
  },
};

async function companyIn({ store, identity, deviceTypes }: Parts) {
  const { tenantId } = await identity.addTenant({ name: "Bench" });
  await deviceTypes.set(tenantId, typeName, lampMap);
  const users = await store.transaction((tx) => addUsers(tx, tenantId, warmUpRounds + measuredRounds));
  return { tenantId, users };
}

/**
 * The reference: returns a function that inserts the rows of such a batch in one transaction. These are a device, two
 * attributes and three log entries for each line.
 */
function bareInsert(database: DatabaseSync, userId: UserId): () => void {
  for (const pragma of ["synchronous = FULL", "foreign_keys = ON", "secure_delete = ON"]) {
    database.exec(`PRAGMA ${pragma}`);
  }
  const { tenantId, typeId } = database
    .prepare(
      `SELECT u.tenant_id AS "tenantId", t.id AS "typeId" FROM users u, device_types t WHERE u.id = ? AND t.name = ?`,
    )
    .get(userId, typeName) as { tenantId: TenantId; typeId: number };
  const addDevice = database.prepare(
    `INSERT INTO devices (tenant_id, created_ms, is_virtual, user_id, type_id, name, room, last_time_ms,
       attribute_names, attribute_bytes, counted_ms) VALUES (?1, ?2, 0, ?3, ?4, ?5, 'Hall', ?2, 2, 16, ?2)`,
  );
  const addValue = database.prepare(
    "INSERT INTO attributes (user_id, device_id, number, name, value, time_ms) VALUES (?, ?, -1, ?, ?, ?)",
  );
  const append = database.prepare("INSERT INTO log (user_id, device_id, kind, time_ms, body) VALUES (?, ?, ?, ?, ?)");
  const thingId = "t_0123456789abcdef012345";
  const cause = { by: "administrator" };
  const bodies = {
    device: JSON.stringify({ what: "added" }),
    thing: JSON.stringify({ cause, things: [{ thingId, what: "added" }] }),
    attribute: JSON.stringify({
      ...{ cause, changes: values },
      things: [{ thingId, what: "state", fields: { "onOff.on": true } }],
    }),
  };
  let timeMs = 1;
  return () => {
    timeMs += 1;
    database.exec("BEGIN IMMEDIATE");
    for (let line = 0; line < lines; line++) {
      const { lastInsertRowid: deviceId } = addDevice.run(tenantId, timeMs, userId, typeId, `lamp ${line}`);
      for (const [name, value] of values) addValue.run(userId, deviceId, name, value, timeMs);
      for (const [kind, body] of Object.entries(bodies)) append.run(userId, deviceId, kind, timeMs, body);
    }
    database.exec("COMMIT");
  };
}

async function cpuMsOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
