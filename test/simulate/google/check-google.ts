import type { CommittedTransaction, StoredRow } from "../checks/history.ts";
import { demand } from "../checks/violation.ts";
import { storedState } from "../store/stored-state.ts";
import type { GoogleThermostat } from "./account.ts";
import type { AcknowledgedMessage } from "./subscription.ts";

export interface GoogleRecord {
  readonly acknowledged: readonly AcknowledgedMessage[];
}

/** A link to Google at one time, and what it should show. */
export interface GoogleStanding {
  readonly userId: number;
  readonly thermostats: ReadonlyMap<string, Readonly<GoogleThermostat>>;
  readonly link: StoredRow | undefined;
  readonly things: readonly StoredRow[];
  /** The number of messages that wait for the link. */
  readonly messages: number;
  readonly followers: readonly { readonly node: string; readonly isLive: boolean }[];
}

/** Whose messages are stored for a link. */
interface Assignment {
  readonly deviceId: number;
  readonly account: string;
  readonly fromSeq: number;
  toSeq: number;
}

/**
 * The feed: a message is acknowledged only after it was stored for every link of its account. The targets of the
 * simulated thermostats only rise, so a stored target that falls shows an older state again.
 */
export function checkGoogle({ acknowledged }: GoogleRecord, history: readonly CommittedTransaction[]): void {
  const stored = new Map<string, number>();
  const assignments: Assignment[] = [];
  const targets = new Map<string, number>();
  for (const { seq, writes } of history) {
    for (const { table, key, after } of writes) {
      if (table.startsWith("feedMessages/") && after && !stored.has(`${table} ${key}`))
        stored.set(`${table} ${key}`, seq);
      if (table === "feedAccounts") assign(assignments, key as number, seq, after);
      if (table.startsWith("things/") && String(key).includes("_google_"))
        checkTarget(targets, seq, `${table} ${key}`, after);
    }
  }
  for (const { messageId, account, pulledSeq, seq } of acknowledged) {
    for (const { deviceId, fromSeq, toSeq } of assignments.filter((one) => one.account === account)) {
      const mustBeStored = fromSeq < pulledSeq && toSeq >= seq;
      demand(
        !mustBeStored || (stored.get(`feedMessages/${deviceId} ${messageId}`) ?? Number.POSITIVE_INFINITY) < seq,
        () => `message ${messageId} of ${account} was acknowledged before it was stored for link ${deviceId}`,
      );
    }
  }
}

/** The first difference between an account and its link. */
export function googleBehind(standings: readonly GoogleStanding[]): string | undefined {
  for (const standing of standings) {
    const missing = missingOf(standing);
    if (missing !== undefined) return `Google user ${standing.userId}: ${missing}`;
  }
  return undefined;
}

function missingOf({ thermostats, link, things, messages, followers }: GoogleStanding): string | undefined {
  if (!link) return "there is no link";
  if (followers.length !== 1) return `${followers.length} nodes follow`;
  if (link.state !== "live" || !followers[0]!.isLive) return `link ${link.state}: ${link.reason}`;
  if (link.blindness !== null) return "live and blind";
  if (messages > 0) return `${messages} messages wait`;
  const expected = new Map([...thermostats].map(([name, thermostat]) => [`thermostat/${name}`, thermostat]));
  for (const { key, goneMs, state } of things) {
    const name = key as string;
    if (!name.startsWith("thermostat/")) continue;
    const thermostat = expected.get(name);
    expected.delete(name);
    if ((goneMs === null) !== (thermostat !== undefined)) return `${name} is gone in the account or in the store`;
    const wrong = thermostat && wrongField(thermostat, state as string);
    if (wrong !== undefined) return `${name}: ${wrong}`;
  }
  const [missing] = expected.keys();
  return missing === undefined ? undefined : `${missing} is not stored`;
}

function wrongField({ mode, heatCelsius, isOnline }: GoogleThermostat, stored: string): string | undefined {
  const { thermostat } = storedState(stored) as { readonly thermostat?: Readonly<Record<string, readonly unknown[]>> };
  const expected = { available: isOnline, mode: mode.toLowerCase(), ...(mode === "HEAT" && { heatCelsius }) };
  for (const [field, value] of Object.entries(expected)) {
    const [shown] = thermostat?.[field] ?? [];
    if (shown !== value) return `${field} is ${shown}, the account says ${value}`;
  }
  return undefined;
}

function assign(assignments: Assignment[], deviceId: number, seq: number, row: StoredRow | null): void {
  const last = assignments.findLast((one) => one.deviceId === deviceId);
  if (last && last.account === row?.account) return;
  if (last) last.toSeq = Math.min(last.toSeq, seq);
  if (row)
    assignments.push({ deviceId, account: row.account as string, fromSeq: seq, toSeq: Number.POSITIVE_INFINITY });
}

function checkTarget(targets: Map<string, number>, seq: number, thing: string, row: StoredRow | null): void {
  if (!row) {
    targets.delete(thing);
    return;
  }
  const { thermostat } = storedState(row.state as string) as {
    readonly thermostat?: { heatCelsius?: readonly [number] };
  };
  const [target = null] = thermostat?.heatCelsius ?? [];
  if (target === null) return;
  const before = targets.get(thing) ?? 0;
  demand(target >= before, () => `transaction ${seq}: the target of ${thing} goes back from ${before} to ${target}`);
  targets.set(thing, target);
}
