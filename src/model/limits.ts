/**
 * Bounds on everything that a caller can grow. Each one is explained in docs/limits.md. A refusal names its limit
 * (`LimitReached`), and `breezeway_limit_reached_total` counts refusals by that name.
 */
export const limits = {
  webhooksPerOwner: 20,
} as const;

export type LimitName = keyof typeof limits;

/** Counts that a limit was reached. */
export type ReachLimit = (limit: LimitName) => void;
