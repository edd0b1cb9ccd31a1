import { commitGroupOn } from "../../src/devices/commit-group.ts";
import type { DeviceId, TenantId, UserId } from "../../src/model/ids.ts";
import { TypeWork } from "../../src/own-things/type-work.ts";
import { startLogging } from "../../src/runtime/process/log.ts";
import { processRuntime } from "../../src/runtime/process/process-runtime.ts";
import type { Parts } from "../../src/service/parts.ts";
import type { Store, Transaction } from "../../src/store/seam.ts";
import { prepare, preparedFolder } from "../prepared-folder.ts";
import type { Result, Row } from "../row.ts";
import { addUsers } from "../users.ts";

const devices = 100_000;
const devicesPerUser = 1_000;
const typeName = "Lamp";
/** The shortest limit: filling the store takes longer. */
const silentAfterSeconds = 10;
const onOff = { on: { attribute: "power", words: { true: "on", false: "off" }, writable: true } };
const pauseMs = 5;
const quietWrites = 300;

/**
 * Background work on a type of 100,000 devices, on SQLite, where all writers share one connection: it must not hold up
 * the writes of others, and its memory must not depend on the number of devices.
 */
export const typeWork: Row = {
  name: "type-work",
  async measure(progress) {
    using folder = preparedFolder();
    return await prepare(folder, async (parts) => {
      progress(`adding ${devices} devices`);
      const company = await largeCompany(parts);
      const other = await otherWriter(parts);
      const { work, bodies } = measuredWork(parts);
      const results: Result[] = [];
      for (const { what, map } of [
        { what: "a new map", map: { kind: "light", traits: { onOff } } },
        { what: "silence", map: { kind: "light", online: { silentAfterSeconds }, traits: { onOff } } },
      ]) {
        progress(`${what} for ${devices} devices`);
        await parts.deviceTypes.set(company, typeName, map);
        const before = await other.latencies(async () => undefined);
        bodies.length = 0;
        const memoryBytes = process.memoryUsage().rss;
        const startedMs = performance.now();
        const during = await other.latencies(() => work.run());
        const tookMs = performance.now() - startedMs;
        const grownBytes = Math.max(0, process.memoryUsage().rss - memoryBytes);
        const ms = { unit: "ms" as const, reference: null, spread: null, bar: null };
        const name = `${what} for ${devices} devices`;
        results.push(
          {
            what: `p99 of another tenant's writes during ${name}`,
            reference: "the same before",
            figure: at(during, 0.99) / at(before, 0.99),
            unit: "x",
            spread: null,
            bar: { atMost: 4 },
          },
          { what: `that p99 during ${name}`, ...ms, figure: at(during, 0.99) },
          { what: `median of its transactions: ${name}`, ...ms, figure: at(bodies, 0.5) },
          { what: `p99 of its transactions: ${name}`, ...ms, figure: at(bodies, 0.99) },
          { what: `all its transactions: ${name}`, ...ms, figure: bodies.reduce((sum, one) => sum + one, 0) },
          { what: `from begin to end: ${name}`, ...ms, figure: tookMs },
          { what: `memory: ${name}`, ...ms, unit: "kB", figure: grownBytes / 1_000, bar: { atMost: 100_000 } },
        );
      }
      return results;
    });
  },
};

async function largeCompany({ store, identity, provisioning }: Parts): Promise<TenantId> {
  const { tenantId } = await identity.addTenant({ name: "Company" });
  const users = await store.transaction((tx) => addUsers(tx, tenantId, devices / devicesPerUser));
  for (const userId of users) {
    const lamps = Array.from({ length: devicesPerUser }, (_, n) => ({
      ...{ userId, typeName, name: `lamp ${n}` },
      changes: [{ key: "power", value: "on" }],
    }));
    await provisioning.addAll(tenantId, lamps);
  }
  return tenantId;
}

/** A user of another tenant who writes to a device all the time. */
async function otherWriter({ store, identity, devices: api }: Parts) {
  const { tenantId } = await identity.addTenant({ name: "Other" });
  const [userId, deviceId] = await store.transaction(async (tx): Promise<[UserId, DeviceId]> => {
    const [user] = await addUsers(tx, tenantId, 1);
    return [user!, await tx.devices.add({ userId: user!, typeName: "Plug", name: "plug", isVirtual: false })];
  });
  let writes = 0;
  const write = async () => {
    const startedMs = performance.now();
    await api.write({ kind: "user", userId }, deviceId, [{ name: "power", value: String(writes++) }]);
    return performance.now() - startedMs;
  };
  return {
    /** How long each write took while the work ran, and a number of writes at least. */
    async latencies(work: () => Promise<void>): Promise<readonly number[]> {
      const took: number[] = [];
      let isOver = false;
      const working = work().finally(() => {
        isOver = true;
      });
      while (!isOver || took.length < quietWrites) {
        took.push(await write());
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
      await working;
      return took;
    },
  };
}

/** The work on types, and how long the body of each of its transactions took. */
function measuredWork({ store, ownThings, alerts }: Parts) {
  const bodies: number[] = [];
  const timed: Store<Transaction> = {
    isShared: store.isShared,
    read: (body, priority) => store.read(body, priority),
    transaction: (body, priority) =>
      store.transaction(async (tx) => {
        const startedMs = performance.now();
        try {
          return await body(tx);
        } finally {
          bodies.push(performance.now() - startedMs);
        }
      }, priority),
  };
  const report = startLogging("warn");
  const committed = alerts.afterCommit;
  const commitGroup = commitGroupOn({ store: timed, ownThings, reactions: [alerts.react], committed, report });
  return { work: new TypeWork({ store: timed, commitGroup, ownThings, runtime: processRuntime(report) }), bodies };
}

function at(figures: readonly number[], part: number): number {
  return figures.toSorted((a, b) => a - b)[Math.min(figures.length - 1, Math.floor(figures.length * part))]!;
}
