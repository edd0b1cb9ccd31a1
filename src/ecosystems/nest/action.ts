import type { Step, StepOf } from "../../home/command-plan.ts";
import { thermostatIn } from "../../home/reported-things.ts";
import type { ThermostatMode } from "../../home/traits/thermostat.ts";
import { isJsonObject } from "../../runtime/json/untrusted-json.ts";
import type { Action, CommandOutcome } from "../connector.ts";
import { readSmallJson } from "../kit/body.ts";
import { readRetryAfter } from "../kit/retry-after.ts";
import type { NestApi } from "./api.ts";

/**
 * Writes to a thermostat, at most once. 200 means that the cloud accepted it; the stream shows whether the thermostat
 * did it. The ecosystem's own message is kept, because the user will read it.
 */
export async function sendAction(
  api: NestApi,
  token: string,
  { key, step }: Action,
  signal: AbortSignal,
): Promise<CommandOutcome> {
  const thermostatId = thermostatIn(key);
  const fields = fieldsOf(step);
  if (thermostatId === undefined || !fields) {
    return { state: "rejected", message: "The ecosystem has no such command" };
  }
  const path = `/devices/thermostats/${encodeURIComponent(thermostatId)}`;
  const body = JSON.stringify(fields);
  const answered = await api.write(token, { method: "PUT", path, accept: "application/json", body }, signal);
  if (!answered.isAnswered) {
    const { reason, detail } = answered.end;
    return reason === "unreachable" ? { state: "unanswered", detail } : { state: "rejected", message: detail };
  }
  const { statusCode, headers } = answered.response;
  const answer = await readSmallJson(answered.response, signal);
  if (statusCode === 200) return { state: "accepted" };
  if (statusCode === 401) return { state: "unauthorized" };
  const message = messageIn(answer) ?? `the ecosystem answered ${statusCode}`;
  const retryAfterMs =
    statusCode === 429 ? readRetryAfter(headers["retry-after"], Date.parse(headers.date ?? "")) : undefined;
  const reason = reasonIn(message);
  return {
    state: "rejected",
    message,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(reason !== undefined && { reason }),
  };
}

/** The fields of a thermostat that a step writes; undefined when the ecosystem has none for it. */
function fieldsOf(step: Step): Readonly<Record<string, unknown>> | undefined {
  if (step.trait === "fanTimer") {
    const { set, forMinutes } = step;
    return { fan_timer_active: set.active, ...(forMinutes !== undefined && { fan_timer_duration: forMinutes }) };
  }
  return step.trait === "thermostat" ? thermostatFields(step.set) : undefined;
}

function thermostatFields({
  mode,
  targetCelsius,
  heatCelsius,
  coolCelsius,
}: StepOf<"thermostat">["set"]): Readonly<Record<string, unknown>> | undefined {
  if (mode) return words[mode] === undefined ? undefined : { hvac_mode: words[mode] };
  if (targetCelsius !== undefined) return { target_temperature_c: targetCelsius };
  if (heatCelsius === undefined || coolCelsius === undefined) return undefined;
  return { target_temperature_low_c: heatCelsius, target_temperature_high_c: coolCelsius };
}

const words: Readonly<Partial<Record<ThermostatMode, string>>> = {
  off: "off",
  heat: "heat",
  cool: "cool",
  heatCool: "heat-cool",
  eco: "eco",
};

function messageIn(error: unknown): string | undefined {
  return isJsonObject(error) && typeof error.message === "string" && error.message !== "" ? error.message : undefined;
}

/** What a published message means. Messages that were never published are left to the reader. */
function reasonIn(message: string): "offline" | "notHome" | undefined {
  if (message === "Thermostat is not online") return "offline";
  return message === "Cannot change fan_timer_active while structure is away" ? "notHome" : undefined;
}
