import type { CommitTables, DeviceCommit, DeviceUpdate, Reaction } from "../devices/commit.ts";
import { alertEntry } from "../devices/log-entries.ts";
import { attributeKey } from "../devices/write.ts";
import type { Cause } from "../model/cause.ts";
import { isMet } from "../model/condition.ts";
import type { TriggerId } from "../model/ids.ts";
import {
  type Evaluation,
  joinRecords,
  type Outcome,
  type Step,
  shownValue,
  stepTrigger,
  writingAction,
} from "../model/trigger.ts";
import type { Target } from "../model/trigger-targets.ts";
import type { TriggerRow } from "../store/tables/triggers.ts";
import type { Patterns } from "./patterns.ts";
import type { Records } from "./records.ts";

type AlertUpdate = DeviceUpdate & { readonly cause: Cause };

/**
 * From one cause so many alerts fire and so many steps are spent on patterns. All alerts of one device fit in; only
 * those who set each other off, or were made to keep us busy, ever come here.
 */
const limits = { firings: 1_000, patternSteps: 4_000_000 };
const stopped = "stopped at the limit";

/** What has happened because of one cause, while its transaction is open. */
interface Chain {
  firings: number;
  patternSteps: number;
  readonly stopped: Set<TriggerId>;
  /** What alerts saw; it goes to memory once it is durable. */
  readonly seen: Map<TriggerId, Evaluation[]>;
}

export interface AlertReaction {
  readonly react: Reaction;
  /** Told after each commit: what its alerts saw has really happened. */
  heard(commits: readonly DeviceCommit[]): void;
}

/**
 * Alerts: each commit is shown to the enabled alerts on what it changed, inside its transaction. So the change, what the
 * alerts became, what they write and the log of it are durable together or not at all, and each change counts once.
 */
export function alertReaction(patterns: Patterns, records: Records): AlertReaction {
  /** Found by the transaction while it is open, and by each of its commits afterwards. One that is repeated starts anew. */
  const chains = new WeakMap<object, Chain>();

  return {
    async react(tx, commit, room) {
      // Most devices have no alert: theirs is a look that the commit has taken anyway.
      if (commit.isWatched === false) return [];
      const keys = commit.changes.map(({ key }) => key);
      const triggers = await tx.triggers.watching(commit.userId, commit.deviceId, keys);
      if (triggers.length === 0) return [];
      const chain = chains.get(tx) ?? { firings: 0, patternSteps: 0, stopped: new Set(), seen: new Map() };
      chains.set(tx, chain);
      chains.set(commit, chain);
      const values = new Map(commit.changes.map(({ key, value }) => [key, value]));
      const updates: AlertUpdate[] = [];
      let left = room;
      for (const trigger of triggers) {
        const firing = await show(tx, trigger, commit, values.get(trigger.key) ?? null, left, chain);
        left -= firing.reduce((count, { changes }) => count + changes.length, 0);
        updates.push(...firing);
      }
      return updates;
    },

    heard(commits) {
      const told = new Set<Chain>();
      for (const commit of commits) {
        const chain = chains.get(commit);
        if (chain) told.add(chain);
      }
      for (const { seen } of told) for (const [id, evaluations] of seen) records.add(id, evaluations);
    },
  };

  async function show(
    tx: CommitTables,
    trigger: TriggerRow,
    commit: DeviceCommit,
    value: string | null,
    room: number,
    chain: Chain,
  ): Promise<readonly AlertUpdate[]> {
    chain.patternSteps += patterns.stepsFor(trigger.condition, value);
    if (chain.patternSteps > limits.patternSteps) {
      await stop(tx, trigger, commit, value, chain);
      return [];
    }
    const step = stepTrigger(trigger, isMet(trigger.condition, value, patterns.matches));
    if (step.outcome === "fired") return fire(tx, trigger, step, commit, value, room, chain);
    remember(chain, trigger.id, evaluationOf(commit, value, step.outcome));
    if (step.isArmed !== trigger.isArmed) {
      await tx.triggers.change(trigger.userId, trigger.id, {
        isArmed: step.isArmed,
        record: await recordOf(tx, trigger, chain),
      });
    }
    return [];
  }

  async function fire(
    tx: CommitTables,
    trigger: TriggerRow,
    step: Step,
    commit: DeviceCommit,
    value: string | null,
    room: number,
    chain: Chain,
  ): Promise<readonly AlertUpdate[]> {
    const { updates, written, missing } = await writesOf(tx, trigger, commit.hop + 1);
    chain.firings += 1;
    const isStopped = chain.firings > limits.firings || written.length > room;
    const notes = missing.map((deviceId) => `device ${deviceId} is not there any more`);
    if (isStopped) notes.push(stopped);
    const note = notes.length > 0 ? { note: notes.join("; ") } : {};
    remember(chain, trigger.id, { ...evaluationOf(commit, value, "fired"), ...note });
    await tx.triggers.change(trigger.userId, trigger.id, {
      isArmed: step.isArmed,
      firedMs: commit.timeMs,
      firings: trigger.firings + 1,
      record: await recordOf(tx, trigger, chain),
      ...(step.fate === "disabled" && { isEnabled: false, reason: "autoDisable: it has fired" }),
    });
    if (step.fate === "deleted") await tx.triggers.remove(trigger.userId, trigger.id);
    if (isStopped && chain.stopped.has(trigger.id)) return [];
    if (isStopped) chain.stopped.add(trigger.id);
    const { id: alert, action, attributeName, address, message } = trigger;
    const writes = isStopped ? [] : written;
    const body = { alert, action, attributeName, value, address, message, writes, ...note };
    await tx.log.append(alertEntry(trigger.userId, commit.deviceId, commit.timeMs, body));
    return isStopped ? [] : updates;
  }

  /** It was never looked at, so it stays armed or disarmed as it was. */
  async function stop(
    tx: CommitTables,
    trigger: TriggerRow,
    commit: DeviceCommit,
    value: string | null,
    chain: Chain,
  ): Promise<void> {
    remember(chain, trigger.id, { ...evaluationOf(commit, value, "stopped"), note: stopped });
    if (chain.stopped.has(trigger.id)) return;
    chain.stopped.add(trigger.id);
    await tx.triggers.change(trigger.userId, trigger.id, { record: await recordOf(tx, trigger, chain) });
  }

  async function recordOf(tx: CommitTables, { userId, id }: TriggerRow, chain: Chain): Promise<readonly Evaluation[]> {
    const later = [...records.of(id), ...(chain.seen.get(id) ?? [])];
    return joinRecords(await tx.triggers.record(userId, id), later);
  }
}

/** What its targets are to become, by device; those whose device has gone since are left out. */
async function writesOf(tx: CommitTables, { id, userId, action, targets }: TriggerRow, hop: number) {
  const written: Target[] = [];
  const missing: number[] = [];
  const updates: AlertUpdate[] = [];
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
    updates.push({ deviceId, changes, cause: { by: "alert", alert: id, hop } });
    written.push(...ofDevice);
  }
  return { updates, written, missing };
}

function evaluationOf({ timeMs }: DeviceCommit, value: string | null, outcome: Outcome | "stopped"): Evaluation {
  return { timeMs, value: shownValue(value), outcome };
}

function remember({ seen }: Chain, id: TriggerId, evaluation: Evaluation): void {
  const before = seen.get(id);
  if (before) before.push(evaluation);
  else seen.set(id, [evaluation]);
}
