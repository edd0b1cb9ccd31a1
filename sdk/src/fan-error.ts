/** Why a fan request failed, parsed from the text in `requestWrite`. */
export interface FanError {
  /** The message to show the user, from the ecosystem or from the service. */
  readonly message: string;
  /** The value of the failed request: "true" or "false". */
  readonly badValue: string;
  /** When the request failed (ISO 8601). */
  readonly time: string;
  /** The outcome is unknown: the ecosystem may still carry the request out. */
  readonly isUnanswered: boolean;
}

const prefix = "error: ";
/** The service's message when the ecosystem did not answer. */
const noAnswer = "no answer from the ecosystem";

/**
 * Takes `error: <errormsg>, <badvalue>, <timestamp>` apart; undefined when the text is no error. Message and value may
 * contain commas: the time follows the last comma, and `written` shows where the value begins.
 */
export function parseFanError(text: string, written: string): FanError | undefined {
  if (!text.startsWith(prefix)) return undefined;
  const timeAt = text.lastIndexOf(", ");
  const rest = text.slice(prefix.length, Math.max(prefix.length, timeAt));
  // The text may belong to another client's request, with another value.
  const badAt = rest.endsWith(`, ${written}`) ? rest.length - written.length - 2 : rest.lastIndexOf(", ");
  const message = badAt < 0 ? rest : rest.slice(0, badAt);
  return {
    message,
    badValue: badAt < 0 ? "" : rest.slice(badAt + 2),
    time: timeAt < 0 ? "" : text.slice(timeAt + 2),
    isUnanswered: message === noAnswer,
  };
}

/** @internal */
export function unansweredFan(message: string, badValue: string): FanError {
  return { message, badValue, time: new Date().toISOString(), isUnanswered: true };
}
