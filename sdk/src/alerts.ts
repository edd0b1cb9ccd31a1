import type { WrittenValue } from "./devices.ts";
import { checkMembers } from "./known-members.ts";
import type { ThingKind } from "./things.ts";
import type { CallOptions, WriteOptions } from "./transport.ts";
import type { V3 } from "./v3.ts";

/** When an alert fires and what it does, whatever it watches. */
export interface AlertRule {
  readonly operation: "regex" | "equals" | ">" | ">=" | "<" | "<=" | "==";
  /**
   * `attribute` writes to the targets; any other text is sent to event streams and webhooks. An alert with `commands` and
   * without `targets` needs none: its action is `command`.
   */
  readonly action?: string;
  readonly stringThreshold?: string;
  readonly threshold?: number;
  readonly targets?: readonly { readonly deviceId: number; readonly attrName: string; readonly value: WrittenValue }[];
  /** Commands to things that each firing sends, whatever the action is. Needs the scope `devices:control`. */
  readonly commands?: readonly AlertCommand[];
  readonly address?: string;
  readonly msg?: string;
  readonly autoDisarm?: boolean;
  readonly autoDelete?: boolean;
  readonly autoDisable?: boolean;
  readonly enable?: boolean;
}

/**
 * A command that an alert sends: to one thing, or to all things of a kind that the user has when the alert fires, with
 * `room` only to those in this room.
 */
export type AlertCommand = AlertCommandTarget & {
  readonly trait: string;
  /** Any command of the trait but `adjustTarget`, `adjust` and `adjustPercent`. */
  readonly command: string;
  readonly params?: Readonly<Record<string, string | number | boolean>>;
};

/** What a command of an alert reaches. */
export type AlertCommandTarget =
  | { readonly thingId: string }
  | { readonly kind: ThingKind; readonly room?: string | undefined };

/** The definition of an alert on an attribute. */
export interface AlertDefinition extends AlertRule {
  readonly deviceId: number;
  readonly attrName: string;
}

/** The definition of an alert on a field of a thing. */
export interface ThingAlertDefinition extends AlertRule {
  readonly thingId: string;
  /** A trait of the thing and one of its fields, such as `smoke.state` or `smoke.available`. */
  readonly field: string;
}

/** An alert on an attribute: its definition and its state. */
export interface Alert extends AlertState {
  readonly deviceId: number;
  readonly attrName: string;
}

/** An alert on a field of a thing: its definition and its state. */
export interface ThingAlert extends AlertState {
  /** The virtual device that reports the thing. The alert counts towards its alerts. */
  readonly deviceId: number;
  readonly thingId: string;
  readonly field: string;
}

/** An alert of either kind; those on things have a `thingId`. */
export type AnyAlert = Alert | ThingAlert;

/** The rule of an alert and its state. */
export interface AlertState extends Required<Omit<AlertRule, "stringThreshold" | "threshold" | "commands">> {
  readonly alertId: number;
  /** Left out when the alert commands nothing. */
  readonly commands?: readonly AlertCommand[];
  readonly stringThreshold?: string;
  readonly threshold?: number;
  readonly disarmed: boolean;
  /** Why the service has disabled it; null if it did not. */
  readonly disabledReason: string | null;
  readonly createdTime: number;
  readonly firedTime: number | null;
  readonly firings: number;
}

/** Why an alert fired or did not fire. */
export interface AlertExplanation<Kind = Alert> {
  readonly alert: Kind;
  /** The current value of its attribute or field. */
  readonly value: string | null;
  /** Null: its pattern takes too many steps on the value. */
  readonly conditionIsTrue: boolean | null;
  /** The state of the alert in a sentence. */
  readonly explanation: string;
  /** Up to 50 of the last events that the alert evaluated, newest first. */
  readonly evaluations: readonly {
    readonly time: number;
    readonly value: string | null;
    readonly outcome: "fired" | "ignored" | "rearmed" | "unmet" | "stopped";
    readonly note?: string;
  }[];
}

/** When a definition would have fired. */
export interface AlertDryRun {
  /** The number of changes and writes of the attribute or field. */
  readonly events: number;
  /** When it would have fired, oldest first. */
  readonly firings: readonly { readonly time: number; readonly value: string | null }[];
  /** What each firing would send to the things that the user has now; left out when it would send nothing. */
  readonly commands?: readonly {
    readonly thingId: string;
    readonly trait: string;
    readonly command: string;
    readonly params: Readonly<Record<string, string | number | boolean>>;
  }[];
}

/** Which events a dry run evaluates: those after `from`, up to and including `to` (milliseconds). */
export interface DryRunQuestion extends CallOptions {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** Which alerts to list: all of the user, or those on one device. */
export interface AlertListOptions extends CallOptions {
  readonly deviceId?: number | undefined;
}

/** Adds alerts on things to a list. */
export interface ThingAlertFilter {
  readonly things: true;
  readonly thingId?: string | undefined;
}

/** Alerts in JSON, with an access token. */
export class Alerts {
  readonly #v3: () => V3;

  /** @internal */
  constructor(v3: () => V3) {
    this.#v3 = v3;
  }

  /** With `things`, alerts on things too; with `thingId`, only the alerts on this thing. */
  async list(options: AlertListOptions & ThingAlertFilter): Promise<readonly AnyAlert[]>;
  /** All alerts on attributes of the user, or those on one device. */
  async list(options?: AlertListOptions): Promise<readonly Alert[]>;
  async list(options: AlertListOptions & Partial<ThingAlertFilter> = {}): Promise<readonly AnyAlert[]> {
    checkMembers("alerts.list", options, ["deviceId", "things", "thingId", "signal"]);
    const { deviceId, things, thingId, signal } = options;
    const alerts: AnyAlert[] = [];
    const query = { deviceId, things: things && "true", thingId };
    const pages = this.#v3().pages<AnyAlert>("/alerts", "alerts", { query, signal });
    for await (const page of pages) alerts.push(...page);
    return alerts;
  }

  /** Creates an alert on an attribute. The creation itself never makes it fire. */
  async create(definition: AlertDefinition, options?: WriteOptions): Promise<Alert>;
  /** Creates an alert on a field of a thing. */
  async create(definition: ThingAlertDefinition, options?: WriteOptions): Promise<ThingAlert>;
  async create(definition: AlertDefinition | ThingAlertDefinition, options?: WriteOptions): Promise<AnyAlert>;
  async create(definition: AlertDefinition | ThingAlertDefinition, options: WriteOptions = {}): Promise<AnyAlert> {
    return this.#v3().call("POST", "/alerts", { json: definition, ...options });
  }

  /** An alert and its state. Use `get<AnyAlert>` or `get<ThingAlert>` for the id of an alert on a thing. */
  async get<Kind extends AnyAlert = Alert>(alertId: number, { signal }: CallOptions = {}): Promise<Kind> {
    return this.#v3().call("GET", `/alerts/${alertId}`, { signal });
  }

  /** Replaces the whole definition. The device or the thing stays the same. */
  async change(alertId: number, definition: AlertDefinition, options?: WriteOptions): Promise<Alert>;
  async change(alertId: number, definition: ThingAlertDefinition, options?: WriteOptions): Promise<ThingAlert>;
  async change(
    alertId: number,
    definition: AlertDefinition | ThingAlertDefinition,
    options?: WriteOptions,
  ): Promise<AnyAlert>;
  async change(
    alertId: number,
    definition: AlertDefinition | ThingAlertDefinition,
    options: WriteOptions = {},
  ): Promise<AnyAlert> {
    return this.#v3().call("PUT", `/alerts/${alertId}`, { json: definition, ...options });
  }

  /** Removes an alert; its id is never used again. */
  async remove(alertId: number, options: WriteOptions = {}): Promise<void> {
    await this.#v3().call("DELETE", `/alerts/${alertId}`, { ...options });
  }

  /** Explains why an alert fired or did not fire. */
  async explain<Kind extends AnyAlert = Alert>(
    alertId: number,
    { signal }: CallOptions = {},
  ): Promise<AlertExplanation<Kind>> {
    return this.#v3().call("GET", `/alerts/${alertId}/explain`, { signal });
  }

  /** Evaluates a definition over the history of its device or thing. Creates nothing, writes nothing and sends nothing. */
  async dryRun(definition: AlertDefinition | ThingAlertDefinition, options: DryRunQuestion = {}): Promise<AlertDryRun> {
    checkMembers("alerts.dryRun", options, ["from", "to", "signal"]);
    const { from, to, signal } = options;
    return this.#v3().call("POST", "/alerts/dry-run", { json: { ...definition, from, to }, isRead: true, signal });
  }
}
