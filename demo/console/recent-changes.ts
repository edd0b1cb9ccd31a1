import { type Html, html } from "../../src/web/html.ts";
import { labelOf } from "./attribute-label.ts";
import type { ChangeView, HouseView } from "./house-view.ts";

const maxCommits = 10;
/** Changes of one commit that are listed; of the others the page shows only the number. */
const maxChanges = 3;

/** The latest commits, each with its changes and its cause. */
export function recentChanges(view: HouseView): Html {
  const commits = [
    ...Map.groupBy(view.changes, ({ deviceId, updateTime }) => `${deviceId} ${updateTime}`).values(),
  ].slice(0, maxCommits);
  return html`<section class="card happened" data-part id="happened" aria-labelledby="happened-name">
<h2 id="happened-name">What happened</h2>
${commits.length === 0 ? html`<p class="hint">Nothing in the last half hour.</p>` : html`<ol>${commits.map((changes) => commitLine(changes, view))}</ol>`}
</section>`;
}

function commitLine(changes: readonly ChangeView[], view: HouseView): Html {
  const [first] = changes;
  const time = new Date(first!.updateTime).toISOString();
  // Changes that a device reported come before those of the summary attributes (o.), which are computed from them.
  const ordered = changes.toSorted((a, b) => Number(a.name.startsWith("o.")) - Number(b.name.startsWith("o.")));
  const [listed, more] = [ordered.slice(0, maxChanges), changes.length - maxChanges];
  const isLarge = changes.length > 3 * maxChanges;
  const what = isLarge
    ? html`<b>${changes.length} attributes</b> of device ${first!.deviceId}`
    : html`${listed.map((change) => html`<span class="change"><b>${labelOf(view, change.deviceId, change.name)}</b> <code>${change.value ?? "blank"}</code></span>`)}${more > 0 ? html`<span class="change">and ${more} more</span>` : undefined}`;
  return html`<li><time datetime="${time}">${time.slice(11, 19)}</time><div>${what}<span class="cause">${causeOf(first!, view)}</span></div></li>`;
}

function causeOf({ cause }: ChangeView, { alerts }: HouseView): string {
  if (cause.by === "ecosystem") return "reported by the ecosystem";
  if (cause.by !== "alert") return "written by a client";
  const alert = alerts.find(({ alertId }) => alertId === cause.alert);
  return `written by alert ${cause.alert}${alert ? `, because ${alert.attrName.replace(/^.*\./, "")} became ${alert.stringThreshold}` : ""}`;
}
