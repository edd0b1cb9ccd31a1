import type { Commit, CommitParts, CommitTables } from "../../../src/devices/commit.ts";
import { changedTables, type TableChanges, withMethods, withTables } from "./changed-parts.ts";
import { plant, replace } from "./plant.ts";

const module = () => import("../../../src/devices/commit.ts");

type CommitOn = (parts: CommitParts) => Commit;

/** A commit that runs with other tables than the store's. */
function onTables(change: (tx: CommitTables) => TableChanges<CommitTables>) {
  return replace(module, {
    commitOn:
      (original: CommitOn): CommitOn =>
      (parts) =>
        original({ ...parts, store: withTables(parts.store, change) }),
  });
}

export const commitPlants = [
  plant(
    "memory-diff",
    "a commit compares with what this node last wrote instead of what stands in the store under the lock",
    replace(module, {
      commitOn: (original) => (parts) => {
        const seen = new Map<string, string | null>();
        const store = withTables(parts.store, (tx) => ({
          attributes: {
            some: async (userId, deviceId, keys) =>
              (await tx.attributes.some(userId, deviceId, keys)).map((row) => {
                const remembered = seen.get(`${deviceId},${row.key}`);
                return remembered === undefined ? row : { ...row, value: remembered };
              }),
            write: (userId, deviceId, timeMs, changes) => {
              for (const { key, value } of changes) seen.set(`${deviceId},${key}`, value);
              return tx.attributes.write(userId, deviceId, timeMs, changes);
            },
          },
        }));
        return original({ ...parts, store });
      },
    }),
  ),
  plant(
    "no-fence",
    "a mirror commit doesn't ask whether its node still owns the link",
    onTables(() => ({ links: { holds: async () => true } })),
  ),
  plant(
    "time-per-attribute",
    "each attribute of a commit gets a time of its own",
    onTables((tx) => ({
      attributes: {
        async write(userId, deviceId, timeMs, changes) {
          for (const [i, one] of changes.entries()) await tx.attributes.write(userId, deviceId, timeMs + i, [one]);
        },
      },
    })),
  ),
  plant(
    "no-user-lock",
    "a commit doesn't lock the user's home",
    onTables((tx) => ({ users: { lock: () => tx.clock.nowMs() } })),
  ),
  plant(
    "values-before-lock",
    "a commit compares with what stood in the store before it had the lock",
    replace(module, {
      commitOn: (original) => (parts) => (request) => {
        const { userId, updates } = request;
        const only = typeof updates !== "function" && updates.length === 1 ? updates[0] : undefined;
        if (!only) return original(parts)(request);
        const keys = only.changes.map(({ key }) => key);
        const transaction: typeof parts.store.transaction = (body, priority) =>
          parts.store.transaction(async (tx) => {
            const early = await tx.attributes.some(userId, only.deviceId, keys);
            let isFirst = true;
            const some: typeof tx.attributes.some = (...asked) => {
              const isEarly = isFirst && asked[1] === only.deviceId;
              isFirst = false;
              return isEarly ? Promise.resolve(early) : tx.attributes.some(...asked);
            };
            return body(changedTables(tx, { attributes: { some } }));
          }, priority);
        const store = withMethods(parts.store, { transaction });
        return original({ ...parts, store })(request);
      },
    }),
  ),
  plant(
    "clock-not-max",
    "a commit's time is the clock's, whatever the device's last one was",
    onTables((tx) => ({
      devices: {
        lock: async (userId, ids) => (await tx.devices.lock(userId, ids)).map((row) => ({ ...row, lastTimeMs: 0 })),
      },
    })),
  ),
  plant(
    "repeat-in-doubt",
    "a commit whose outcome isn't known is simply made again",
    replace(module, {
      commitOn: (original) => (parts) => {
        const commit = original(parts);
        // A mirror's right to write is noted when its commit begins: a second one would be found for lacking it.
        return (request) => (request.ownership ? commit(request) : commit(request).catch(() => commit(request)));
      },
    }),
  ),
  plant(
    "log-forgets-one",
    "the log leaves out a change of a commit that has several",
    replace(() => import("../../../src/devices/log-entries.ts"), {
      attributeEntry: (original) => (userId, deviceId, timeMs, cause, changes) =>
        original(userId, deviceId, timeMs, cause, changes.slice(0, 20)),
    }),
  ),
  plant(
    "since-skips",
    "since leaves out what changed a millisecond after it",
    replace(() => import("../../../src/devices/read.ts"), {
      attributesSince: (original) => (state, sinceMs) => original(state, sinceMs + 1),
    }),
  ),
];
