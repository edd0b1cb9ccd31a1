/**
 * `answerMs`: time limit of one attempt. `claimMs`: how long a claimed grant belongs to one node; each attempt prolongs it.
 * So it ends soon after a node has died, also for an emergency. `attemptMs`: when an attempt must have ended after the
 * claim was prolonged, which leaves a margin. `usedMs`: a report that takes longer gives the claim back. `readAgainMs`: what
 * is left of a report that takes longer is read again, so that no message tells a state that has changed meanwhile.
 */
export const reportTimes = { answerMs: 10_000, claimMs: 20_000, attemptMs: 15_000, usedMs: 50_000, readAgainMs: 1_000 };
