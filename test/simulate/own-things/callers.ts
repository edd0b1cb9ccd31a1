import type { TriggerInput } from "../../../src/alerts/alerts.ts";
import type { Command } from "../../../src/home/command-plan.ts";
import { StoreUnavailable, UnknownThing } from "../../../src/model/errors.ts";
import type { UserId } from "../../../src/model/ids.ts";
import { plainAlert } from "../actors/alert-owners.ts";
import { type Calls, expectOurs } from "../actors/calls.ts";
import type { Faults } from "../faults.ts";
import type { SimulatedNode } from "../node.ts";
import type { OwnDevice } from "./company.ts";
import { reports } from "./maps.ts";
import type { OwnCommandCall, OwnThingRead } from "./record.ts";

export interface OwnThingCallerParts {
  readonly calls: Calls;
  readonly faults: Faults;
  readonly users: readonly UserId[];
  readonly devices: readonly OwnDevice[];
  readonly committedSoFar: () => number;
}

/** Alerts with commands that each user has at most, so that all work ends in time. */
const mostAlerts = 3;

/** The users of the company's devices: they command and read their things, each call on any node, and make alerts. */
export class OwnThingCallers {
  readonly commands: OwnCommandCall[] = [];
  readonly reads: OwnThingRead[] = [];
  areQuiet = false;
  readonly #parts: OwnThingCallerParts;
  readonly #alerts = new Map<UserId, number>();

  constructor(parts: OwnThingCallerParts) {
    this.#parts = parts;
  }

  start(): void {
    for (const userId of this.#parts.users) this.#act(userId);
  }

  #act(userId: UserId): void {
    const { calls, devices } = this.#parts;
    const { dice } = calls.scheduler;
    calls.laterOnSomeNode(`own things of ${userId}`, calls.areRare ? [5_000, 60_000] : [50, 2_500], (node) => {
      if (this.areQuiet) return;
      const own = devices.filter((device) => device.userId === userId);
      const foreign = devices.filter((device) => device.userId !== userId);
      const what = dice.weighted({ command: 5, read: 4, alert: 1, foreign: foreign.length > 0 ? 0.5 : 0 });
      if (what === "command") this.#command(node, userId, dice.pick(own));
      if (what === "foreign") this.#command(node, userId, dice.pick(foreign));
      if (what === "read") this.#read(node, userId, dice.pick(own));
      if (what === "alert") this.#alert(node, userId, own);
      this.#act(userId);
    });
  }

  #command(node: SimulatedNode, userId: UserId, device: OwnDevice): void {
    const { committedSoFar, faults } = this.#parts;
    const thingId = thingOf(device);
    const command = this.#anyCommand(device);
    const call: OwnCommandCall = {
      userId,
      thingId,
      command: JSON.stringify(command),
      isForeign: device.userId !== userId,
      outcome: "open",
      receiptId: undefined,
      toSeq: Number.POSITIVE_INFINITY,
    };
    this.commands.push(call);
    node.control.command({ kind: "user", userId }, thingId, { command, clientId: `user ${userId}` }).then(
      ({ id }) => {
        call.outcome = "done";
        call.receiptId = id;
        call.toSeq = committedSoFar();
      },
      (error) => {
        expectOurs(error);
        if (error instanceof StoreUnavailable) return;
        call.outcome = "refused";
        if (call.isForeign && error instanceof UnknownThing) faults.count("foreign thing refused");
      },
    );
  }

  #anyCommand({ type }: Pick<OwnDevice, "type">): Command {
    const { dice } = this.#parts.calls.scheduler;
    if (type === "Light" && dice.chance(0.5)) {
      return { trait: "brightness", command: "set", params: { percent: dice.pick([0, 1, 40, 75, 100]) } };
    }
    return { trait: "onOff", command: "set", params: { on: dice.chance(0.5) } };
  }

  #read(node: SimulatedNode, userId: UserId, device: OwnDevice): void {
    const { calls, committedSoFar } = this.#parts;
    const { scheduler } = calls;
    const [fromSeq, fromMs] = [committedSoFar(), scheduler.nowMs];
    const answered = (values: OwnThingRead["values"]) => {
      const [toSeq, toMs] = [committedSoFar(), scheduler.nowMs];
      this.reads.push({ userId, deviceId: device.id, fromSeq, toSeq, fromMs, toMs, values });
    };
    node.things.find({ kind: "user", userId }, thingOf(device)).then(
      ({ state }) => {
        const fields = Object.entries(state).flatMap(([trait, timed]) =>
          Object.entries(timed ?? {}).map(([field, [value]]) => [`${trait}.${field}`, value] as const),
        );
        answered(new Map(fields));
      },
      (error) => {
        expectOurs(error);
        if (error instanceof UnknownThing) answered(undefined);
      },
    );
  }

  /** An alert on what a device reports, or on its thing; it commands one thing, or all of a kind. */
  #alert(node: SimulatedNode, userId: UserId, own: readonly OwnDevice[]): void {
    const { dice } = this.#parts.calls.scheduler;
    const made = this.#alerts.get(userId) ?? 0;
    if (made >= mostAlerts) return;
    this.#alerts.set(userId, made + 1);
    const [watched, commanded] = [dice.pick(own), dice.pick(own)];
    const { trait, command, params } = this.#anyCommand(commanded);
    const kind = commanded.type === "Light" ? "light" : "switch";
    const target = dice.chance(0.6) ? { thingId: thingOf(commanded) } : { kind };
    const alert = {
      ...plainAlert,
      action: "command",
      operation: "equals",
      autoDisarm: dice.chance(0.6),
      commands: [{ ...target, trait, command, params }],
    } as const;
    const accessScope = { kind: "user", userId } as const;
    if (dice.chance(0.5)) {
      const [attributeName, values] = dice.pick(Object.entries(reports[watched.type]!));
      const definition: TriggerInput = {
        ...alert,
        deviceId: watched.id,
        attributeName,
        stringThreshold: dice.pick(values),
      };
      node.alerts.add(accessScope, definition).catch(expectOurs);
      return;
    }
    const field = dice.pick(["onOff.on", "onOff.available"]);
    const definition = { ...alert, thingId: thingOf(watched), field, stringThreshold: dice.pick(["true", "false"]) };
    node.alerts.onThings.add(accessScope, definition).catch(expectOurs);
  }
}

function thingOf({ id }: Pick<OwnDevice, "id">): string {
  return `t_own_${id}`;
}
