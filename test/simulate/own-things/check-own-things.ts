import type { CommittedTransaction, LogLine, StoredRow } from "../checks/history.ts";
import { demand } from "../checks/violation.ts";
import { beginningMs } from "../clocks.ts";
import { checkCommandCalls, OwnCommands } from "./check-own-commands.ts";
import { silenceMs, toldAvailable, traitsOf, valuesOf } from "./read-map.ts";
import type { OwnThingRead, OwnThingRecord } from "./record.ts";
import { type OwnVersion, present, type ReplayedOwnDevice, ReplayedThings, visible } from "./replayed-things.ts";

interface LoggedThing {
  readonly thingId: string;
  readonly what: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

interface Rule {
  readonly userId: number;
  readonly commands?: readonly ({ readonly thingId: string } | { readonly kind: string })[];
}

/** A scan for silent devices is made every five seconds. */
const saidWithinMs = 12_000;

/**
 * Own things are what their attributes say through the map of their type: the log names each change of a field, a read
 * shows the state of a moment within it, and a device that is silent for too long is not available.
 */
export function checkOwnThings(
  history: readonly CommittedTransaction[],
  { calls, reads }: OwnThingRecord,
  areClocksRight: boolean,
): void {
  const things = new ReplayedThings();
  const commands = new OwnCommands(areClocksRight);
  const rules = new Map<string | number, Rule>();
  for (const transaction of history) {
    const { seq, atMs, log, writes } = transaction;
    const rulesBefore = new Map(rules);
    for (const { table, key, after } of writes) {
      if (!table.startsWith("triggers/") && !table.startsWith("thing triggers/")) continue;
      after ? rules.set(key, after as unknown as Rule) : rules.delete(key);
    }
    things.begin(transaction);
    for (const line of log) {
      const device = things.devices.get(line.deviceId ?? 0);
      const before = device && present(device);
      const change = things.take(seq, line);
      if (change) {
        commands.settled(seq);
        checkChange(seq, line, before!, change.device);
        commands.written(change.device, change.written, line.timeMs);
      }
      if (device && line.kind === "thingCommand") commands.take(seq, line, device);
      // From here on every transaction sees the present map.
      if (device && isMapChange(line)) device.formerMaps = [];
      if (device && line.kind === "thing")
        checkSilence(seq, line, device, areClocksRight ? beginningMs + atMs : undefined);
      if (line.kind === "alert" || line.kind === "thingAlert") {
        const rule = rulesBefore.get(JSON.parse(line.body).alert);
        if (!isAnyMapChanging(things)) commands.fired(seq, line, rule ? reachedBy(rule, things) : []);
      }
    }
    commands.compare(transaction);
  }
  commands.demandDue(history);
  checkCommandCalls(calls, commands.all, firstRows(history));
  for (const read of reads) checkRead(read, things.devices.get(read.deviceId)!, areClocksRight);
}

/** The first device whose change of map or silence the log should have told by now. */
export function untoldThing(
  history: readonly CommittedTransaction[],
  work: readonly { readonly what: string | null; readonly typeId: number }[],
  nowMs: number | undefined,
): string | undefined {
  const left = work.find(({ what }) => what !== null);
  if (left) return `the map of type ${left.typeId} was changed, and not all devices know it`;
  if (nowMs === undefined) return undefined;
  const things = new ReplayedThings();
  for (const transaction of history) {
    things.begin(transaction);
    for (const line of transaction.log) {
      things.take(transaction.seq, line);
      const device = things.devices.get(line.deviceId ?? 0);
      if (device && isSilence(line)) device.silentMs = present(device).lastMs;
    }
  }
  for (const device of things.devices.values()) {
    const { map, lastMs, mapChangedMs } = present(device);
    const limitMs = map && silenceMs(map);
    const isDue =
      limitMs !== undefined && lastMs > 0 && nowMs - Math.max(mapChangedMs, lastMs + limitMs) > saidWithinMs;
    if (isDue && device.silentMs !== lastMs) return `device ${device.id} is silent, and the log does not say so`;
  }
  return undefined;
}

/** A write names exactly the fields of the thing that it changes. */
function checkChange(seq: number, line: LogLine, before: OwnVersion, device: ReplayedOwnDevice): void {
  const logged = thingIn(line);
  const is = JSON.stringify(Object.entries(logged?.fields ?? {}).sort());
  const isRight = visible(device).some((now) => changesOf(before, now, line.timeMs) === is);
  demand(
    isRight && (logged === undefined || (logged.what === "state" && logged.thingId === `t_own_${device.id}`)),
    () =>
      `transaction ${seq}: the write ${line.body} of device ${device.id} changes the fields ${changesOf(before, present(device), line.timeMs)}`,
  );
}

function changesOf(before: OwnVersion, now: OwnVersion, timeMs: number): string {
  return JSON.stringify(now.map ? changedFields(before, now, timeMs).sort() : []);
}

function changedFields(before: OwnVersion, now: OwnVersion, timeMs: number): [string, unknown][] {
  const map = now.map!;
  const limitMs = silenceMs(map);
  const wasSilent = limitMs !== undefined && timeMs - before.lastMs > limitMs;
  const [was, is] = [toldAvailable(map, before.texts), toldAvailable(map, now.texts)];
  const old = valuesOf(map, before.texts);
  const changed = [...valuesOf(map, now.texts)].filter(([field, value]) => value !== old.get(field));
  const available = wasSilent ? true : is;
  if (wasSilent || was !== is)
    changed.push(...traitsOf(map).map((trait) => [`${trait}.available`, available] as [string, unknown]));
  return changed;
}

/** The log says that a device is silent: once for each last write, and not before its time. */
function checkSilence(seq: number, line: LogLine, device: ReplayedOwnDevice, nowMs: number | undefined): void {
  if (!isSilence(line)) return;
  const { lastMs } = present(device);
  const say = (what: string) => `transaction ${seq}: device ${device.id} is said to be silent ${what}`;
  demand(device.silentMs !== lastMs, () => say("twice"));
  const silentMaps = visible(device).flatMap(({ map }) => {
    const limitMs = map && silenceMs(map);
    return map && limitMs !== undefined && (nowMs === undefined || nowMs - lastMs > limitMs) ? [map] : [];
  });
  demand(silentMaps.length > 0, () =>
    say(`${nowMs === undefined ? "without a limit" : `${nowMs - lastMs} ms after its last write`}`),
  );
  const fields = thingIn(line)?.fields ?? {};
  const isSaid = silentMaps.some((map) => traitsOf(map).every((trait) => fields[`${trait}.available`] === false));
  demand(isSaid, () => say(`as ${line.body}`));
  device.silentMs = lastMs;
}

/** The log says that the map of the device's type was set, changed or removed. */
function isMapChange(line: LogLine): boolean {
  return line.kind === "thing" && thingIn(line)?.what !== "state";
}

function isAnyMapChanging({ devices }: ReplayedThings): boolean {
  return [...devices.values()].some(({ formerMaps }) => formerMaps.length > 0);
}

function isSilence(line: LogLine): boolean {
  return line.kind === "thing" && thingIn(line)?.what === "state";
}

function thingIn({ body }: LogLine): LoggedThing | undefined {
  return (JSON.parse(body) as { readonly things?: readonly LoggedThing[] }).things?.[0];
}

/** The own things that the commands of an alert reach; the simulated accounts have no things of these kinds. */
function reachedBy({ userId, commands = [] }: Rule, { devices }: ReplayedThings): readonly string[] {
  const mapped = [...devices.values()].filter((device) => device.userId === userId && present(device).map);
  return commands.flatMap((command) =>
    mapped
      .filter((device) =>
        "kind" in command ? present(device).map!.kind === command.kind : command.thingId === `t_own_${device.id}`,
      )
      .map(({ id }) => `t_own_${id}`),
  );
}

/** A read shows the thing as it was at one moment between its beginning and its answer. */
function checkRead(read: OwnThingRead, device: ReplayedOwnDevice, areClocksRight: boolean): void {
  const { versions } = device;
  const first = Math.max(
    0,
    versions.findLastIndex(({ seq }) => seq < read.fromSeq),
  );
  const possible = versions.slice(first).filter(({ seq }, index) => index === 0 || seq < read.toSeq);
  demand(
    possible.some((version) => isSame(read, version, areClocksRight)),
    () =>
      `user ${read.userId} read thing ${read.deviceId} as ${JSON.stringify([...(read.values ?? [])])} between ${read.fromMs} and ${read.toMs}, which it never was; last written at ${present(device).lastMs - beginningMs}`,
  );
}

function isSame({ values, fromMs, toMs }: OwnThingRead, version: OwnVersion, areClocksRight: boolean): boolean {
  const { map, texts, lastMs } = version;
  if (!map || !values) return !map && !values;
  const limitMs = silenceMs(map);
  const silentMs = limitMs === undefined ? undefined : lastMs + limitMs - beginningMs;
  const available = (shown: unknown) => {
    if (silentMs === undefined) return shown === toldAvailable(map, texts);
    if (!areClocksRight) return typeof shown === "boolean";
    return shown === true ? fromMs <= silentMs : shown === false && toMs > silentMs;
  };
  return (
    [...valuesOf(map, texts)].every(([field, value]) => values.get(field) === value) &&
    traitsOf(map).every((trait) => available(values.get(`${trait}.available`)))
  );
}

/** The transaction that stored each command first. */
function firstRows(history: readonly CommittedTransaction[]): ReadonlyMap<number, number> {
  const rows = new Map<number, number>();
  for (const { seq, writes } of history) {
    for (const { table, key, before } of writes as readonly {
      table: string;
      key: string | number;
      before: StoredRow | null;
    }[]) {
      if (table.startsWith("thingCommands/") && !before) rows.set(key as number, seq);
    }
  }
  return rows;
}
