import type { CommandOutcome, FanCommand } from "../connector.ts";
import type { NestApi } from "./api.ts";
import { readBody } from "./body.ts";
import { isJsonObject, parseJson } from "./parse-json.ts";

/**
 * Sends a fan command, once. 200 means that the cloud accepted it, not that the fan runs: that comes on the stream. The
 * ecosystem's own words are kept, for they are what the user will read.
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

/** A block lasts up to an hour; whoever says longer, or says nonsense, isn't believed. */
const longestBlockMs = 3_600_000;

/**
 * Retry-After is seconds or a date (RFC 9110 10.2.3); anything else is as if it weren't there. A date is one of the
 * ecosystem's clock, and so is that of its answer: how far they are apart, no wrong clock of ours can change.
 */
export function readRetryAfter(value: string | undefined, answeredMs: number): number | undefined {
  if (value === undefined) return undefined;
  const nowMs = Number.isNaN(answeredMs) ? Date.now() : answeredMs;
  const waitMs = /^\d{1,9}$/.test(value.trim()) ? Number(value) * 1_000 : Date.parse(value) - nowMs;
  return waitMs > 0 ? Math.min(waitMs, longestBlockMs) : undefined;
}
