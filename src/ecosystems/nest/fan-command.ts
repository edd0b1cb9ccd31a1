import type { CommandOutcome, FanCommand } from "../connector.ts";
import type { NestApi } from "./api.ts";
import { readBody } from "./body.ts";
import { isJsonObject, parseJson } from "./parse-json.ts";

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

/** Longer Retry-After times are clamped: a block lasts at most an hour. */
const longestBlockMs = 3_600_000;

/**
 * Parses Retry-After: seconds or a date (RFC 9110 10.2.3); anything else is ignored. A date is compared with the Date
 * header of the same answer, so a wrong clock of this node doesn't matter.
 */
export function readRetryAfter(value: string | undefined, answeredMs: number): number | undefined {
  if (value === undefined) return undefined;
  const nowMs = Number.isNaN(answeredMs) ? Date.now() : answeredMs;
  const waitMs = /^\d{1,9}$/.test(value.trim()) ? Number(value) * 1_000 : Date.parse(value) - nowMs;
  return waitMs > 0 ? Math.min(waitMs, longestBlockMs) : undefined;
}
