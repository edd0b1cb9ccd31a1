/** Why a fan doesn't run, taken from the text that the service keeps of it. */
export interface FanError {
  /** What to show the user: the ecosystem's own words, or the service's. */
  readonly message: string;
  /** What was written. */
  readonly badValue: string;
  /** When it arose (ISO 8601). */
  readonly time: string;
  /** The outcome is unknown: the fan may still start. */
  readonly isUnanswered: boolean;
}

const prefix = "error: ";
/** How the service says that the ecosystem was silent. */
const silence = "no answer from the ecosystem";

/**
 * Takes `error: <errormsg>, <badvalue>, <timestamp>` apart; undefined when the text is no error. Message and value may
 * hold commas: the time is what follows the last one, and what was written is known.
 */
export function parseFanError(text: string, written: string): FanError | undefined {
  if (!text.startsWith(prefix)) return undefined;
  const timeAt = text.lastIndexOf(", ");
  const rest = text.slice(prefix.length, Math.max(prefix.length, timeAt));
  // Somebody else's request may have brought this text about, with another value.
  const badAt = rest.endsWith(`, ${written}`) ? rest.length - written.length - 2 : rest.lastIndexOf(", ");
  const message = badAt < 0 ? rest : rest.slice(0, badAt);
  return {
    message,
    badValue: badAt < 0 ? "" : rest.slice(badAt + 2),
    time: timeAt < 0 ? "" : text.slice(timeAt + 2),
    isUnanswered: message === silence,
  };
}

/** @internal */
export function unansweredFan(message: string, badValue: string): FanError {
  return { message, badValue, time: new Date().toISOString(), isUnanswered: true };
}
