import { cleanText } from "./clean-text.ts";

/**
 * The states of a fan request (docs/interface.md, Fan requests), as its receipt shows them. `queued`: stored; the
 * link's owner node will send it. `sending`: sent, at most once. `accepted`: the ecosystem accepted it. `confirmed`:
 * the stream showed the fan in the requested state. `contradicted`: the stream kept showing the other state.
 * `rejected`: refused, by Breezeway or by the ecosystem. `expired`: it is unknown whether the request was carried out.
 */
export const fanRequestStates = [
  "queued",
  "sending",
  "accepted",
  "confirmed",
  "contradicted",
  "rejected",
  "expired",
] as const;

export type FanRequestState = (typeof fanRequestStates)[number];

/**
 * All deadlines except `showMs` count from the time of the request, so that a request which waits for an owner node
 * also has an outcome within 35 s. `sendMs`: the request is sent only before this, so that there is time left for an
 * answer. `answerMs`: how long the node waits for the answer. `sweepMs`: a request that is still open then was left by
 * a dead node. `showMs`, counted from the sending: how long the stream has to show an accepted request.
 */
export const fanDeadlines = { sendMs: 20_000, answerMs: 30_000, sweepMs: 34_000, showMs: 60_000 };

/** What is known about a thermostat when a client requests its fan. Null: unknown. */
export interface FanView {
  readonly linkState: "live" | "waiting" | "needs_reauth";
  readonly thermostatId: string | null;
  readonly hasFan: string | null;
  readonly isOnline: string | null;
  readonly away: string | null;
  /** A rule of the ecosystem: some start a fan only while somebody is home. */
  readonly needsHome: boolean;
  readonly blockedUntilMs: number | null;
  readonly nowMs: number;
}

/** Why Breezeway refuses a request without asking the ecosystem; undefined when the ecosystem decides. */
export function fanRefusal(value: string, view: FanView): string | undefined {
  if (value !== "true" && value !== "false") return "Invalid value for fan_timer_active";
  if (view.linkState === "needs_reauth") return "The account must be linked again";
  if (view.thermostatId === null) return "Thermostat not found";
  if (view.blockedUntilMs !== null && view.nowMs < view.blockedUntilMs) {
    return `blocked until ${new Date(view.blockedUntilMs).toISOString()}`;
  }
  // The values of an account whose stream is not live may be stale: the ecosystem decides.
  if (view.linkState !== "live") return undefined;
  if (view.hasFan === "false") return "Thermostat does not have a fan";
  if (view.isOnline === "false") return "Thermostat is not online";
  // `unknown` stands for a word that Breezeway doesn't know: the ecosystem decides here too.
  if (view.needsHome && (view.away === "away" || view.away === "auto-away")) {
    return "Cannot change fan_timer_active while structure is away";
  }
  return undefined;
}

export const noAnswer = "no answer from the ecosystem";

/** The ecosystem's message as it is stored: verbatim, on one line. */
export function fanMessage(message: string): string {
  return cleanText(message).replaceAll(/\r\n|[\r\n\u2028\u2029]/g, " ");
}

/**
 * What `requestWrite` holds after a refusal: `error: <errormsg>, <badvalue>, <timestamp>`. Message and value may hold
 * commas; the timestamp is what follows the last.
 */
export function fanErrorText(message: string, badValue: string, timeMs: number): string {
  return `error: ${message}, ${badValue}, ${new Date(timeMs).toISOString()}`;
}

/**
 * Whether the value of `requestWrite` belongs to this request: its own value while it runs, blank, or its `no answer`
 * error. Any other value was written by a later request, and this one must not overwrite it.
 */
export function isAbout(
  request: { readonly value: string; readonly settledMs: number | null },
  shown: string | null,
): boolean {
  if (shown === null || shown === request.value) return true;
  return request.settledMs !== null && shown === fanErrorText(noAnswer, request.value, request.settledMs);
}
