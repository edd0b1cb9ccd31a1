import { cleanText } from "../model/clean-text.ts";

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
