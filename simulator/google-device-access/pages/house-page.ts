import type { ActivityLog } from "../../activity-log.ts";
import { activityList } from "../../pages/activity-list.ts";
import { clip, type Html, html } from "../../pages/html.ts";
import type { Page } from "../../pages/page.ts";
import { type Account, type Device, titleOf } from "../account.ts";
import { type Choice, scenes } from "../scenes.ts";
import { traitOf } from "../thermostat-commands.ts";
import { site, siteMasthead } from "./site.ts";

export interface HouseView {
  readonly accounts: readonly Account[];
  /** The account that is shown; the first one when left out. */
  readonly shown?: Account | undefined;
  readonly log: ActivityLog;
  readonly notice?: string;
}

/** The page of an account: its devices, buttons for what may happen to it, and what was sent and received. */
export function housePage({ accounts, shown = accounts[0], log, notice }: HouseView): Page {
  const body = html`${siteMasthead}
<main class="wide">
${notice === undefined ? undefined : html`<p class="card notice" role="alert">${notice}</p>`}
${shown ? home(shown, accounts, log) : html`<section class="card"><h1>No account yet</h1></section>`}
</main>`;
  return { title: shown?.person ?? "No account yet", body, site };
}

function home(account: Account, accounts: readonly Account[], log: ActivityLog): Html {
  const structures = [...account.structures.values()];
  return html`<div class="columns">
<div>
<section class="card"><h1>The account of ${clip(account.person, 60)}</h1>
<p class="soft">${structures.map(({ customName }) => clip(customName, 60)).join(", ") || "No home"} · <a href="${addressOf(account)}">Look again</a></p>
<div class="tiles">${[...account.devices.values()].map((device) => tile(account, device))}</div></section>
<section class="card"><h2>Latest activity</h2>${activityList(log, account.userId)}</section>
</div>
<div>
<section class="card"><h2>Let something happen</h2>${buttons(account, "house")}</section>
<section class="card"><h2>Let something go wrong</h2>${buttons(account, "fault")}
<p class="soft">From a terminal: <code>curl -d scene=cold &lt;this address&gt;/simulator/scene</code></p></section>
${accounts.length > 1 ? otherAccounts(account, accounts) : undefined}
</div>
</div>`;
}

function tile(account: Account, device: Device): Html {
  const isShared = !account.withheld.has(device.name);
  return html`<div class="tile"><b>${clip(titleOf(device), 60)}</b>${words(device)}${isShared ? undefined : html`<br><span class="gray">not shared</span>`}</div>`;
}

function words(device: Device): Html {
  const { mode } = traitOf(device, "ThermostatMode");
  if (mode === undefined) return html`<span class="gray">no thermostat</span>`;
  const { ambientTemperatureCelsius: ambient } = traitOf(device, "Temperature");
  const { heatCelsius, coolCelsius } = traitOf(device, "ThermostatTemperatureSetpoint");
  const { status } = traitOf(device, "ThermostatHvac");
  const { timerMode } = traitOf(device, "Fan");
  const isEco = traitOf(device, "ThermostatEco").mode === "MANUAL_ECO";
  const isOffline = traitOf(device, "Connectivity").status === "OFFLINE";
  const targets = [heatCelsius, coolCelsius].filter((target) => target !== undefined).join("–");
  const facts = [
    `now ${ambient}°`,
    ...(targets === "" ? [] : [`target ${targets}°`]),
    String(isEco ? "MANUAL_ECO" : mode),
    String(status),
    ...(timerMode === undefined ? ["no fan"] : [`fan ${timerMode}`]),
  ];
  return html`<span class="${isOffline ? "gray" : ""}">${facts.join(", ")}${isOffline ? ", OFFLINE" : ""}</span>`;
}

function buttons({ userId }: Account, choice: Choice): Html {
  const offered = [...scenes].filter(([, scene]) => scene.choice === choice);
  return html`<form method="post" action="/simulator/scene"><input type="hidden" name="account" value="${userId}"><div class="buttons">
${offered.map(([name, { label }]) => html`<button name="scene" value="${name}">${label}</button>`)}
</div></form>`;
}

function otherAccounts(shown: Account, accounts: readonly Account[]): Html {
  const listed = accounts.filter((account) => account !== shown).slice(-12);
  return html`<section class="card"><h2>Other accounts</h2>
<ul>${listed.map((account) => html`<li><a href="${addressOf(account)}">${clip(account.person, 60)}</a></li>`)}</ul></section>`;
}

export function addressOf({ userId }: Account): string {
  return `/?account=${encodeURIComponent(userId)}`;
}
