import type { DeviceCommit } from "../../../src/devices/commit.ts";
import type { FieldChange } from "../../../src/home/stored-thing.ts";
import { decodeState } from "../../../src/home/thing-text.ts";
import type { DeviceId, TriggerId } from "../../../src/model/ids.ts";
import type { ThingRow } from "../../../src/store/tables/things.ts";
import { reactingOn, withReaction } from "./alerts.ts";
import { plant, replace } from "./plant.ts";

export const thingAlertPlants = [
  plant(
    "things-alone-unseen",
    "a commit that changes things and no attribute is not shown to alerts",
    withReaction((react) => async (tx, commit, room) => {
      return commit.changes.length === 0 ? [] : react(tx, commit, room);
    }),
  ),
  plant(
    "gone-unseen",
    "a thing that is gone says nothing to the alerts on it",
    replace(() => import("../../../src/alerts/thing-subject.ts"), {
      loggedValues: (original) => (thing) => (thing.what === "gone" ? new Map() : original(thing)),
    }),
  ),
  plant(
    "whole-thing-told",
    "an alert on a thing is shown its field at every change of the thing, also when the field did not change",
    withReaction((react) => async (tx, commit, room) => {
      const rows = await tx.things.some(
        commit.userId,
        commit.things.map(({ thingId }) => thingId),
      );
      const things: DeviceCommit["things"] = commit.things.map((change) => {
        const row = rows.find(({ thingId }) => thingId === change.thingId);
        return change.what === "gone" || !row ? change : { ...change, fields: fieldsOf(row) };
      });
      return react(tx, { ...commit, things }, room);
    }),
  ),
  plant(
    "thing-disarmed-in-memory",
    "only its node knows that an alert on a thing is disarmed, so that the next owner lets it fire again",
    reactingOn(() => {
      const disarmed = new Set<TriggerId>();
      return (tx) => ({
        thingTriggers: {
          watching: async (...given) =>
            (await tx.thingTriggers.watching(...given)).map((row) => ({ ...row, isArmed: !disarmed.has(row.id) })),
          change: (userId, id, { isArmed, ...change }) => {
            if (isArmed === true) disarmed.delete(id);
            if (isArmed === false) disarmed.add(id);
            return tx.thingTriggers.change(userId, id, change);
          },
        },
      });
    }),
  ),
  plant(
    "watching-remembered",
    "a node remembers that a device has no alert on its things, and misses one that another node added",
    withReaction((react) => {
      const unwatched = new Set<DeviceId>();
      return (tx, commit, room) => {
        const { deviceId, areThingsWatched } = commit;
        if (areThingsWatched === false) unwatched.add(deviceId);
        return react(tx, unwatched.has(deviceId) ? { ...commit, areThingsWatched: false } : commit, room);
      };
    }),
  ),
];

function fieldsOf(row: ThingRow): readonly FieldChange[] {
  const state = decodeState(row.state);
  return Object.entries(state).flatMap(([trait, fields]) =>
    Object.entries(fields ?? {}).map(([field, [value]]) => ({ trait, field, value }) as FieldChange),
  );
}
