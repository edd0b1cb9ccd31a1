import type { AlertReaction } from "../../../src/alerts/reaction.ts";
import type { CommitTables, Reaction } from "../../../src/devices/commit.ts";
import type { TriggerId } from "../../../src/model/ids.ts";
import { changedTables, type TableChanges } from "./changed-parts.ts";
import { plant, replace } from "./plant.ts";

const commit = () => import("../../../src/devices/commit.ts");

/** An alert reaction that works in another way. */
export function withReaction(change: (react: Reaction) => Reaction) {
  return replace(() => import("../../../src/alerts/reaction.ts"), {
    alertReaction:
      (original) =>
      (...parts): AlertReaction => {
        const reaction = original(...parts);
        return { ...reaction, react: change(reaction.react) };
      },
  });
}

/** A reaction that sees other tables: always the same ones within a transaction, by which it knows the transaction. */
export function reactingOn(change: () => (tx: CommitTables) => TableChanges<CommitTables>) {
  return withReaction((react) => {
    const changed = new WeakMap<object, CommitTables>();
    const changesOf = change();
    return (tx, ...rest) => {
      const tables = changed.get(tx) ?? changedTables(tx, changesOf(tx));
      changed.set(tx, tables);
      return react(tables, ...rest);
    };
  });
}

export const alertPlants = [
  plant(
    "alert-twice",
    "a reaction hears a commit twice",
    replace(commit, {
      commitOn: (original) => (parts) => original({ ...parts, reactions: [...parts.reactions, ...parts.reactions] }),
    }),
  ),
  plant(
    "alert-on-repetition",
    "alerts are shown what a snapshot repeats, though nothing of it is written",
    replace(commit, {
      commitOn: (original) => (parts) => (request) => {
        const { updates } = request;
        const shown: typeof parts.reactions = parts.reactions.map((react) => (tx, done, room) => {
          const update = typeof updates === "function" ? undefined : updates.find((u) => u.deviceId === done.deviceId);
          const changes = update?.changes.map((change) => ({ ...change, before: null }));
          return react(tx, done.hop === 0 && changes ? { ...done, changes } : done, room);
        });
        return original({ ...parts, reactions: shown })(request);
      },
    }),
    replace(() => import("../../../src/virtual-device/attribute-values.ts"), {
      mirrorChanges: (original) => (current, next) => {
        const isChanged = original(current, next).length > 0;
        return isChanged ? next.map((value, attribute) => ({ attribute, value })) : [];
      },
    }),
  ),
  plant(
    "alert-after-commit",
    "alerts are evaluated in a transaction of their own, after the change is durable",
    replace(commit, {
      commitOn: (original) => (parts) => {
        const alone = original({ ...parts, reactions: [] });
        return async (request) => {
          const commits = await alone(request);
          for (const done of commits) {
            const answers = await parts.store.transaction(async (tx) => {
              await tx.users.lock(done.userId);
              const all = [];
              for (const react of parts.reactions) all.push(...(await react(tx, done, 200)));
              return all;
            });
            for (const update of answers) await alone({ userId: done.userId, cause: update.cause, updates: [update] });
          }
          return commits;
        };
      },
    }),
  ),
  plant(
    "disarmed-in-memory",
    "only its node knows that an alert is disarmed, so that the next owner lets it fire again",
    reactingOn(() => {
      const disarmed = new Set<TriggerId>();
      return (tx) => ({
        triggers: {
          watching: async (userId, deviceId, keys) =>
            (await tx.triggers.watching(userId, deviceId, keys)).map((row) => ({
              ...row,
              isArmed: !disarmed.has(row.id),
            })),
          change: (userId, id, { isArmed, ...change }) => {
            if (isArmed === true) disarmed.delete(id);
            if (isArmed === false) disarmed.add(id);
            return tx.triggers.change(userId, id, change);
          },
        },
      });
    }),
  ),
  plant(
    "no-hop-limit",
    "a chain of alerts goes on for as many hops as it likes",
    replace(commit, { chainLimits: (original) => Object.assign(original, { hops: 1_000 }) }),
  ),
  plant(
    "no-write-limit",
    "a chain of alerts writes as much as it likes",
    replace(commit, { chainLimits: (original) => Object.assign(original, { writes: 1_000_000 }) }),
  ),
  plant(
    "first-target-only",
    "an alert writes to one of its devices only",
    withReaction(
      (react) =>
        async (...given) =>
          (await react(...given)).slice(0, 1),
    ),
  ),
  plant(
    "kept-though-fired",
    "an alert that should disable itself after it has fired stays enabled",
    reactingOn(() => (tx) => ({
      triggers: {
        change: (userId, id, { isEnabled, ...change }) => tx.triggers.change(userId, id, change),
      },
    })),
  ),
];
