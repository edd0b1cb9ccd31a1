import type { Alert } from "../../sdk/src/index.ts";
import type { PageContext } from "../../src/outlets/console/console-page.ts";
import { commandButtons, stoppedButtons } from "../../src/outlets/console/tiles/console-button.ts";
import { deviceTile } from "../../src/outlets/console/tiles/device-tile.ts";
import { type Html, html } from "../../src/web/html.ts";
import type { HouseView } from "./house-view.ts";

/** The lamp, a device of the company's own, and the two alerts that switch it. */
export function lampCard({ home, lamp, alerts }: HouseView, { operator, address }: PageContext): Html {
  const { thing, receipt } = lamp;
  if (thing === undefined) return html`<p>The hall lamp was removed. The next start of the demo adds it again.</p>`;
  const asOfMs = thing.stale ? (thing.confirmedTime ?? 0) : undefined;
  const isStopped = operator.role === "viewer" || asOfMs !== undefined;
  const button = isStopped
    ? stoppedButtons(`${thing.thingId}-name`)
    : commandButtons(home.userId, address("/simulator"));
  return html`${deviceTile({ thing, receipt, button, asOfMs })}
<details id="lamp-alerts"><summary>Alerts that switch it</summary><ul class="lines">${alerts.map((alert) => alertLine(alert, home.link.state === "live"))}</ul></details>`;
}

/** What an alert waits for is known only while the home is. */
function alertLine({ alertId, attrName, stringThreshold, targets, enable, disarmed }: Alert, isKnown: boolean): Html {
  const writes = targets.map((target) => `${target.attrName} → ${target.value}`).join(", ");
  const status = enable ? (disarmed ? "fired, waits for a change" : "armed") : "off";
  return html`<li><span>Alert ${alertId}: when ${attrName.replace(/^.*\./, "")} is <code>${stringThreshold}</code>, ${writes}</span>${isKnown ? html` <span class="small">${status}</span>` : undefined}</li>`;
}
