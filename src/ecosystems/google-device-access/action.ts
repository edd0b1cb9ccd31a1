import { thermostatIn } from "../../home/reported-things.ts";
import type { Action, CommandOutcome } from "../connector.ts";
import { type CallJson, type JsonAnswer, retryAfterIn } from "../kit/json-call.ts";
import type { CallBudget } from "./call-budget.ts";
import { commandFor } from "./command.ts";
import { describeRefusal, refusalIn } from "./refusal.ts";

export interface ActionParts {
  readonly apiUrl: string;
  readonly call: CallJson;
  /** The account of a token, if it is followed: a token is replaced every hour, and two links may share an account. */
  readonly accountOf: (token: string) => string | undefined;
  /** Commands of one account, and commands to one thermostat. */
  readonly commands: CallBudget;
  readonly thermostat: CallBudget;
}

/** How long to wait after a refusal for too many calls that names no time. */
const defaultRetryMs = 60_000;

/** Sends one command, at most once. Google's own message is kept, because the user will read it. Never throws. */
export async function sendAction(
  parts: ActionParts,
  token: string,
  { key, step }: Action,
  signal: AbortSignal,
): Promise<CommandOutcome> {
  const device = thermostatIn(key);
  const command = commandFor(step);
  if (device === undefined || !command) return { state: "rejected", message: "Google has no such command." };
  const segments = device.split("/");
  if (segments.some((segment) => /^\.{0,2}$/.test(segment))) {
    return { state: "rejected", message: "Google has no device of this name." };
  }
  const account = parts.accountOf(token) ?? token;
  const waitMs = Math.max(parts.commands.waitMs(account), parts.thermostat.waitMs(device));
  if (waitMs > 0) {
    const message = "Google allows a thermostat 5 commands a minute and 100 an hour, and an account 10 a minute.";
    return { state: "rejected", message, retryAfterMs: Math.ceil(waitMs) };
  }
  parts.commands.take(account);
  parts.thermostat.take(device);
  const url = `${parts.apiUrl}/${segments.map(encodeURIComponent).join("/")}:executeCommand`;
  return outcomeOf(await parts.call({ method: "POST", url, token, body: command }, signal), token);
}

function outcomeOf(answer: JsonAnswer, token: string): CommandOutcome {
  if (!answer.isAnswered) return { state: "unanswered", detail: answer.detail };
  const { status, document, headers } = answer;
  if (status === 200) return { state: "accepted" };
  if (status === 401) return { state: "unauthorized" };
  if (status >= 500) return { state: "unanswered", detail: describeRefusal(status, document) };
  const { message = describeRefusal(status, document) } = refusalIn(document);
  const shown = message.includes(token) ? describeRefusal(status, document) : message;
  if (status !== 429) return { state: "rejected", message: shown };
  return { state: "rejected", message: shown, retryAfterMs: retryAfterIn(headers) ?? defaultRetryMs };
}
