import type { TriggerInput, TriggerRow } from "../../../src/alerts/alerts.ts";
import type { DeviceId, UserId } from "../../../src/model/ids.ts";
import type { Target } from "../../../src/model/trigger-targets.ts";
import {
  alarmAttribute,
  attributeName,
  structureAttribute,
  thermostatAttribute,
} from "../../../src/virtual-device/attribute-names.ts";
import type { Watch } from "../checks/history.ts";
import type { Dice } from "../dice.ts";
import type { SimulatedNode } from "../node.ts";
import { type Calls, expectOurs } from "./calls.ts";

export interface AlertOwnerParts {
  readonly calls: Calls;
  readonly users: readonly UserId[];
  readonly lampOf: (userId: UserId) => DeviceId;
  readonly sirenOf: (userId: UserId) => DeviceId;
  readonly virtualDeviceOf: (userId: number) => DeviceId | undefined;
  readonly triggersOf: (userId: number) => readonly TriggerRow[];
  readonly committedSoFar: () => number;
}

/** The maximum of alerts per user, so that all work ends in time. */
const mostAlerts = 24;

/** The users who create, change and remove alerts, each call on any node. */
export class AlertOwners {
  /** Alerts that no user changes any more, for counting their firings. */
  readonly watches: Watch[] = [];
  areQuiet = false;
  readonly #parts: AlertOwnerParts;
  readonly #watched = new Set<DeviceId>();
  readonly #linked = new Set<string>();
  #created = 0;

  constructor(parts: AlertOwnerParts) {
    this.#parts = parts;
  }

  start(): void {
    for (const userId of this.#parts.users) this.#act(userId, this.#parts.calls.scheduler.dice.chance(0.4));
  }

  /** `hasChains`: alerts that trigger each other. */
  #act(userId: UserId, hasChains: boolean): void {
    const { calls, virtualDeviceOf, triggersOf } = this.#parts;
    const { dice } = calls.scheduler;
    calls.laterOnSomeNode(`alerts of user ${userId}`, calls.areRare ? [5_000, 60_000] : [50, 1_500], (node) => {
      if (this.areQuiet) return;
      const virtual = virtualDeviceOf(userId);
      const own = triggersOf(userId);
      const others = own.filter(({ message }) => message !== "watch");
      if (virtual !== undefined && !this.#watched.has(virtual)) this.#watch(node, userId, virtual);
      else if (others.length === 0 || (own.length < mostAlerts && dice.chance(0.5))) {
        const definition = hasChains && dice.chance(0.5) ? this.#link(userId) : this.#alert(userId, virtual);
        if (definition) this.#send(node.alerts.add({ kind: "user", userId }, definition));
      } else this.#change(node, userId, dice.pick(others));
      this.#act(userId, hasChains);
    });
  }

  /** Alerts on the first alarms, without targets: they only record that they fired. */
  #watch(node: SimulatedNode, userId: UserId, deviceId: DeviceId): void {
    this.#watched.add(deviceId);
    for (const [x, y] of [
      [1, 1],
      [1, 2],
      [2, 1],
    ] as const) {
      const sensor = y === 2 ? "smoke" : "co";
      const definition = {
        ...plainAlert,
        deviceId,
        attributeName: attributeName(alarmAttribute(x, y, `${sensor}AlarmState`)),
        operation: "equals",
        stringThreshold: "emergency",
        action: "notify",
        message: "watch",
        autoDisarm: x === 1,
      };
      node.alerts.add({ kind: "user", userId }, definition).then(({ id }) => {
        this.watches.push({ id, userId, deviceId, x, y, sensor, seq: this.#parts.committedSoFar() });
      }, expectOurs);
    }
  }

  #change(node: SimulatedNode, userId: UserId, { id, deviceId, isEnabled, ...row }: TriggerRow): void {
    const { dice } = this.#parts.calls.scheduler;
    const accessScope = { kind: "user", userId } as const;
    const what = dice.weighted({ enable: 4, redefine: 2, remove: 2, device: 1, explain: 1 });
    if (what === "enable") this.#send(node.alerts.setEnabled(accessScope, id, dice.chance(0.7) || !isEnabled));
    if (what === "remove") this.#send(node.alerts.remove(accessScope, id));
    if (what === "explain") this.#send(node.alerts.explain(accessScope, id));
    if (what === "device") {
      const { lampOf, sirenOf } = this.#parts;
      const ordinary = dice.chance(0.5) ? lampOf(userId) : sirenOf(userId);
      this.#send(node.alerts.setEnabledOfDevice(accessScope, ordinary, dice.chance(0.7)));
    }
    if (what === "redefine") {
      const condition = this.#condition(dice, row.attributeName.startsWith("d."));
      this.#send(node.alerts.redefine(accessScope, id, { ...row, deviceId, ...condition, isEnabled: true }));
    }
  }

  /** An alert on the account, or on clients' writes; it writes to devices, or has no target. */
  #alert(userId: UserId, virtual: DeviceId | undefined): TriggerInput {
    const { calls, lampOf, sirenOf } = this.#parts;
    const { dice } = calls.scheduler;
    this.#created += 1;
    const value = `a${this.#created}`;
    const targets: Target[] = [{ deviceId: lampOf(userId), attributeName: "alert", value }];
    if (dice.chance(0.4)) targets.push({ deviceId: sirenOf(userId), attributeName: "sound", value });
    if (dice.chance(0.2)) targets.push({ deviceId: lampOf(userId), attributeName: "erased", value: "" });
    if (virtual !== undefined && dice.chance(0.2)) {
      const request = thermostatAttribute(1, dice.between(1, 2), "requestWrite");
      targets.push({ deviceId: virtual, attributeName: attributeName(request), value: dice.pick(["true", "false"]) });
    }
    const isMirrored = virtual !== undefined && dice.chance(0.7);
    const fate = dice.weighted({ stays: 7, deleted: 1, disabled: 2 });
    return {
      ...plainAlert,
      deviceId: isMirrored ? virtual : lampOf(userId),
      attributeName: isMirrored ? this.#mirroredName(dice) : dice.pick(["power", "level"]),
      ...this.#condition(dice, isMirrored),
      action: dice.chance(0.8) ? "attribute" : "email",
      targets,
      autoDisarm: dice.chance(0.5),
      autoDelete: fate === "deleted",
      autoDisable: fate === "disabled",
    };
  }

  #mirroredName(dice: Dice): string {
    if (dice.chance(0.2)) return attributeName(structureAttribute(1, "away"));
    const field = dice.pick(["coAlarmState", "smokeAlarmState"] as const);
    return attributeName(alarmAttribute(dice.between(1, 2), dice.between(1, 3), field));
  }

  #condition(dice: Dice, isMirrored: boolean): Pick<TriggerInput, "operation" | "threshold" | "stringThreshold"> {
    const mirrored = [
      ["equals", "emergency"],
      ["equals", "ok"],
      ["regex", "emergency|warning|(auto-)?away"],
      ["regex", ".*ing|home"],
    ] as const;
    const ordinary = [
      ["regex", "w.*[13579]"],
      ["regex", "w.*"],
      [">=", "1"],
    ] as const;
    const [operation, text] = isMirrored ? dice.pick(mirrored) : dice.pick(ordinary);
    const isNumeric = operation === ">=";
    return { operation, threshold: isNumeric ? text : "", stringThreshold: isNumeric ? "" : text };
  }

  /** One of a few alerts that trigger each other endlessly, with a growing number of writes. */
  #link(userId: UserId): TriggerInput | undefined {
    const { calls, lampOf, sirenOf } = this.#parts;
    const [lamp, siren] = [lampOf(userId), sirenOf(userId)];
    const onSiren = (count: number) =>
      Array.from({ length: count }, (_, i) => ({ deviceId: siren, attributeName: `f${i + 1}`, value: `${i}` }));
    const links: readonly (readonly [on: DeviceId, name: string, pattern: string, targets: readonly Target[]])[] = [
      [lamp, "power", "w.*", [{ deviceId: lamp, attributeName: "c1", value: "x" }]],
      [lamp, "c1", ".*", [{ deviceId: siren, attributeName: "c2", value: "y" }]],
      [siren, "c2", "y", [{ deviceId: lamp, attributeName: "c1", value: "x" }]],
      [lamp, "level", "w.*[05]", onSiren(70)],
      [siren, "f2", "[0-9]+", onSiren(70)],
    ];
    const [deviceId, name, stringThreshold, targets] = calls.scheduler.dice.pick(links);
    // Two equal alerts, the first still being created, would double the writes at each hop.
    if (this.#linked.has(`${deviceId} ${name}`)) return;
    this.#linked.add(`${deviceId} ${name}`);
    return {
      ...plainAlert,
      deviceId,
      attributeName: name,
      operation: "regex",
      stringThreshold,
      action: "attribute",
      targets,
      message: "chain",
    };
  }

  #send(call: Promise<unknown>): void {
    call.catch(expectOurs);
  }
}

/** An alert that does nothing but fire. */
export const plainAlert = {
  threshold: "",
  targets: [],
  address: "",
  message: "",
  autoDisarm: false,
  autoDelete: false,
  autoDisable: false,
  isEnabled: true,
} as const;
