import type { CommitTables, DeviceCommit, DeviceUpdate, Reaction } from "../devices/commit.ts";
import { alertEntry } from "../devices/log-entries.ts";
import { attributeKey } from "../devices/write.ts";
import { fieldText } from "../home/field-names.ts";
import type { Cause } from "../model/cause.ts";
import { limits, type OnLimitReached } from "../model/limits.ts";
import {
  bytesOf,
  type Evaluation,
  mergeRecords,
  type Outcome,
  type Step,
  stepTrigger,
  truncateText,
  truncateValue,
  writingAction,
} from "../model/trigger.ts";
import type { Target } from "../model/trigger-targets.ts";
import type { AlertTable, CommandingWindow } from "../store/tables/alert-rows.ts";
import type { AnyTriggerRow } from "./alert-calls.ts";
import { Chain, type PlannedWrite, type Watcher } from "./chain.ts";
import { type CommandedThings, type Commanding, commandThings } from "./commanding.ts";
import type { Matching } from "./matching.ts";
import type { Records } from "./records.ts";

type AlertUpdate = DeviceUpdate & { readonly cause: Cause };

/** The note of an alert that a limit of its chain stopped (model/limits.ts). */
const stopped = "stopped at the limit";
/** The note of an alert whose costly pattern could not be evaluated. */
const withoutThread = "the thread for patterns could not be started";

const minuteMs = 60_000;

const noCommands = { commands: [], notes: [] };

export interface AlertReaction {
  readonly react: Reaction;
  /** Called after each durable commit: moves the evaluations of its alerts to memory. */
  afterCommit(commits: readonly DeviceCommit[]): void;
}

export interface AlertReactionParts {
  readonly matching: Matching;
  readonly records: Records;
  readonly commanding: Commanding;
  readonly onLimitReached: OnLimitReached;
}

/**
 * Shows each commit to the enabled alerts on the changed attributes and fields, inside its transaction. So the change, the alerts'
 * new states, their writes, their commands and the log entries are durable together or not at all, and each change counts once.
 */
export function alertReaction({ matching, records, commanding, onLimitReached }: AlertReactionParts): AlertReaction {
  /** Each request has a chain of its own, also of several in one transaction. A retried request starts with a new one. */
  const chains = new WeakMap<object, Chain>();
  /** Evaluations by transaction: a later request of the transaction stores the record of an alert with the earlier ones. */
  const seenIn = new WeakMap<object, Chain["seen"]>();

  return {
    async react(tx, commit, room) {
      const { chain: key = commit } = commit;
      const seen = seenIn.get(tx) ?? new Map();
      const chain = chains.get(key) ?? new Chain(seen);
      const events = await eventsOf(tx, commit, chain);
      if (events.length === 0) return [];
      seenIn.set(tx, seen);
      chains.set(key, chain);
      const updates: AlertUpdate[] = [];
      let left = room;
      for (const { trigger, value } of events) {
        const firing = await evaluate(tx, trigger, commit, value, left, chain);
        left -= firing.reduce((count, { changes }) => count + changes.length, 0);
        updates.push(...firing);
      }
      return updates;
    },

    afterCommit(commits) {
      const durable = new Set<Chain>();
      for (const commit of commits) {
        const chain = chains.get(commit.chain ?? commit);
        if (chain) durable.add(chain);
      }
      for (const seen of new Set([...durable].map((chain) => chain.seen))) {
        for (const [id, evaluations] of seen) records.add(id, evaluations);
      }
      for (const chain of durable) {
        for (const limit of chain.reached) onLimitReached(limit);
        if (chain.hasCommanded) commanding.admitted();
      }
    },
  };

  async function evaluate(
    tx: CommitTables,
    trigger: Watcher,
    commit: DeviceCommit,
    value: string | null,
    room: number,
    chain: Chain,
  ): Promise<readonly AlertUpdate[]> {
    const judged = matching.judge(tx, chain, commit.userId, trigger.condition, value);
    if (judged === "later") return [];
    if (judged === "stopped" || judged === "no thread") {
      await stop(tx, trigger, commit, value, chain, judged === "stopped" ? stopped : withoutThread);
      return [];
    }
    const step = stepTrigger(trigger, judged);
    const wasArmed = trigger.isArmed;
    trigger.isArmed = step.isArmed;
    trigger.isLive = step.fate === "stays";
    if (step.outcome === "fired") return fire(tx, trigger, step, commit, value, room, chain);
    chain.remember(trigger.id, evaluationOf(commit, value, step.outcome));
    if (step.isArmed !== wasArmed) {
      const table = tableOf(tx, trigger);
      const record = mergeRecords(await table.record(trigger.userId, trigger.id), laterOf(trigger, chain));
      await table.change(trigger.userId, trigger.id, { isArmed: step.isArmed, record });
    }
    return [];
  }

  async function fire(
    tx: CommitTables,
    watcher: Watcher,
    step: Step,
    commit: DeviceCommit,
    value: string | null,
    room: number,
    chain: Chain,
  ): Promise<readonly AlertUpdate[]> {
    const table = tableOf(tx, watcher);
    const found = await table.withRecord(watcher.userId, watcher.id);
    if (!found) return [];
    const { trigger } = found;
    const { updates, written, missing } = await writesOf(tx, trigger, commit.hop + 1);
    const notes = missing.map((deviceId) => `device ${deviceId} is not there any more`);
    const limit = await limitOf(tx, trigger, updates, room, chain);
    if (limit !== undefined) notes.push(limit);
    const isStopped = limit !== undefined;
    const commanding = trigger.commands.length > 0 ? nextWindow(found.commanding, await tx.clock.nowMs()) : undefined;
    const commanded = isStopped ? noCommands : await command(tx, trigger, chain, commanding);
    notes.push(...commanded.notes);
    const note = notes.length > 0 ? { note: truncateText(notes.join("; ")) } : {};
    chain.remember(trigger.id, { ...evaluationOf(commit, value, "fired"), ...note });
    await table.change(trigger.userId, trigger.id, {
      isArmed: step.isArmed,
      firedMs: commit.timeMs,
      firings: trigger.firings + 1,
      record: mergeRecords(found.record, laterOf(trigger, chain)),
      ...(!isStopped && commanding && { commanding }),
      ...(step.fate === "disabled" && { isEnabled: false, reason: "autoDisable: it has fired" }),
    });
    if (step.fate === "deleted") await table.remove(trigger.userId, trigger.id);
    if (isStopped && chain.stopped.has(trigger.id)) return [];
    if (isStopped) chain.stopped.add(trigger.id);
    const { id: alert, action, address, message } = trigger;
    const watched =
      "thingId" in trigger
        ? { thingId: trigger.thingId, field: trigger.field }
        : { attributeName: trigger.attributeName };
    const writes = isStopped ? [] : written;
    const { commands } = commanded;
    const sent = commands.length > 0 ? { commands } : {};
    const body = { alert, action, ...watched, value, address, message, writes, ...sent, ...note };
    await tx.log.append(alertEntry(trigger.userId, commit.deviceId, commit.timeMs, body));
    return isStopped ? [] : updates.map(({ device, changes, cause }) => ({ deviceId: device.id, changes, cause }));
  }

  /** Sends the commands of a firing, as far as the chain's budget goes. */
  async function command(
    tx: CommitTables,
    trigger: AnyTriggerRow,
    chain: Chain,
    window: CommandingWindow | undefined,
  ): Promise<Pick<CommandedThings, "commands" | "notes">> {
    if (!window) return noCommands;
    if (window.firings > limits.commandingFiringsPerMinute) {
      chain.reached.add("commandingFiringsPerMinute");
      return { commands: [], notes: [`${stopped} commandingFiringsPerMinute`] };
    }
    const commanded = await commandThings(commanding, tx, trigger, chain.commandRoom);
    chain.countCommands(commanded.commands.length);
    if (!commanded.isLimitReached) return commanded;
    chain.reached.add("alertCommandsPerCause");
    return { ...commanded, notes: [...commanded.notes, `${stopped} alertCommandsPerCause`] };
  }

  /** Records why the alert was not evaluated. The alert stays armed or disarmed as it was. */
  async function stop(
    tx: CommitTables,
    trigger: Watcher,
    commit: DeviceCommit,
    value: string | null,
    chain: Chain,
    note: string,
  ): Promise<void> {
    chain.remember(trigger.id, { ...evaluationOf(commit, value, "stopped"), note });
    if (chain.stopped.has(trigger.id)) return;
    chain.stopped.add(trigger.id);
    const table = tableOf(tx, trigger);
    const record = mergeRecords(await table.record(trigger.userId, trigger.id), laterOf(trigger, chain));
    await table.change(trigger.userId, trigger.id, { record });
  }

  function laterOf({ id }: Pick<Watcher, "id">, chain: Chain): readonly Evaluation[] {
    return [...records.of(id), ...(chain.seen.get(id) ?? [])];
  }
}

/** The minute in which the firings of an alert with commands are counted, with this one. */
function nextWindow(present: CommandingWindow | undefined, nowMs: number): CommandingWindow {
  // A clock that was set back must not stop the alert for long.
  const isSame = present !== undefined && Math.abs(nowMs - present.sinceMs) < minuteMs;
  return isSame ? { ...present, firings: present.firings + 1 } : { sinceMs: nowMs, firings: 1 };
}

/** The alerts that the commit reaches, ascending by id, each with the value that it sees. */
async function eventsOf(
  tx: CommitTables,
  commit: DeviceCommit,
  chain: Chain,
): Promise<readonly { readonly trigger: Watcher; readonly value: string | null }[]> {
  // Most devices have no alert; the commit has looked this up already.
  const onAttributes = commit.isWatched === false ? [] : await chain.watchers(tx, commit);
  const onThings = commit.areThingsWatched === false ? [] : await chain.thingWatchers(tx, commit);
  const values = new Map(commit.changes.map(({ key, value }) => [key, value]));
  const events = onAttributes.map((trigger) => ({ trigger, value: values.get(trigger.key) ?? null }));
  if (onThings.length === 0) return events;
  const ofThings = onThings.map(([trigger, value]) => ({ trigger, value: fieldText(value) }));
  return [...events, ...ofThings].sort((a, b) => a.trigger.id - b.trigger.id);
}

/** The table of an alert, with the calls that both kinds have. */
function tableOf(
  tx: CommitTables,
  watcher: Watcher,
): Pick<AlertTable<AnyTriggerRow>, "withRecord" | "record" | "change" | "remove"> {
  return "thingId" in watcher ? tx.thingTriggers : tx.triggers;
}

/** Why a firing alert must not write, in the words of its record; undefined when it may, and only then the firing counts. */
async function limitOf(
  tx: CommitTables,
  trigger: AnyTriggerRow,
  updates: readonly (PlannedWrite & { readonly cause: Cause })[],
  room: number,
  chain: Chain,
): Promise<string | undefined> {
  const writes = updates.reduce((count, { changes }) => count + changes.length, 0);
  const bytes = bytesOf(trigger);
  if (writes > room) chain.reached.add("alertWritesPerCause");
  if (!chain.mayFire(bytes) || writes > room) return stopped;
  const refusal = updates.length > 0 ? await chain.refusalOf(tx, trigger.userId, updates) : undefined;
  if (refusal) return `${stopped} ${refusal.limit}`;
  chain.countFiring(bytes);
  return undefined;
}

/** The writes of an alert, by device. Targets whose device was removed are left out. */
async function writesOf(tx: CommitTables, { id, userId, action, targets }: AnyTriggerRow, hop: number) {
  const written: Target[] = [];
  const missing: number[] = [];
  const updates: (PlannedWrite & { readonly cause: Cause })[] = [];
  const byDevice = Map.groupBy(action === writingAction ? targets : [], ({ deviceId }) => deviceId);
  for (const [deviceId, ofDevice] of byDevice) {
    const device = await tx.devices.find(userId, deviceId);
    if (!device) {
      missing.push(deviceId);
      continue;
    }
    const changes = ofDevice.map(({ attributeName, value }) => ({
      key: attributeKey(device, attributeName),
      value: value === "" ? null : value,
    }));
    updates.push({ device, changes, cause: { by: "alert", alert: id, hop } });
    written.push(...ofDevice);
  }
  return { updates, written, missing };
}

function evaluationOf({ timeMs }: DeviceCommit, value: string | null, outcome: Outcome | "stopped"): Evaluation {
  return { timeMs, value: truncateValue(value), outcome };
}
