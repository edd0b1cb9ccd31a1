import { readAttributeBody } from "../devices/log-entries.ts";
import { isMet } from "../model/condition.ts";
import { BadParameter } from "../model/errors.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import { stepTrigger } from "../model/trigger.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { LogEntry } from "../store/tables/log.ts";
import type { CheckedTrigger } from "./definition.ts";
import type { Patterns } from "./patterns.ts";

/** A stretch of a device's history: what happened strictly after `afterMs`, up to and with `untilMs`. */
export interface Stretch {
  readonly afterMs: number;
  readonly untilMs: number;
}

export interface History {
  readonly store: Store<Pick<Transaction, "log">>;
  /** Resolves when everybody else has had their turn. */
  readonly turn: () => Promise<void>;
}

export interface DryRun {
  /** How many changes and writes of the attribute there were. */
  readonly events: number;
  readonly firings: readonly { readonly timeMs: number; readonly value: string | null }[];
}

/** So many commits are read before everybody else gets their turn. */
const commitsAtOnce = 500;
/** A pattern over years of long values would hold up everybody else. */
const mostPatternSteps = 20_000_000;

/**
 * When a definition would have fired, had it been made at the beginning of the stretch. The log has every event that a
 * live alert hears, and the rule is the same, so it tells exactly what a live one would have done.
 */
export async function dryRun(
  history: History,
  userId: UserId,
  { deviceId, key, condition, autoDisarm, autoDelete, autoDisable, isEnabled }: CheckedTrigger,
  stretch: Stretch,
  patterns: Pick<Patterns, "matches" | "stepsFor">,
): Promise<DryRun> {
  const firings: { timeMs: number; value: string | null }[] = [];
  let events = 0;
  let patternSteps = 0;
  let isLive = isEnabled;
  let isArmed = true;
  for await (const entry of commitsIn(history, userId, deviceId, stretch)) {
    // Of several writes of one attribute in one commit the last is what it became.
    const change = readAttributeBody(entry).changes.findLast(([changed]) => changed === key);
    if (!change) continue;
    events += 1;
    if (!isLive) continue;
    const [, value] = change;
    patternSteps += patterns.stepsFor(condition, value);
    if (patternSteps > mostPatternSteps) {
      throw new BadParameter("from", "This pattern takes too long over this stretch. Choose a shorter one.");
    }
    const step = stepTrigger(
      { autoDisarm, autoDelete, autoDisable, isArmed },
      isMet(condition, value, patterns.matches),
    );
    isArmed = step.isArmed;
    isLive = step.fate === "stays";
    if (step.outcome === "fired") firings.push({ timeMs: entry.timeMs, value });
  }
  return { events, firings };
}

async function* commitsIn(
  { store, turn }: History,
  userId: UserId,
  deviceId: DeviceId,
  { afterMs, untilMs }: Stretch,
): AsyncGenerator<LogEntry> {
  // Whole numbers end here; no time is anywhere near.
  const toMs = Math.min(untilMs, Number.MAX_SAFE_INTEGER - 1) + 1;
  for (let fromMs = afterMs + 1; ; ) {
    const page = await store.read((tx) => tx.log.changes(userId, deviceId, { fromMs, toMs }, commitsAtOnce));
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < commitsAtOnce) return;
    // Each commit to a device has a time of its own.
    fromMs = last.timeMs + 1;
    await turn();
  }
}
