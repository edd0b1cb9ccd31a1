import type { CommandReceipt, Thing } from "../../sdk/src/index.ts";
import { alarmTile } from "../../src/outlets/console/tiles/alarm-tile.ts";
import { lastKnown } from "../../src/outlets/console/tiles/as-of.ts";
import type { Button } from "../../src/outlets/console/tiles/button.ts";
import { deviceTile } from "../../src/outlets/console/tiles/device-tile.ts";
import { type Icon, iconOf } from "../../src/outlets/console/tiles/icons.ts";
import { thermostatTile } from "../../src/outlets/console/tiles/thermostat-tile.ts";
import { type Html, html } from "../../src/web/html.ts";
import type { DemoEcosystem } from "../ecosystems/ecosystem.ts";
import type { HomeView } from "./house-view.ts";

export interface HomeParts {
  readonly view: HomeView;
  readonly receipts: readonly CommandReceipt[];
  readonly ecosystem: Pick<DemoEcosystem, "walk">;
  readonly button: Button;
  readonly nowMs: number;
  /** Time of the last known state; undefined while the state is current. */
  readonly asOfMs: number | undefined;
}

/** Older receipts are not shown: they say nothing about the last press of a button. */
const receiptMs = 10 * 60_000;

/** A home with its devices. */
export function homeSection({ view, receipts, ecosystem, button, nowMs, asOfMs }: HomeParts): Html {
  const { home, thermostats, alarms, others } = view;
  const id = home?.thingId ?? "homeless";
  const isRefused = ecosystem.walk === "refusal" && presenceIn(home) !== "home";
  const receiptOf = ({ thingId }: Thing) =>
    receipts.find((receipt) => receipt.thingId === thingId && nowMs - receipt.requestedTime < receiptMs);
  return html`<section class="structure" aria-labelledby="${id}-name">
<div class="structure-head" data-part id="${id}">
<div><h2 id="${id}-name">${home ? (home.name ?? "Home") : "Devices without a home"}</h2>${home?.traits.presence && presenceLine(home, asOfMs)}</div>
${home?.traits.presence && sceneButtons(view, home.thingId, button)}
</div>
<div class="tiles">${thermostats.map((thing) => thermostatTile({ thing, receipt: receiptOf(thing), isRefused, button, asOfMs }))}</div>
<div class="tiles small">${alarms.map((alarm) => alarmTile(alarm, asOfMs))}</div>
<div class="tiles small">${others.map((thing) => deviceTile({ thing, receipt: receiptOf(thing), button, asOfMs }))}</div>
</section>`;
}

const presences: Readonly<Record<string, { readonly word: string; readonly was: string; readonly icon: Icon }>> = {
  home: { word: "Somebody is home", was: "Somebody was home", icon: "house" },
  away: { word: "Nobody is home", was: "Nobody was home", icon: "away" },
  autoAway: { word: "Nobody is home (auto-away)", was: "Nobody was home (auto-away)", icon: "away" },
};

/** Whether somebody is home; undefined if the ecosystem does not tell. */
function presenceIn(home: Thing | undefined): string | undefined {
  const { state, available } = home?.traits.presence?.state ?? {};
  return available?.value === false ? undefined : state?.value?.toString();
}

function presenceLine(home: Thing, asOfMs: number | undefined): Html {
  const presence = presenceIn(home) ?? "unknown";
  const known = presences[presence];
  const unknown = html`<p class="presence">${iconOf("offline")}<span>Presence unknown</span></p>`;
  if (known === undefined) return unknown;
  if (asOfMs !== undefined) return html`${unknown}${lastKnown(known.was, asOfMs)}`;
  return html`<p class="presence ${presence === "home" ? "is-home" : "is-away"}">${iconOf(known.icon)}<span>${known.word}</span></p>`;
}

/** Buttons that play scenes in the simulator. */
function sceneButtons({ home, alarms }: HomeView, thingId: string, button: Button): Html {
  const isQuiet = alarms.every(({ traits: { smoke, carbonMonoxide } }) =>
    [smoke, carbonMonoxide].every((trait) => trait?.state.state?.value === "clear"),
  );
  const main = { id: `presence:${thingId}`, kind: "main" } as const;
  const air = { id: `air:${thingId}` };
  return html`<div class="buttons">
${presenceIn(home) === "home" ? button("Leave home", `leave:${thingId}`, main) : button("Come home", `come-home:${thingId}`, main)}
${alarms.length === 0 ? undefined : isQuiet ? button("Make smoke", `smoke:${thingId}`, { ...air, kind: "danger" }) : button("Clear the air", `clear:${thingId}`, air)}
</div>`;
}
