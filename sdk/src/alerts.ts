import type { WrittenValue } from "./devices.ts";
import { checkMembers } from "./known-members.ts";
import type { CallOptions, WriteOptions } from "./transport.ts";
import type { V3 } from "./v3.ts";

/** The definition of an alert of /v3. */
export interface AlertDefinition {
  readonly deviceId: number;
  readonly attrName: string;
  readonly operation: "regex" | "equals" | ">" | ">=" | "<" | "<=" | "==";
  /** `attribute` writes to the targets; any other text is sent to event streams and webhooks. */
  readonly action: string;
  readonly stringThreshold?: string;
  readonly threshold?: number;
  readonly targets?: readonly { readonly deviceId: number; readonly attrName: string; readonly value: WrittenValue }[];
  readonly address?: string;
  readonly msg?: string;
  readonly autoDisarm?: boolean;
  readonly autoDelete?: boolean;
  readonly autoDisable?: boolean;
  readonly enable?: boolean;
}

/** An alert of /v3: its definition and its state. */
export interface Alert extends Required<Omit<AlertDefinition, "stringThreshold" | "threshold">> {
  readonly alertId: number;
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
export interface AlertExplanation {
  readonly alert: Alert;
  /** The current value of its attribute. */
  readonly value: string | null;
  readonly conditionIsTrue: boolean;
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
  /** The number of changes and writes of the attribute. */
  readonly events: number;
  /** When it would have fired, oldest first. */
  readonly firings: readonly { readonly time: number; readonly value: string | null }[];
}

/** Which events a dry run evaluates: those after `from`, up to and including `to` (milliseconds). */
export interface DryRunQuestion extends CallOptions {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** Alerts in JSON, with an access token. */
export class Alerts {
  readonly #v3: () => V3;

  /** @internal */
  constructor(v3: () => V3) {
    this.#v3 = v3;
  }

  /** All alerts of the user, or those on one device. */
  async list(options: CallOptions & { readonly deviceId?: number | undefined } = {}): Promise<readonly Alert[]> {
    checkMembers("alerts.list", options, ["deviceId", "signal"]);
    const { deviceId, signal } = options;
    const alerts: Alert[] = [];
    const pages = this.#v3().pages<Alert>("/alerts", "alerts", { query: { deviceId }, signal });
    for await (const page of pages) alerts.push(...page);
    return alerts;
  }

  /** Creates an alert. The creation itself never makes it fire. */
  async create(definition: AlertDefinition, options: WriteOptions = {}): Promise<Alert> {
    return this.#v3().call("POST", "/alerts", { json: definition, ...options });
  }

  /** An alert and its state. */
  async get(alertId: number, { signal }: CallOptions = {}): Promise<Alert> {
    return this.#v3().call("GET", `/alerts/${alertId}`, { signal });
  }

  /** Replaces the whole definition. */
  async change(alertId: number, definition: AlertDefinition, options: WriteOptions = {}): Promise<Alert> {
    return this.#v3().call("PUT", `/alerts/${alertId}`, { json: definition, ...options });
  }

  /** Removes an alert; its id is never used again. */
  async remove(alertId: number, options: WriteOptions = {}): Promise<void> {
    await this.#v3().call("DELETE", `/alerts/${alertId}`, { ...options });
  }

  /** Explains why an alert fired or did not fire. */
  async explain(alertId: number, { signal }: CallOptions = {}): Promise<AlertExplanation> {
    return this.#v3().call("GET", `/alerts/${alertId}/explain`, { signal });
  }

  /** Evaluates a definition over the device's history. Creates nothing and writes nothing. */
  async dryRun(definition: AlertDefinition, options: DryRunQuestion = {}): Promise<AlertDryRun> {
    checkMembers("alerts.dryRun", options, ["from", "to", "signal"]);
    const { from, to, signal } = options;
    return this.#v3().call("POST", "/alerts/dry-run", { json: { ...definition, from, to }, isRead: true, signal });
  }
}
