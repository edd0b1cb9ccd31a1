import { clip, type Html, html } from "../../pages/html.ts";
import type { Page } from "../../pages/page.ts";
import type { EntityState, Instance } from "../instance.ts";
import { scenes } from "../scenes.ts";
import { site, siteMasthead } from "./site.ts";

/** The page of the house: its entities by room, and buttons for what may happen there. */
export function instancePage(instance: Instance, notice?: string): Page {
  const { locationName, runState, temperatureUnit, entities, devices, areas, states } = instance;
  const roomOf = (entityId: string) => {
    const entry = entities.get(entityId);
    const device = entry?.device_id ? devices.get(entry.device_id) : undefined;
    return areas.get(entry?.area_id ?? device?.area_id ?? "")?.name ?? "Without a room";
  };
  const byRoom = Map.groupBy(states, ([entityId]) => roomOf(entityId));
  const rooms = [...byRoom].map(([room, found]) => roomTiles(room, found));
  const body = html`${siteMasthead}
<main class="wide">
${notice === undefined ? undefined : html`<p class="card notice" role="alert">${notice}</p>`}
<div class="columns">
<section class="card"><h1>${clip(locationName, 60)}</h1>
<p class="soft">${runState === "RUNNING" ? "Running" : "Starting"} · temperatures in ${temperatureUnit} · <a href="/">Look again</a></p>
${rooms}</section>
<section class="card"><h2>Let something happen</h2>
<form method="post" action="/simulator/scene"><div class="buttons">
${[...scenes].map(([name, { label }]) => html`<button name="scene" value="${name}">${label}</button>`)}
</div></form>
<p class="soft">From a terminal: <code>curl -d scene=smoke &lt;this address&gt;/simulator/scene</code></p></section>
</div>
</main>`;
  return { title: locationName, body, site };
}

function roomTiles(room: string, found: readonly (readonly [entityId: string, state: EntityState])[]): Html {
  return html`<h3>${clip(room, 60)}</h3>
<div class="tiles">${found.map(([entityId, state]) => tile(entityId, state))}</div>`;
}

function tile(entityId: string, { state, attributes }: EntityState): Html {
  const name = clip(String(attributes.friendly_name ?? entityId), 60);
  const isDanger = ["smoke", "carbon_monoxide"].includes(String(attributes.device_class));
  const look = state === "unavailable" ? "gray" : isDanger ? (state === "on" ? "red" : "green") : "";
  return html`<div class="tile"><b>${name}</b><span class="soft">${clip(entityId, 60)}</span><br><span class="${look}">${words(state, attributes)}</span></div>`;
}

function words(state: string, attributes: EntityState["attributes"]): string {
  const {
    current_temperature: current,
    temperature,
    fan_mode: fan,
    brightness,
    percentage,
    unit_of_measurement: unit,
  } = attributes;
  const details = [
    typeof current === "number" ? `now ${current}°` : "",
    typeof temperature === "number" ? `target ${temperature}°` : "",
    typeof fan === "string" ? `fan ${fan}` : "",
    typeof brightness === "number" ? `${Math.round((brightness * 100) / 255)} %` : "",
    typeof percentage === "number" ? `${percentage} %` : "",
  ].filter((text) => text !== "");
  return clip([`${state}${typeof unit === "string" ? ` ${unit}` : ""}`, ...details].join(", "), 120);
}
