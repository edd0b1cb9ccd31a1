import type { Alert } from "../../sdk/src/index.ts";
import { lastKnown } from "../../src/outlets/console/tiles/as-of.ts";
import { iconOf } from "../../src/outlets/console/tiles/icons.ts";
import { type Html, html } from "../../src/web/html.ts";
import { labelOf } from "./attribute-label.ts";
import type { HouseView } from "./house-view.ts";

/** The lamp, and the two alerts that drive it. */
export function lampTile(view: HouseView, asOfMs: number | undefined): Html {
  const { lamp, alerts } = view;
  const power = lamp.power ?? "unknown";
  const isKnown = asOfMs === undefined;
  const isOn = isKnown && lamp.power === "on";
  return html`<section class="card lamp ${isOn ? "is-on" : ""}" data-part id="lamp" aria-labelledby="lamp-name">
<header>${iconOf("lamp")}<div><h2 id="lamp-name">${lamp.name}</h2><p class="kind">An ordinary device, number ${lamp.deviceId}</p></div><p class="power">${isKnown ? power : "unknown"}</p></header>
${isKnown ? undefined : lastKnown(`Power was ${power}`, asOfMs)}
<ul class="alerts">${alerts.map((alert) => alertLine(alert, view, isKnown))}</ul>
</section>`;
}

function alertLine(alert: Alert, view: HouseView, isKnown: boolean): Html {
  const { alertId, deviceId, attrName, stringThreshold, targets, enable, disarmed } = alert;
  const writes = targets
    .map(({ deviceId: target, ...written }) => {
      const name = target === view.lamp.deviceId ? written.attrName : `${target} › ${written.attrName}`;
      return `${name} → ${written.value}`;
    })
    .join(", ");
  const status = enable ? (disarmed ? "fired, waits for a change" : "armed") : "off";
  return html`<li><span>Alert ${alertId}: when ${labelOf(view, deviceId, attrName)} is <code>${stringThreshold}</code>, ${writes}</span>${isKnown ? html` <span class="stands">${status}</span>` : undefined}</li>`;
}
