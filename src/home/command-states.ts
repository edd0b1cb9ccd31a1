/**
 * The states of a command (docs/interface.md, Commands), as its receipt shows them. `queued`: stored; the link's
 * owner node will send it. `sending`: sent, at most once. `accepted`: the ecosystem accepted it. `confirmed`:
 * the thing showed the requested state. `contradicted`: the thing kept showing another state.
 * `rejected`: refused, by Breezeway or by the ecosystem. `expired`: it is unknown whether the request was carried out.
 */
export const commandStates = [
  "queued",
  "sending",
  "accepted",
  "confirmed",
  "contradicted",
  "rejected",
  "expired",
] as const;

export type CommandState = (typeof commandStates)[number];

/**
 * All deadlines except the last two count from the time of the request, so that a request which waits for an owner node
 * also has an outcome within 35 s. `sendMs`: the request is sent only before this, so that there is time left for an
 * answer. `answerMs`: how long the node waits for the answer. `sweepMs`: a request that is still open then was left by
 * a dead node. `showMs`, counted from the sending: how long the stream has to show an accepted request. `causedMs`: how
 * long a state that the request caused may still differ from it, if the ecosystem says what caused a state.
 */
export const commandDeadlines = { sendMs: 20_000, answerMs: 30_000, sweepMs: 34_000, showMs: 60_000, causedMs: 2_000 };
