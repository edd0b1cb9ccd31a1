import type { KnownDevice } from "../../../simulator/assistants/assistant.ts";
import { clock } from "../../../src/outlets/console/times.ts";
import { type Html, html } from "../../../src/web/html.ts";
import type { LeftOut } from "../../assistants/left-out.ts";
import type { AssistantButton } from "./assistant-button.ts";

export interface DeviceListParts {
  readonly title: string;
  /** Each with its room. */
  readonly devices: readonly KnownDevice[];
  readonly leftOut: readonly LeftOut[];
  readonly leftOutValues: string;
  /** Where the page has the rooms from, if the assistant is not told them. */
  readonly roomsFrom: string | undefined;
  readonly button: AssistantButton;
  /** The assistant still hears of changes. */
  readonly isCurrent: boolean;
}

/** The devices that the assistant knows, by room, and what is left out. */
export function deviceList(parts: DeviceListParts): Html {
  const { title, devices, leftOut, leftOutValues, roomsFrom, button, isCurrent } = parts;
  const sorted = devices.toSorted((a, b) => compare(a.room, b.room) || compare(a.name, b.name));
  const rooms = [...Map.groupBy(sorted, ({ room }) => room ?? "No room")];
  const byReason = [...Map.groupBy(leftOut, ({ reason }) => reason)];
  return html`<header class="card-head"><h2>What ${title} knows</h2>${button("Discover", "discover")}</header>
<p class="small">${countWords(devices.length)}${isCurrent ? "" : ", as it was before"}.${roomsFrom === undefined ? "" : ` ${roomsFrom}`}</p>
<div class="known">${rooms.map(([room, all]) => html`<div><h3>${room}</h3><ul class="devices">${all.map((device) => deviceEntry(device, isCurrent))}</ul></div>`)}</div>
<h3>Left out</h3>
<ul class="left-out">${byReason.map(([reason, some]) => html`<li><b>${some.map(({ thing: { name, kind } }) => `${name ?? "Unnamed"} (${kind})`).join(", ")}</b><span class="reason">${reason}</span></li>`)}
<li><span class="reason">${leftOutValues}</span></li></ul>`;
}

function deviceEntry({ name, kind, abilities, state, isReachable, reportedMs }: KnownDevice, isCurrent: boolean): Html {
  const isKnown = isCurrent && isReachable;
  const reportedAt = reportedMs === undefined ? html`` : html`reported at ${clock(reportedMs)}`;
  const says = isKnown ? state : isCurrent && state !== undefined ? "Not reachable" : "Unknown";
  const was = isKnown || state === undefined ? reportedAt : html`Last known: ${state}, ${reportedAt}`;
  return html`<li class="${isKnown ? "" : "is-not-known"}"><p><b>${name}</b> <span class="kind">${kind}</span></p>
<p class="told">${says}</p>
<p class="was">${state === undefined ? "no state reported yet" : was}</p>
<ul class="abilities" aria-label="What it can do">${abilities.map((ability) => html`<li>${ability}</li>`)}</ul></li>`;
}

function countWords(count: number): string {
  return count === 1 ? "One device" : `${count === 0 ? "No" : count} devices`;
}

/** Without a room last. */
function compare(one: string | undefined, other: string | undefined): number {
  if (one === undefined || other === undefined) return Number(one === undefined) - Number(other === undefined);
  return one.localeCompare(other);
}
