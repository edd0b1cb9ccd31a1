import type { Account } from "../accounts/account.ts";
import type { AccountDocument, SmokeCoAlarm, Structure, Thermostat } from "../home/account-document.ts";
import { entryOf } from "../home/element.ts";
import { clip, type Html, html, textOf } from "./html.ts";

/** Each structure of the account with its devices. A replaced document may hold any value. */
export function rooms({ readable }: Account): Html {
  const structures = Object.values(readable?.structures ?? {});
  if (readable === undefined) return html`<p>The document was replaced by one that is no home.</p>`;
  if (structures.length === 0) return html`<p>The account has no structure.</p>`;
  return html`${structures.map((structure) => structureTiles(readable, structure))}`;
}

function structureTiles({ devices }: AccountDocument, structure: Structure): Html {
  const thermostats = (structure.thermostats ?? []).map((id) => entryOf(devices?.thermostats, id));
  const alarms = (structure.smoke_co_alarms ?? []).map((id) => entryOf(devices?.smoke_co_alarms, id));
  return html`<h3>${clip(textOf(structure.name), 60)} · ${textOf(structure.away)}</h3>
<div class="tiles">
${thermostats.filter((device) => device !== undefined).map(thermostatTile)}
${alarms.filter((device) => device !== undefined).map(alarmTile)}
</div>`;
}

function thermostatTile(thermostat: Thermostat): Html {
  const { temperature_scale: scale, ambient_temperature_c: celsius, ambient_temperature_f: fahrenheit } = thermostat;
  const reading = scale === "F" ? `${fahrenheit} °F` : `${celsius} °C`;
  const fan = thermostat.fan_timer_active
    ? `fan runs until ${textOf(thermostat.fan_timer_timeout).slice(11, 16)} UTC`
    : "fan off";
  const text = thermostat.is_online ? `${reading}, ${fan}` : "offline";
  return tile(thermostat.name, "Thermostat", html`<span class="${thermostat.is_online ? "" : "gray"}">${text}</span>`);
}

function alarmTile(alarm: SmokeCoAlarm): Html {
  const color = ["green", "yellow", "red"].includes(alarm.ui_color_state) ? alarm.ui_color_state : "gray";
  const states = `smoke ${textOf(alarm.smoke_alarm_state)}, CO ${textOf(alarm.co_alarm_state)}`;
  const text = alarm.is_online ? states : "offline";
  return tile(alarm.name, "Alarm", html`<span class="${color}">● ${text}</span>`);
}

function tile(name: unknown, kind: string, text: Html): Html {
  return html`<div class="tile"><b>${clip(textOf(name), 60)}</b><span class="soft">${kind}</span><br>${text}</div>`;
}
