import { type Html, html } from "../../src/web/html.ts";
import { type ChangeView, type HouseView, labelOf } from "./reading.ts";

const shownAtMost = 10;
/** Of one commit; the rest is counted. */
const listedAtMost = 3;

/** The last things that happened, each with its cause. */
export function happenings(view: HouseView): Html {
  const commits = [
    ...Map.groupBy(view.changes, ({ deviceId, updateTime }) => `${deviceId} ${updateTime}`).values(),
  ].slice(0, shownAtMost);
  return html`<section class="card happened" data-part id="happened" aria-labelledby="happened-name">
<h2 id="happened-name">What happened</h2>
${commits.length === 0 ? html`<p class="hint">Nothing in the last half hour.</p>` : html`<ol>${commits.map((changes) => commitLine(changes, view))}</ol>`}
</section>`;
}

function commitLine(changes: readonly ChangeView[], view: HouseView): Html {
  const [first] = changes;
  const time = new Date(first!.updateTime).toISOString();
  const isWhole = changes.length > 3 * listedAtMost;
  const [listed, more] = [telling(changes).slice(0, listedAtMost), changes.length - listedAtMost];
  const what = isWhole
    ? html`<b>${changes.length} attributes</b> of device ${first!.deviceId}`
    : html`${listed.map((change) => html`<span class="change"><b>${labelOf(view, change)}</b> <code>${change.value ?? "blank"}</code></span>`)}${more > 0 ? html`<span class="change">and ${more} more</span>` : undefined}`;
  return html`<li><time datetime="${time}">${time.slice(11, 19)}</time><div>${what}<span class="cause">${causeOf(first!, view)}</span></div></li>`;
}

/** What a device says comes before what follows from it for the house. */
function telling(changes: readonly ChangeView[]): readonly ChangeView[] {
  return changes.toSorted((a, b) => Number(a.name.startsWith("o.")) - Number(b.name.startsWith("o.")));
}

/** Who did it, and what made them. */
function causeOf({ cause }: ChangeView, { alerts }: HouseView): string {
  if (cause.by === "ecosystem") return "told by the ecosystem";
  if (cause.by !== "alert") return "written by a client";
  const alert = alerts.find(({ alertId }) => alertId === cause.alert);
  return `written by alert ${cause.alert}${alert ? `, because ${alert.attrName.replace(/^.*\./, "")} became ${alert.stringThreshold}` : ""}`;
}
