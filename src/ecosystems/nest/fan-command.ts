import type { CommandOutcome, FanCommand } from "../connector.ts";
import { readBody } from "../kit/body.ts";
import { isJsonObject, parseJson } from "../kit/parse-json.ts";
import { readRetryAfter } from "../kit/retry-after.ts";
import type { NestApi } from "./api.ts";

/**
 * Sends a fan command, at most once. 200 means that the cloud accepted it; the stream shows whether the fan runs. The
 * ecosystem's own message is kept, because the user will read it.
 */
export async function sendFanCommand(
  api: NestApi,
  token: string,
  { thermostatId, isOn }: FanCommand,
  signal: AbortSignal,
): Promise<CommandOutcome> {
  const path = `/devices/thermostats/${encodeURIComponent(thermostatId)}`;
  const body = JSON.stringify({ fan_timer_active: isOn });
  const answered = await api.call(token, { method: "PUT", path, accept: "application/json", body }, signal);
  if (!answered.isAnswered) {
    const { reason, detail } = answered.end;
    return reason === "unreachable" ? { state: "unanswered", detail } : { state: "rejected", message: detail };
  }
  const { statusCode, headers } = answered.response;
  const answer = await readBody(answered.response, signal);
  if (statusCode === 200) return { state: "accepted" };
  if (statusCode === 401) return { state: "unauthorized" };
  const message = messageIn(answer) ?? `the ecosystem answered ${statusCode}`;
  const retryAfterMs =
    statusCode === 429 ? readRetryAfter(headers["retry-after"], Date.parse(headers.date ?? "")) : undefined;
  return retryAfterMs === undefined ? { state: "rejected", message } : { state: "rejected", message, retryAfterMs };
}

function messageIn(body: string | undefined): string | undefined {
  const error = body === undefined ? undefined : parseJson(body);
  return isJsonObject(error) && typeof error.message === "string" && error.message !== "" ? error.message : undefined;
}
