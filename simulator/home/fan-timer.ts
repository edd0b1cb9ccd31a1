import type { AccountDocument, Thermostat } from "./account-document.ts";
import { changeThermostat } from "./edits.ts";
import { entryOf } from "./element.ts";
import { never } from "./new-structure.ts";

const defaultMinutes = 15;
const longestMinutes = 60 * 24 * 365;

/** Starts the fan for the minutes that the account has set; one that runs already starts anew. */
export function startFan(document: AccountDocument, thermostatId: string, nowMs: number): AccountDocument {
  const thermostat = entryOf(document.devices?.thermostats, thermostatId);
  if (thermostat === undefined) return document;
  const timeoutMs = nowMs + minutesOf(thermostat) * 60_000;
  return changeThermostat(document, thermostatId, {
    fan_timer_active: true,
    fan_timer_timeout: new Date(timeoutMs).toISOString(),
  });
}

export function stopFan(document: AccountDocument, thermostatId: string): AccountDocument {
  return changeThermostat(document, thermostatId, { fan_timer_active: false, fan_timer_timeout: never });
}

/** A document that was put in from outside may hold anything here. */
function minutesOf(thermostat: Thermostat): number {
  const minutes: unknown = thermostat.fan_timer_duration;
  return typeof minutes === "number" && minutes > 0 && minutes <= longestMinutes ? minutes : defaultMinutes;
}
