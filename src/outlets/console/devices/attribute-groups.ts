import { type Html, html } from "../../../web/html.ts";
import { tableOf } from "../kit/table.ts";
import { ago } from "../times.ts";
import { historyStrip } from "./history-strip.ts";
import type { PastChange, PastChanges, ShownAttribute, ShownDevice } from "./shown-device.ts";

interface Group {
  readonly title: string;
  readonly slot: string;
  readonly withValue: readonly ShownAttribute[];
  readonly blank: readonly ShownAttribute[];
}

/** The attributes by thing: what changed last comes first, and slots without any value are folded. */
export function attributeGroups(device: ShownDevice, past: PastChanges, nowMs: number): Html {
  const groups = groupsOf(device);
  const byName = Map.groupBy(past.changes, ({ name }) => name);
  const shown = groups.filter(({ withValue }) => withValue.length > 0);
  const blank = groups.filter(({ withValue }) => withValue.length === 0);
  if (groups.length === 0) return html`<h2>Attributes</h2><p class="small">The device has no attribute yet.</p>`;
  return html`<h2>Attributes</h2>
${past.cut ? html`<p class="small">There are more changes than the strips show: they end before the newest.</p>` : undefined}
${shown.map((group) => groupTable(group, byName, past.from, nowMs))}
${
  blank.length === 0
    ? undefined
    : html`<details class="raw"><summary>${blank.length} blank ${blank.length === 1 ? "slot" : "slots"}</summary><p class="code">${blank.map(({ slot }) => slot).join(", ")}</p></details>`
}`;
}

function groupsOf({ attributes, deviceName }: ShownDevice): readonly Group[] {
  const groups = [...Map.groupBy(attributes, ({ slot }) => slot)].map(([slot, all]): Group => {
    const withValue = all.filter(({ value }) => value !== null).sort((a, b) => b.updateTime - a.updateTime);
    const blank = all.filter(({ value }) => value === null);
    return { slot, title: all[0]!.place.join(" › ") || deviceName, withValue, blank };
  });
  const newest = ({ withValue }: Group) => withValue[0]?.updateTime ?? 0;
  return groups.sort((a, b) => newest(b) - newest(a));
}

function groupTable(
  { title, slot, withValue, blank }: Group,
  byName: ReadonlyMap<string, readonly PastChange[]>,
  fromMs: number,
  nowMs: number,
): Html {
  return html`<h3><bdi>${title}</bdi>${slot === "" ? undefined : html` <span class="code soft">${slot}</span>`}</h3>
${tableOf<ShownAttribute>(
  `Attributes of ${title}`,
  [
    {
      title: "Attribute",
      cell: ({ field, name }) => html`<span class="code" title="${name}"><bdi>${field}</bdi></span>`,
    },
    { title: "Value", cell: ({ value }) => html`<bdi class="value">${shortened(value ?? "")}</bdi>` },
    { title: "Changed", cell: ({ updateTime }) => ago(updateTime, nowMs) },
    { title: "Last 24 hours", cell: ({ name }) => historyStrip(byName.get(name) ?? [], fromMs, nowMs) },
  ],
  withValue,
)}
${blank.length === 0 ? undefined : html`<p class="small">Blank: <span class="code">${blank.map(({ field }) => field).join(", ")}</span></p>`}`;
}

function shortened(value: string): string {
  return value.length > 200 ? `${value.slice(0, 200)}…` : value;
}

interface Slot {
  readonly slot: string;
  readonly title: string;
  readonly id: string;
}

/** Which thing has which slot of the virtual device. A slot stays with its thing while the thing is away. */
export function indexMap({ virtual, attributes }: ShownDevice): Html | undefined {
  if (!virtual) return undefined;
  const slots = [...Map.groupBy(attributes, ({ slot }) => slot)].flatMap(([slot, all]): readonly Slot[] => {
    const known = all.find(({ field }) => field === "device_id" || field === "structure_id");
    return known === undefined || known.value === null
      ? []
      : [{ slot, title: all[0]!.place.join(" › "), id: known.value }];
  });
  if (slots.length === 0) return html`<h2>Index map</h2><p class="small">No thing has a slot.</p>`;
  return html`<h2>Index map</h2>
${tableOf<Slot>(
  "Index map",
  [
    { title: "Slot", cell: ({ slot }) => html`<span class="code">${slot}</span>` },
    { title: "Thing", cell: ({ title }) => html`<bdi>${title}</bdi>` },
    { title: "Id at the ecosystem", cell: ({ id }) => html`<span class="code"><bdi>${id}</bdi></span>` },
  ],
  slots.sort((a, b) => a.slot.localeCompare(b.slot, "en", { numeric: true })),
)}
<p class="small">A slot stays with its thing, also while the thing is away.</p>`;
}
