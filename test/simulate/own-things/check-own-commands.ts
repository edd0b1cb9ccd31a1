import type { CommittedTransaction, LogLine, StoredRow } from "../checks/history.ts";
import { demand } from "../checks/violation.ts";
import { beginningMs } from "../clocks.ts";
import { attributeOf, silenceMs, toldAvailable, valuesOf } from "./read-map.ts";
import type { OwnCommandCall } from "./record.ts";
import { type OwnVersion, present, type ReplayedOwnDevice, visible } from "./replayed-things.ts";

interface CommandLine {
  readonly id: number;
  readonly thingId: string;
  readonly command: { readonly trait: string; readonly params: Readonly<Record<string, unknown>> };
  readonly state: string;
  readonly requestedMs: number;
  readonly clientId: string | null;
  readonly writes?: Readonly<Record<string, string>>;
  readonly alert?: number;
}

interface OwnCommand extends CommandLine {
  readonly seq: number;
  readonly deviceId: number;
  readonly userId: number;
  /** By the times of the device's writes, which may be ahead of the clock. */
  readonly sentMs: number;
  /** What the thing should show, by field. */
  readonly wanted: ReadonlyMap<string, unknown>;
}

const graceMs = 2_000;
/** The deadline may fall together with the end of the silence limit. */
const closeMs = 3_000;

/**
 * Commands to own things: each is logged as sent once, with the right attributes, and ends once, in the state that the
 * history implies. A write is the echo of a command only if it is later than the sending.
 */
export class OwnCommands {
  readonly all = new Map<number, OwnCommand>();
  readonly #areClocksRight: boolean;
  /** The ends that the last write of a device may imply, and those that the log has shown since. */
  #implied: readonly ReadonlyMap<number, string>[] = [];
  #shown = new Map<number, string>();

  constructor(areClocksRight: boolean) {
    this.#areClocksRight = areClocksRight;
  }

  /** An own device was written. The echo may see a later map than the write, because it is another statement. */
  written(device: ReplayedOwnDevice, written: Written, timeMs: number): void {
    const open = this.#openOf(device.id);
    this.#implied = visible(device).map((version) => impliedBy(version, open, written, timeMs));
    this.#shown = new Map();
  }

  /** The log has shown all that the last write implies, and nothing else. */
  settled(seq: number): void {
    const shown = JSON.stringify([...this.#shown]);
    const implied = this.#implied.map((ends) => JSON.stringify([...ends]));
    demand(
      implied.length === 0 || implied.includes(shown),
      () => `transaction ${seq}: a write of an own thing implies ${implied[0]} for its commands, and not ${shown}`,
    );
    this.#implied = [];
  }

  /** A command to an own thing was logged. */
  take(seq: number, line: LogLine, device: ReplayedOwnDevice): void {
    const body = JSON.parse(line.body) as CommandLine;
    const before = this.all.get(body.id);
    const sentMs = before?.sentMs ?? Math.max(body.requestedMs, present(device).lastMs);
    const command = { ...body, seq, deviceId: device.id, userId: line.userId!, sentMs, wanted: wantedBy(body) };
    this.all.set(body.id, { ...before, ...command, writes: before?.writes ?? body.writes ?? {} });
    const say = (what: string) => `transaction ${seq}: command ${body.id} to device ${device.id} ${what}`;
    demand(body.thingId === `t_own_${device.id}` && line.userId === device.userId, () => say("names another thing"));
    if (!before) {
      this.#sent(command, device, say);
      return;
    }
    demand(before.state === "sending", () => say(`is ${body.state} after it was ${before.state}`));
    if (this.#implied.length > 0) {
      this.#shown.set(body.id, body.state);
      return;
    }
    const due = visible(device).flatMap((version) => atDeadline(version, before, line));
    demand(due.includes(body.state), () => say(`is ${body.state}; the history implies ${due.join(" or ")}`));
  }

  /** The stored rows of a transaction are as the log says. */
  compare({ seq, writes }: CommittedTransaction): void {
    this.settled(seq);
    for (const { table, after } of writes) {
      if (!table.startsWith("thingCommands/") || after?.key !== "own") continue;
      const logged = this.all.get(after.id as number);
      const hasEnded = after.state !== "sending";
      demand(
        logged !== undefined &&
          logged.state === after.state &&
          (after.settledMs !== null) === hasEnded &&
          logged.userId === after.userId,
        () => `transaction ${seq}: command ${after.id} is stored as ${after.state}, logged as ${logged?.state}`,
      );
    }
  }

  /** A firing names the commands that it has sent or joined. */
  fired(seq: number, { userId, body }: LogLine, reached: readonly string[]): void {
    const { alert, commands = [], note = "" } = JSON.parse(body) as Firing;
    if (note.includes("stopped")) return;
    const named = commands.map(({ thingId }) => thingId);
    demand(
      JSON.stringify(named) === JSON.stringify(reached),
      () => `transaction ${seq}: alert ${alert} commands [${named}] instead of [${reached}]`,
    );
    for (const { thingId, commandId, state } of commands) {
      const command = this.all.get(Number(commandId.slice(1)));
      demand(
        command?.thingId === thingId && command.userId === userId && command.state === state,
        () => `transaction ${seq}: alert ${alert} names the command ${commandId} to ${thingId}, which is not there`,
      );
    }
  }

  #openOf(deviceId: number): OwnCommand[] {
    return [...this.all.values()].filter((one) => one.deviceId === deviceId && one.state === "sending");
  }

  #sent(command: OwnCommand, device: ReplayedOwnDevice, say: (what: string) => string): void {
    if (command.state === "rejected") return;
    demand(command.state === "sending", () => say(`begins as ${command.state}`));
    const is = sorted(command.writes ?? {});
    const due = visible(device).flatMap((version) => (mayBeSent(version) ? [writesFor(version, command)] : []));
    demand(due.includes(is), () => say(`asks for ${is}; it may ask for ${due.join(" or ")}`));
    const isEqual = (one: OwnCommand) => JSON.stringify(one.command) === JSON.stringify(command.command);
    const last = this.#openOf(device.id).findLast(({ id }) => id !== command.id);
    demand(!last || !isEqual(last), () => say(`asks for the same as command ${last?.id}, which has not ended`));
  }

  /** With right clocks no command ends at its deadline before it. */
  demandDue(history: readonly CommittedTransaction[]): void {
    if (!this.#areClocksRight) return;
    for (const { seq, atMs, writes } of history) {
      for (const { table, after } of writes) {
        if (!table.startsWith("thingCommands/") || after?.key !== "own" || after.state !== "expired") continue;
        demand(
          beginningMs + atMs >= (after.dueMs as number),
          () => `transaction ${seq}: command ${after.id} expires before its deadline`,
        );
      }
    }
  }
}

type Written = ReadonlySet<string | number>;

/** The ends that a write implies for the open commands of its device. */
function impliedBy(
  now: OwnVersion,
  open: readonly OwnCommand[],
  written: Written,
  timeMs: number,
): Map<number, string> {
  if (!now.map) return new Map();
  const answered = open.filter(({ writes = {} }) => Object.keys(writes).some((one) => written.has(one)));
  const confirmed = answered.filter((command) => isShown(now, command));
  const contradicted = answered.filter((command) => {
    return timeMs - command.sentMs >= graceMs && isContradicted(now, command, written);
  });
  const ends = confirmed.length > 0 ? confirmed : contradicted;
  return new Map(ends.map(({ id }) => [id, confirmed.length > 0 ? "confirmed" : "contradicted"]));
}

/** The ends that are right at the deadline: the state decides if it was written after the sending. */
function atDeadline(now: OwnVersion, command: OwnCommand, { timeMs }: LogLine): readonly string[] {
  const { map, times, lastMs } = now;
  if (!map || !isShown(now, command)) return ["expired"];
  const isAnswered = [...command.wanted.keys()].some(
    (field) => (times.get(attributeOf(map, field) ?? "") ?? 0) > command.sentMs,
  );
  const limitMs = silenceMs(map);
  if (!isAnswered || limitMs === undefined) return [isAnswered ? "confirmed" : "expired"];
  const silentForMs = timeMs - lastMs - limitMs;
  if (Math.abs(silentForMs) < closeMs) return ["confirmed", "expired"];
  return [silentForMs < 0 ? "confirmed" : "expired"];
}

function mayBeSent({ map, texts }: OwnVersion): boolean {
  return map !== undefined && toldAvailable(map, texts) !== false;
}

/** The attributes that carry a command out, as text. */
function writesFor({ map }: OwnVersion, { wanted }: OwnCommand): string {
  const writes = [...wanted].map(([field, value]) => [attributeOf(map!, field), wordOf(map!, field, value)]);
  return sorted(Object.fromEntries(writes));
}

function sorted(writes: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(writes).sort());
}

interface Firing {
  readonly alert: number;
  readonly commands?: readonly { readonly thingId: string; readonly commandId: string; readonly state: string }[];
  readonly note?: string;
}

/** Acknowledged commands are stored, as commands of their caller; a thing of another user can't be commanded. */
export function checkCommandCalls(
  calls: readonly OwnCommandCall[],
  commands: ReadonlyMap<number, OwnCommand>,
  rows: ReadonlyMap<number, number>,
): void {
  for (const { userId, thingId, command, isForeign, outcome, receiptId, toSeq } of calls) {
    if (outcome !== "done") continue;
    demand(!isForeign, () => `user ${userId} commanded ${thingId}, which is another user's`);
    const id = Number(receiptId!.slice(1));
    const stored = commands.get(id);
    demand(
      stored?.thingId === thingId && stored.userId === userId && JSON.stringify(stored.command) === command,
      () => `user ${userId} got the receipt ${receiptId} for ${command}; stored is ${JSON.stringify(stored?.command)}`,
    );
    demand(
      (rows.get(id) ?? Number.POSITIVE_INFINITY) < toSeq,
      () => `command ${id} was acknowledged before it was durable`,
    );
  }
}

/** The commands to own things that have not ended. */
export function unsettledOwn(rows: readonly StoredRow[]): string | undefined {
  const open = rows.find(({ state, key }) => key === "own" && state === "sending");
  return open && `command ${open.id} to an own thing is still ${open.state}`;
}

function wantedBy({ command: { trait, params } }: CommandLine): ReadonlyMap<string, unknown> {
  if (trait === "onOff") return new Map([["onOff.on", params.on]]);
  if (params.percent === 0) return new Map([["onOff.on", false]]);
  return new Map<string, unknown>([
    ["brightness.percent", params.percent],
    ["onOff.on", true],
  ]);
}

function wordOf(map: NonNullable<OwnVersion["map"]>, field: string, value: unknown): string {
  return field === "onOff.on" ? map.traits.onOff.on.words[value ? "true" : "false"] : String(value);
}

/** Whether the thing shows all that the command asked for. The device has just written, so it is not silent. */
function isShown(now: OwnVersion, { wanted }: OwnCommand): boolean {
  const values = valuesOf(now.map!, now.texts);
  if (toldAvailable(now.map!, now.texts) === false) return false;
  return [...wanted].every(([field, value]) => isNear(values.get(field), value));
}

/** Only what was written can contradict, and only if it can be read. */
function isContradicted(now: OwnVersion, { wanted }: OwnCommand, written: Written): boolean {
  const values = valuesOf(now.map!, now.texts);
  if (toldAvailable(now.map!, now.texts) === false) return false;
  return [...wanted].some(([field, value]) => {
    const [attribute, shown] = [attributeOf(now.map!, field), values.get(field) ?? null];
    return attribute !== undefined && written.has(attribute) && shown !== null && !isNear(shown, value);
  });
}

function isNear(shown: unknown, wanted: unknown): boolean {
  return typeof shown === "number" && typeof wanted === "number" ? Math.abs(shown - wanted) <= 1 : shown === wanted;
}
