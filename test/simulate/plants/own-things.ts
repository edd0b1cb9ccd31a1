import { changedTables, withTables } from "./changed-parts.ts";
import { plant, replace } from "./plant.ts";

const outcome = () => import("../../../src/own-things/own-command-outcome.ts");

export const ownThingPlants = [
  plant(
    "own-contradicted-at-once",
    "a report from before a command to an own thing contradicts the command",
    replace(outcome, {
      settleByWrite: (original) => (tx, thing, open, written, timeMs) => {
        const earlier = open.map((row) => ({ ...row, sentMs: row.sentMs! - 2_000 }));
        return original(tx, thing, earlier, written, timeMs);
      },
    }),
  ),
  plant(
    "own-confirmed-by-the-past",
    "at its deadline a command to an own thing is confirmed by what was written before it",
    replace(outcome, {
      settleDue: (original) => (tx, thing, row, nowMs) => original(tx, thing, { ...row, sentMs: 0 }, nowMs),
    }),
  ),
  plant(
    "own-confirmed-by-a-map",
    "a change of the map counts as a write of every field",
    replace(() => import("../../../src/own-things/own-things.ts"), {
      OwnThings: (original) =>
        class extends original {
          override derive(...[tx, devices]: Parameters<InstanceType<typeof original>["derive"]>) {
            return super.derive(tx, devices);
          }
        },
    }),
  ),
  plant(
    "own-never-due",
    "nobody settles the commands to own things that get no answer",
    replace(() => import("../../../src/own-things/own-command-deadlines.ts"), {
      OwnCommandDeadlines: (original) =>
        class extends original {
          override async settleDue() {}
        },
    }),
  ),
  plant(
    "own-sent-twice",
    "a command to an own thing that equals an open one is sent again",
    replace(() => import("../../../src/own-things/own-command-gate.ts"), {
      admitToOwnThings: (original) => (tx, things, requested, nowMs) => {
        return original(changedTables(tx, { thingCommands: { openOf: async () => [] } }), things, requested, nowMs);
      },
    }),
  ),
  plant(
    "own-of-anyone",
    "a user may command the own things of every user of the tenant",
    replace(() => import("../../../src/own-things/own-thing-control.ts"), {
      ownThingControl: (original) => (parts) => {
        const scope = { kind: "enterprise", tenantId: 1 as never } as const;
        const store = withTables(parts.store, (tx) => ({
          mappedDevices: { within: (_, id) => tx.mappedDevices.within(scope, id) },
        }));
        return original({ ...parts, store });
      },
    }),
  ),
  plant(
    "own-silence-is-fine",
    "an own device that is silent for too long is shown as available",
    replace(() => import("../../../src/home/own-thing.ts"), {
      ownState: (original) => (map, values, nowMs) => original(map, values, Math.min(nowMs, values.lastTimeMs)),
    }),
  ),
  plant(
    "own-silence-untold",
    "the log says of silent devices only what they say themselves, which is nothing",
    replace(() => import("../../../src/own-things/own-things.ts"), {
      OwnThings: (original) =>
        class extends original {
          override async silenced() {
            return undefined;
          }
        },
    }),
  ),
  plant(
    "own-map-remembered",
    "a node goes on with the map that it has read first",
    replace(() => import("../../../src/own-things/trait-maps.ts"), {
      TraitMaps: (original) =>
        class extends original {
          readonly #first = new Map<number, ReturnType<InstanceType<typeof original>["read"]>>();

          override read(row: Parameters<InstanceType<typeof original>["read"]>[0]) {
            const first = this.#first.get(row.typeId) ?? super.read(row);
            this.#first.set(row.typeId, first);
            return first;
          }
        },
    }),
  ),
];
