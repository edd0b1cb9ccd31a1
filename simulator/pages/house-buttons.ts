import type { Account } from "../accounts/account.ts";
import type { Ecosystem } from "../ecosystem.ts";
import type { JsonObject } from "../home/json.ts";
import { clip, type Html, html, textOf } from "./html.ts";

/** The scenes that have a button. */
const sceneLabels: Readonly<Record<string, string>> = {
  leave: "Leave",
  "come-home": "Come home",
  "auto-away": "Auto-away",
  smoke: "Smoke emergency",
  "co-warning": "CO warning",
  clear: "Clear the air",
  "fan-on": "Start a fan",
  "fan-off": "Stop a fan",
  "thermostat-offline": "Thermostat offline",
  "thermostat-online": "Thermostat online",
  "add-thermostat": "Add a thermostat",
  "add-alarm": "Add an alarm",
  "remove-thermostat": "Remove a thermostat",
  "remove-alarm": "Remove an alarm",
  move: "Move a device",
  return: "Bring back a removed device",
  "add-structure": "Add a structure",
  "remove-structure": "Remove the structure",
  "fill-up": "Fill up",
  random: "Surprise me",
};

const sceneWithoutStructure: ReadonlySet<string> = new Set(["return", "add-structure", "fill-up", "random"]);

/** The faults that have a button. */
export const faultButtonsByName: ReadonlyMap<string, { readonly label: string; readonly fault: JsonObject }> = new Map([
  ["drop", { label: "Drop the stream", fault: { fault: "drop" } }],
  ["silence", { label: "Silence it", fault: { fault: "silence" } }],
  ["keep-alives-only", { label: "Keep-alives only", fault: { fault: "keep-alives-only" } }],
  ["slow", { label: "Slow, 2 s", fault: { fault: "slow", ms: 2000 } }],
  ["cut-mid-frame", { label: "Cut in mid-event", fault: { fault: "cut-mid-frame", times: 1 } }],
  ["malformed", { label: "Malformed event", fault: { fault: "malformed", times: 1 } }],
  ["duplicate", { label: "Everything twice", fault: { fault: "duplicate" } }],
  ["too-many-requests", { label: "429 for a minute", fault: { fault: "too-many-requests", forMs: 60_000 } }],
  ["unauthorized", { label: "401", fault: { fault: "unauthorized" } }],
  ["server-error", { label: "503", fault: { fault: "server-error", status: 503 } }],
  ["reject-fan", { label: "Reject the fan", fault: { fault: "reject-fan" } }],
  ["accept-then-revert", { label: "Fan on, then off", fault: { fault: "accept-then-revert" } }],
  ["withhold-answer", { label: "Withhold answers", fault: { fault: "withhold-answer" } }],
]);

/** The scene of a pressed button, with its arguments. */
export function sceneOf(form: URLSearchParams): JsonObject {
  const scene = form.get("scene") ?? "";
  const structure = form.get("structure");
  const name = form.get("name");
  return {
    scene,
    ...(structure && !sceneWithoutStructure.has(scene) && { structure }),
    ...(scene === "rename" && name && { name }),
  };
}

export function sceneButtons(account: Account): Html {
  const structures = Object.values(account.readable?.structures ?? {});
  const options = structures.map(
    ({ structure_id: id, name }) => html`<option value="${id}">${clip(textOf(name), 60)}</option>`,
  );
  const choice = html`<p><select name="structure" aria-label="Structure">${options}</select></p>`;
  return html`<form method="post" action="/simulator/page">${hiddenAccount(account)}
${structures.length > 1 ? choice : undefined}
<div class="buttons">
${Object.entries(sceneLabels).map(([scene, label]) => html`<button name="scene" value="${scene}">${label}</button>`)}
</div>
<div class="row"><input type="text" name="name" aria-label="New name of the structure" placeholder="New name" maxlength="100"><button name="scene" value="rename">Rename</button></div>
</form>`;
}

export function faultButtons({ faults }: Ecosystem, account: Account): Html {
  const active = faults.shown.filter(({ accountId = account.accountId }) => accountId === account.accountId);
  const rows = active.map(({ id, fault, accountId, ...details }) => {
    const text = Object.entries(details).map(([name, value]) => `${name} ${textOf(value)}`);
    const scope = accountId === undefined ? "every account" : "this account";
    return html`<div class="row"><span>${clip([fault, ...text, scope].join(" · "), 160)}</span><button name="clear" value="${id}">Clear</button></div>`;
  });
  return html`<form method="post" action="/simulator/page">${hiddenAccount(account)}
${rows}
${rows.length > 1 ? html`<p><button name="clear" value="all">Clear all</button></p>` : undefined}
<div class="buttons">
${[...faultButtonsByName].map(([name, { label }]) => html`<button name="fault" value="${name}">${label}</button>`)}
</div></form>`;
}

/** The clients with access to the account, each with a button that ends it. */
export function appsWithAccess({ grants, clients }: Ecosystem, account: Account): Html {
  const byClient = Map.groupBy(grants.of(account), ({ clientId }) => clientId);
  const rows = [...byClient].map(([clientId, { length: tokens }]) => {
    const name = clip(clients.find(clientId)?.name ?? clientId, 60);
    const count = tokens === 1 ? "1 token" : `${tokens} tokens`;
    return html`<div class="row"><span>${name} · ${count}</span><button name="end" value="${clientId}">End access</button></div>`;
  });
  if (rows.length === 0) return html`<p class="soft">None.</p>`;
  return html`<form method="post" action="/simulator/page">${hiddenAccount(account)}${rows}</form>`;
}

function hiddenAccount({ accountId }: Account): Html {
  return html`<input type="hidden" name="account" value="${accountId}">`;
}
