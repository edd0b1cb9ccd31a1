import { type Try, triesKept } from "../../store/tables/delivery-history.ts";
import type { ListedDelivery } from "../../store/tables/webhook-deliveries.ts";

/** An attempt of which not everything may be known. */
export type KnownTry = { readonly [Member in keyof Try]: Try[Member] | null };

/** True if the message was given up, or waits after a failed attempt. */
export function hasFailed({ state, attempts, status, text }: Omit<ListedDelivery, "history">): boolean {
  return state === "failed" || (state === "waiting" && (attempts > 1 || status !== null || text !== null));
}

/** How many attempts of a delivery have failed. Attempts before the recorded ones have. */
export function countFailedAttempts(delivery: ListedDelivery): number {
  const tries = knownTries(delivery);
  const earlier = (tries[0]?.attempt ?? 1) - 1;
  return earlier + tries.filter(({ text }) => text !== null).length;
}

/**
 * The attempts of a delivery, oldest first. A node of an older version records none, but stores the outcome of the last
 * attempt: this one follows the recorded attempts, if its outcome is another one.
 */
export function knownTries(delivery: ListedDelivery): readonly KnownTry[] {
  const { history, state, attempts, status, text, settledMs } = delivery;
  const tries = history?.tries ?? [];
  const last = tries.at(-1);
  const hasOutcome = status !== null || text !== null;
  if (!hasOutcome || (last?.status === status && last.text === text)) return tries;
  // While the message waits, the count may include an attempt that is under way.
  const attempt = state === "waiting" ? null : attempts;
  return [...tries, { attempt, timeMs: settledMs, tookMs: null, status, text }].slice(-triesKept);
}
