import { cleanText } from "./clean-text.ts";

/**
 * The states of a fan request (interface 3), as its receipt tells them. `queued`: written, the owner of the link will
 * send it. `sending`: sent once, and never again. `accepted`: the ecosystem took it. `confirmed`: its stream showed the
 * fan so. `contradicted`: the stream went on showing it otherwise. `rejected`: refused, here or there. `expired`: nobody
 * knows whether it was carried out.
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
 * All but the last count from when it was asked for, so that a request which had to wait for an owner of its link, or for
 * the next one, keeps its promise too: an outcome within 35 s. It is sent only while there is time left for an answer,
 * which is waited for that long; what is still open at the sweep has nobody who waits for it. What the ecosystem took,
 * its stream has so long to show from the sending.
 */
export const fanDeadlines = { sendMs: 20_000, answerMs: 30_000, sweepMs: 34_000, showMs: 60_000 };

/** What is known about a thermostat when somebody wants its fan to do something. Null: nobody knows. */
export interface FanView {
  readonly linkState: "live" | "waiting" | "needs_reauth";
  readonly thermostatId: string | null;
  readonly hasFan: string | null;
  readonly isOnline: string | null;
  readonly away: string | null;
  /** A condition of the ecosystem's own: some start a fan only while somebody is home. */
  readonly needsHome: boolean;
  readonly blockedUntilMs: number | null;
  readonly nowMs: number;
}

/** Why a request is refused here, without asking the ecosystem; undefined when it is for the ecosystem to decide. */
export function fanRefusal(value: string, view: FanView): string | undefined {
  if (value !== "true" && value !== "false") return "Invalid value for fan_timer_active";
  if (view.linkState === "needs_reauth") return "The account must be linked again";
  if (view.thermostatId === null) return "Thermostat not found";
  if (view.blockedUntilMs !== null && view.nowMs < view.blockedUntilMs) {
    return `blocked until ${new Date(view.blockedUntilMs).toISOString()}`;
  }
  // What is shown of an account that isn't followed now may be old: in doubt the ecosystem decides.
  if (view.linkState !== "live") return undefined;
  if (view.hasFan === "false") return "Thermostat does not have a fan";
  if (view.isOnline === "false") return "Thermostat is not online";
  // `unknown` is what we show for a word that we don't know: that too is for the ecosystem to decide.
  if (view.needsHome && (view.away === "away" || view.away === "auto-away")) {
    return "Cannot change fan_timer_active while structure is away";
  }
  return undefined;
}

export const noAnswer = "no answer from the ecosystem";

/** The ecosystem's words as they are kept: word for word, on one line. */
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
 * Whether what `requestWrite` shows is about this request: its value, while it runs; nothing; or that nobody answered
 * it. Anything else was written there by a later one, and is not for this one to touch.
 */
export function isAbout(
  request: { readonly value: string; readonly settledMs: number | null },
  shown: string | null,
): boolean {
  if (shown === null || shown === request.value) return true;
  return request.settledMs !== null && shown === fanErrorText(noAnswer, request.value, request.settledMs);
}
