import { isOwn, thingsIn } from "./check-things.ts";
import type { CommittedTransaction, LogLine, StoredRow } from "./history.ts";
import { demand, Violation } from "./violation.ts";

type Key = string | number;

/** An alert as it is stored, parsed by the checker itself. */
interface Rule {
  readonly id: number;
  readonly deviceId: number;
  /** The attribute that it watches; undefined for an alert on a thing. */
  readonly key?: Key;
  /** The thing that it watches, and the field as `trait.field`; undefined for an alert on an attribute. */
  readonly thingId?: string;
  readonly field?: string;
  readonly condition: {
    readonly operation: string;
    readonly pattern?: string;
    readonly text?: string;
    readonly threshold?: number;
  };
  readonly action: string;
  readonly targets: readonly { readonly deviceId: number; readonly attributeName: string; readonly value: string }[];
  readonly autoDisarm: boolean;
  readonly autoDelete: boolean;
  readonly autoDisable: boolean;
  readonly isEnabled: boolean;
  readonly isArmed: boolean;
  readonly firings: number;
  readonly firedMs: number | null;
  readonly reason: string | null;
}

interface Expected {
  readonly alert: number;
  readonly deviceId: number;
  readonly changes: readonly (readonly [name: string, value: string | null])[];
}

interface AttributeLine {
  readonly cause: { readonly by: string; readonly alert?: number; readonly hop?: number };
  readonly changes: readonly (readonly [Key, string | null])[];
}

/** The note of an alert whose writes a limit stopped; its commands have limits of their own. */
const writesStopped = /stopped at the limit(?! commandingFiringsPerMinute| alertCommandsPerCause)/;

const limits = { hops: 8, writes: 200, firings: 1_000 };

/**
 * Replays alerts over the history by the rules of the interface (4.4). In the transaction of each change every enabled
 * alert on it is evaluated once, in the order of ids; its writes follow, hop by hop, up to the limits; and each alert has
 * the right state afterwards.
 */
export function checkAlerts(history: readonly CommittedTransaction[]): void {
  const rules = new Map<number, Rule>();
  const devices = new Map<number, StoredRow>();
  for (const transaction of history) {
    const before = new Map(rules);
    for (const { table, key, after } of transaction.writes) {
      if (table === "devices") after ? devices.set(key as number, after) : devices.delete(key as number);
      if (!isAlertTable(table)) continue;
      if (after) rules.set(key as number, after as unknown as Rule);
      else rules.delete(key as number);
    }
    const isChange = transaction.log.some(isCommit);
    if (isChange) new TransactionReplay(transaction, before, rules, devices).check();
    else checkUserChanges(transaction);
  }
}

/** Alerts that users create, change and remove: creating and enabling arm an alert, nothing fires. */
function checkUserChanges({ seq, writes, log }: CommittedTransaction): void {
  const fired = log.find(isFiring);
  demand(!fired, () => `transaction ${seq} changes nothing, and an alert fires: ${fired?.body}`);
  for (const { table, key, before, after } of writes) {
    if (!isAlertTable(table) || !after) continue;
    const isAsBefore = before ? before.firings === after.firings : after.firings === 0 && after.isArmed === true;
    demand(isAsBefore, () => `transaction ${seq}: alert ${key} fires though nothing changes, or is made disarmed`);
    demand(
      before?.isEnabled !== false || after.isEnabled !== true || after.isArmed === true,
      () => `transaction ${seq} enables alert ${key} and doesn't arm it`,
    );
  }
}

/** The expected course of one transaction. */
class TransactionReplay {
  readonly #transaction: CommittedTransaction;
  readonly #stored: ReadonlyMap<number, Rule>;
  readonly #devices: ReadonlyMap<number, StoredRow>;
  readonly #rules: Map<number, Rule>;
  readonly #lines: readonly LogLine[];
  readonly #stopped = new Set<number>();
  #next = 0;
  #firings = 0;
  #writesLeft = limits.writes;

  constructor(
    transaction: CommittedTransaction,
    before: Map<number, Rule>,
    stored: ReadonlyMap<number, Rule>,
    devices: ReadonlyMap<number, StoredRow>,
  ) {
    this.#transaction = transaction;
    this.#rules = before;
    this.#stored = stored;
    this.#devices = devices;
    this.#lines = transaction.log.filter((line) => isCommit(line) || isFiring(line));
    // A slot that passed to another device disables its alerts before anything is written.
    for (const rule of stored.values()) {
      const isLost = rule.reason?.endsWith("has passed to another device") && before.get(rule.id)?.isEnabled;
      if (isLost) before.set(rule.id, { ...before.get(rule.id)!, isEnabled: false });
    }
  }

  check(): void {
    // A transaction may say of several devices that they fell silent. Each is a change of its own.
    do {
      this.#checkChange();
      this.#writesLeft = limits.writes;
    } while (this.#next < this.#lines.length);
    for (const id of new Set([...this.#rules.keys(), ...this.#stored.keys()])) this.#compare(id);
  }

  #checkChange(): void {
    const { seq } = this.#transaction;
    // The echo that closes a fan request follows the first change, before the writes of alerts.
    const echo = this.#lines.slice(1).filter((line) => line.kind === "attribute" && bodyOf(line).cause.by !== "alert");
    for (const line of echo) this.#writesLeft -= bodyOf(line).changes.length;
    let wave = this.#apply(this.#take(), 0);
    const isOver = () => this.#next === this.#lines.length || isSilence(this.#lines[this.#next]!);
    for (let hop = 1; wave.length > 0 || !isOver(); hop++) {
      const next: Expected[] = [];
      if (hop === 1) for (const _ of echo) next.push(...this.#apply(this.#take(), hop));
      for (const update of wave) next.push(...this.#expectWrite(update, hop));
      demand(
        next.length > 0 || isOver(),
        () => `transaction ${seq}: nothing asks for ${this.#lines[this.#next]?.body}`,
      );
      wave = next;
    }
  }

  #take(): LogLine {
    const line = this.#lines[this.#next];
    if (!line) throw new Violation(`transaction ${this.#transaction.seq} lacks a firing or a write of an alert`);
    this.#next += 1;
    return line;
  }

  /** The writes of an alert. A fan request passes a gate, which may refuse it or write something else. */
  #expectWrite({ alert, deviceId, changes }: Expected, hop: number): readonly Expected[] {
    const line = this.#lines[this.#next];
    const body = line?.kind === "attribute" ? bodyOf(line) : undefined;
    const isIts = line?.deviceId === deviceId && body?.cause.alert === alert && body.cause.hop === hop;
    if (this.#devices.get(deviceId)?.isVirtual) return isIts ? this.#apply(this.#take(), hop) : [];
    demand(
      isIts && JSON.stringify(body?.changes) === JSON.stringify(changes),
      () =>
        `transaction ${this.#transaction.seq}: alert ${alert} should write ${JSON.stringify(changes)} to device ${deviceId} at hop ${hop}; found ${line?.body}`,
    );
    return this.#apply(this.#take(), hop);
  }

  #apply(line: LogLine, hop: number): readonly Expected[] {
    const valueFor = valuesIn(line);
    const watching = [...this.#rules.values()]
      .filter((rule) => rule.isEnabled && valueFor(rule) !== undefined)
      .sort((a, b) => a.id - b.id);
    let room = hop < limits.hops ? this.#writesLeft : 0;
    const updates: Expected[] = [];
    for (const rule of watching) {
      const value = valueFor(rule) ?? null;
      if (!isTrue(rule, value)) this.#rules.set(rule.id, { ...rule, isArmed: true });
      else if (rule.isArmed || !rule.autoDisarm) {
        const written = this.#fire(rule, line, value, room);
        room -= written.reduce((sum, { changes }) => sum + changes.length, 0);
        updates.push(...written);
      }
    }
    this.#writesLeft -= updates.reduce((sum, { changes }) => sum + changes.length, 0);
    return updates;
  }

  #fire(rule: Rule, { deviceId, timeMs }: LogLine, value: string | null, room: number): readonly Expected[] {
    const { id, autoDisarm, autoDelete, autoDisable } = rule;
    this.#firings += 1;
    const targets = rule.action === "attribute" ? rule.targets.filter((to) => this.#devices.has(to.deviceId)) : [];
    const isStopped = this.#firings > limits.firings || targets.length > room;
    const fired = { ...rule, isArmed: !autoDisarm, firings: rule.firings + 1, firedMs: timeMs };
    if (autoDelete) this.#rules.delete(id);
    else this.#rules.set(id, { ...fired, isEnabled: !autoDisable });
    if (isStopped && this.#stopped.has(id)) return [];
    if (isStopped) this.#stopped.add(id);
    const line = this.#take();
    const body = JSON.parse(line.body) as Partial<Rule> & {
      readonly alert?: number;
      readonly value?: string;
      readonly writes?: unknown[];
      readonly note?: string;
    };
    demand(
      line.kind === (rule.thingId === undefined ? "alert" : "thingAlert") &&
        body.thingId === rule.thingId &&
        body.field === rule.field &&
        line.deviceId === deviceId &&
        line.timeMs === timeMs &&
        body.alert === id &&
        body.value === value &&
        body.writes?.length === (isStopped ? 0 : targets.length) &&
        writesStopped.test(body.note ?? "") === isStopped,
      () =>
        `transaction ${this.#transaction.seq}: alert ${id} should fire for ${value}${isStopped ? " and be stopped" : ""}; found ${line.kind} ${line.body}`,
    );
    if (isStopped) return [];
    return [...Map.groupBy(targets, (target) => target.deviceId)].map(([target, ofDevice]) => ({
      alert: id,
      deviceId: target,
      changes: ofDevice.map((to) => [to.attributeName, to.value === "" ? null : to.value] as const),
    }));
  }

  #compare(id: number): void {
    const [due, is] = [this.#rules.get(id), this.#stored.get(id)];
    const describe = (rule: Rule | undefined) =>
      rule
        ? `${rule.isEnabled ? "on" : "off"}, ${rule.isArmed ? "armed" : "disarmed"}, fired ${rule.firings} times, last at ${rule.firedMs}`
        : "gone";
    demand(
      describe(due) === describe(is),
      () => `transaction ${this.#transaction.seq}: alert ${id} should be ${describe(due)}; it is ${describe(is)}`,
    );
  }
}

function isTrue({ condition: { operation, pattern, text, threshold } }: Rule, value: string | null): boolean {
  if (value === null) return false;
  if (operation === "equals") return value === text;
  if (operation === "regex") return new RegExp(`^(?:${pattern})$`).test(value);
  return operation === ">=" && value.trim() !== "" && Number(value) >= threshold!;
}

/** The value that a log entry gives to what an alert watches; undefined when it gives none. */
function valuesIn(line: LogLine): (rule: Rule) => string | null | undefined {
  const changes = line.kind === "attribute" ? new Map(bodyOf(line).changes) : new Map<Key, string | null>();
  const things = new Map(thingsIn(line).map((thing) => [thing.thingId, thing]));
  return ({ deviceId, key, thingId, field }) => {
    if (key !== undefined) return deviceId === line.deviceId ? changes.get(key) : undefined;
    const thing = things.get(thingId!);
    if (!thing) return undefined;
    // Nothing is known of a thing that is gone, except that it is not available.
    if (thing.what === "gone") return field!.endsWith(".available") ? "false" : null;
    const value = thing.fields?.[field!];
    return value === undefined || value === null ? (value as null | undefined) : String(value);
  };
}

function isAlertTable(table: string): boolean {
  return table.startsWith("triggers/") || table.startsWith("thing triggers/");
}

/**
 * Whether the entry is a change that alerts see. An entry about things that left with their device has no cause. That
 * the map of an own device's type was changed says nothing of its fields.
 */
function isCommit(line: LogLine): boolean {
  if (line.kind === "attribute" || isSilence(line)) return true;
  return line.kind === "thing" && bodyOf(line).cause !== undefined && !thingsIn(line).every(isOwn);
}

/** An own device has fallen silent. */
function isSilence(line: LogLine): boolean {
  return line.kind === "thing" && thingsIn(line).every((thing) => isOwn(thing) && thing.what === "state");
}

function isFiring({ kind }: LogLine): boolean {
  return kind === "alert" || kind === "thingAlert";
}

function bodyOf({ body }: LogLine): AttributeLine {
  return JSON.parse(body) as AttributeLine;
}
