import type { ThingTriggerInput, ThingTriggerRow } from "../../../src/alerts/alerts.ts";
import type { DeviceId, UserId } from "../../../src/model/ids.ts";
import type { Target } from "../../../src/model/trigger-targets.ts";
import type { ThingRow } from "../../../src/store/tables/things.ts";
import { attributeName, thermostatAttribute } from "../../../src/virtual-device/attribute-names.ts";
import type { ThingWatch } from "../checks/history.ts";
import type { Dice } from "../dice.ts";
import type { SimulatedNode } from "../node.ts";
import { plainAlert } from "./alert-owners.ts";
import { type Calls, expectOurs } from "./calls.ts";

export interface ThingAlertOwnerParts {
  readonly calls: Calls;
  readonly users: readonly UserId[];
  readonly lampOf: (userId: UserId) => DeviceId;
  readonly sirenOf: (userId: UserId) => DeviceId;
  readonly virtualDeviceOf: (userId: number) => DeviceId | undefined;
  /** The stored things of a device, gone ones included. */
  readonly thingsOf: (deviceId: DeviceId) => readonly ThingRow[];
  readonly triggersOf: (userId: number) => readonly ThingTriggerRow[];
  readonly committedSoFar: () => number;
}

/** The maximum of alerts on things per user, so that all work ends in time. */
const mostAlerts = 14;

type Condition = Pick<ThingTriggerInput, "operation" | "threshold" | "stringThreshold">;

/** The users who create, change and remove alerts on things, each call on any node. */
export class ThingAlertOwners {
  /** Alerts that no user changes any more, for counting their firings. */
  readonly watches: ThingWatch[] = [];
  areQuiet = false;
  readonly #parts: ThingAlertOwnerParts;
  readonly #watched = new Set<string>();
  #created = 0;

  constructor(parts: ThingAlertOwnerParts) {
    this.#parts = parts;
  }

  start(): void {
    const { users, calls } = this.#parts;
    for (const userId of users) if (calls.scheduler.dice.chance(0.7)) this.#act(userId);
  }

  #act(userId: UserId): void {
    const { calls, virtualDeviceOf, triggersOf, thingsOf } = this.#parts;
    const { dice } = calls.scheduler;
    calls.laterOnSomeNode(`alerts on things of ${userId}`, calls.areRare ? [5_000, 60_000] : [100, 1_500], (node) => {
      if (this.areQuiet) return;
      const deviceId = virtualDeviceOf(userId);
      const things = deviceId === undefined ? [] : thingsOf(deviceId).toSorted((a, b) => (a.key < b.key ? -1 : 1));
      const own = triggersOf(userId);
      const others = own.filter(({ message }) => message !== "watch");
      const unwatched = things.slice(0, 3).find((one) => one.kind === "alarm" && !this.#watched.has(watchOf(one)));
      if (unwatched) this.#watch(node, unwatched);
      else if (things.length > 0 && (others.length === 0 || (own.length < mostAlerts && dice.chance(0.5)))) {
        this.#send(node.alerts.onThings.add({ kind: "user", userId }, this.#alert(userId, dice.pick(things))));
      } else if (others.length > 0) this.#change(node, userId, dice.pick(others));
      this.#act(userId);
    });
  }

  /** An alert on an alarm, without targets: it only records that it fired. */
  #watch(node: SimulatedNode, thing: ThingRow): void {
    this.#watched.add(watchOf(thing));
    const { userId, deviceId, thingId, key } = thing;
    const [, alarm = ""] = key.split("/");
    const isSmoke = this.#watched.size % 2 === 0;
    const definition: ThingTriggerInput = {
      ...plainAlert,
      thingId,
      field: isSmoke ? "smoke.state" : "carbonMonoxide.state",
      operation: "equals",
      stringThreshold: "alarm",
      action: "notify",
      message: "watch",
      autoDisarm: this.#parts.calls.scheduler.dice.chance(0.5),
    };
    node.alerts.onThings.add({ kind: "user", userId }, definition).then(({ id }) => {
      const sensor = isSmoke ? "smoke" : "co";
      this.watches.push({ id, userId, deviceId, alarm, sensor, seq: this.#parts.committedSoFar() });
    }, expectOurs);
  }

  #change(node: SimulatedNode, userId: UserId, { id, isEnabled, deviceId: _, ...row }: ThingTriggerRow): void {
    const { dice } = this.#parts.calls.scheduler;
    const accessScope = { kind: "user", userId } as const;
    const { onThings } = node.alerts;
    const what = dice.weighted({ enable: 4, redefine: 3, remove: 2, explain: 1 });
    if (what === "enable") this.#send(onThings.setEnabled(accessScope, id, dice.chance(0.7) || !isEnabled));
    if (what === "remove") this.#send(onThings.remove(accessScope, id));
    if (what === "explain") this.#send(onThings.explain(accessScope, id));
    if (what === "redefine") {
      const { field, condition } = watchedField(dice, row.field);
      this.#send(onThings.redefine(accessScope, id, { ...row, field, ...condition, isEnabled: true }));
    }
  }

  /** An alert on any field of a thing; it writes to devices, or has no target. */
  #alert(userId: UserId, thing: ThingRow): ThingTriggerInput {
    const { calls, lampOf, sirenOf } = this.#parts;
    const { dice } = calls.scheduler;
    this.#created += 1;
    const value = `t${this.#created}`;
    const targets: Target[] = [{ deviceId: lampOf(userId), attributeName: "alert", value }];
    if (dice.chance(0.4)) targets.push({ deviceId: sirenOf(userId), attributeName: "sound", value });
    // The target is a slot, which may pass to another thermostat.
    if (dice.chance(0.2)) {
      const request = attributeName(thermostatAttribute(1, dice.between(1, 2), "requestWrite"));
      targets.push({ deviceId: thing.deviceId, attributeName: request, value: dice.pick(["true", "false"]) });
    }
    const fate = dice.weighted({ stays: 7, deleted: 1, disabled: 2 });
    const { field, condition } = watchedField(dice, fieldsOf(thing));
    return {
      ...plainAlert,
      thingId: thing.thingId,
      field,
      ...condition,
      action: dice.chance(0.8) ? "attribute" : "email",
      targets,
      autoDisarm: dice.chance(0.5),
      autoDelete: fate === "deleted",
      autoDisable: fate === "disabled",
    };
  }

  #send(call: Promise<unknown>): void {
    call.catch(expectOurs);
  }
}

function watchOf({ deviceId, thingId }: ThingRow): string {
  return `${deviceId} ${thingId}`;
}

/** Fields that things of one kind have, each with texts that it may be compared with. */
type Fields = Readonly<Record<string, readonly (readonly ["equals" | "regex", string])[]>>;

const alarmTexts = [
  ["equals", "alarm"],
  ["equals", "clear"],
  ["regex", "warning|alarm"],
] as const;
/** A thing that is gone is not available. */
const flagTexts = [
  ["equals", "false"],
  ["equals", "true"],
] as const;
const fieldsByKind: Readonly<Record<"alarm" | "thermostat" | "home", Fields>> = {
  alarm: { "smoke.state": alarmTexts, "carbonMonoxide.state": alarmTexts, "smoke.available": flagTexts },
  thermostat: { "fanTimer.active": flagTexts, "thermostat.available": flagTexts },
  home: {
    "presence.state": [
      ["equals", "home"],
      ["regex", "(autoA|a)way"],
    ],
    "presence.available": flagTexts,
  },
};

function fieldsOf({ kind }: ThingRow): Fields {
  return fieldsByKind[kind as keyof typeof fieldsByKind];
}

/** A field with a condition on it; `among` is a field whose thing also has the other fields of its kind. */
function watchedField(dice: Dice, among: Fields | string): { readonly field: string; readonly condition: Condition } {
  const fields =
    typeof among === "string" ? Object.values(fieldsByKind).find((of) => Object.hasOwn(of, among))! : among;
  const field = dice.pick(Object.keys(fields));
  const [operation, stringThreshold] = dice.pick(fields[field]!);
  return { field, condition: { operation, stringThreshold, threshold: "" } };
}
