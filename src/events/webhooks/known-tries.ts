import { type Try, triesKept } from "../../store/tables/delivery-history.ts";
import type { ListedDelivery } from "../../store/tables/webhook-deliveries.ts";

/** An attempt of which not everything may be known. */
export type KnownTry = { readonly [Member in keyof Try]: Try[Member] | null };

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
