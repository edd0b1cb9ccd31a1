import type { AlarmState, SmokeCoAlarm } from "./account-document.ts";

/** The colour that the owner sees: an aggregate of reachability, both alarm states and the battery. */
export function colorOf(alarm: SmokeCoAlarm): SmokeCoAlarm["ui_color_state"] {
  if (!alarm.is_online) return "gray";
  const state = worstState([alarm.co_alarm_state, alarm.smoke_alarm_state]);
  if (state === "emergency") return "red";
  return state === "warning" || alarm.battery_health === "replace" ? "yellow" : "green";
}

export function worstState(states: readonly AlarmState[]): AlarmState {
  if (states.includes("emergency")) return "emergency";
  return states.includes("warning") ? "warning" : "ok";
}
