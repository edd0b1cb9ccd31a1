import { nodeName } from "../../../model/node-name.ts";
import { type Html, html } from "../../../web/html.ts";
import type { PageContext } from "../console-page.ts";
import { type Ask, askLinks, typed } from "./ask.ts";
import { tableOf } from "./table.ts";

const quotaKinds = ["requestsPerMinute", "openStreams", "commandsPerMinute"] as const;
type QuotaKind = (typeof quotaKinds)[number];

/** Whose quotas a page shows: `{ client: "bwc_…" }` or `{ tenant: "42" }`. */
export type QuotasOf = { readonly client: string } | { readonly tenant: string };

/** The answer of `quota show`. */
export interface ShownQuotas {
  readonly quotas: Readonly<Record<QuotaKind, { readonly value: number; readonly isDefault: boolean }>>;
  readonly used: {
    readonly nodes: readonly ({ readonly nodeName: string } & Readonly<Record<QuotaKind, number>>)[];
    readonly silentNodes: readonly string[];
  };
}

const kindWords: Readonly<Record<QuotaKind, { readonly option: string; readonly words: string }>> = {
  requestsPerMinute: { option: "requests-per-minute", words: "Requests a minute" },
  openStreams: { option: "open-streams", words: "Open streams" },
  commandsPerMinute: { option: "commands-per-minute", words: "Commands a minute" },
};

/** Each quota with its value and its use, and the forms that change them. */
export function quotasPart(context: PageContext, here: string, of: QuotasOf, shown: ShownQuotas): Html {
  return html`<h2>Quotas</h2>
${tableOf<QuotaKind>(
  "Quotas",
  [
    { title: "Quota", cell: (kind) => kindWords[kind].words },
    {
      title: "Value",
      cell: (kind) =>
        html`${numberWords(shown.quotas[kind].value)} <span class="soft">${shown.quotas[kind].isDefault ? "default, on each node" : "set, on all nodes together"}</span>`,
    },
    { title: "Used now", cell: (kind) => useWords(kind, shown) },
  ],
  quotaKinds,
)}
<p class="small">Each request and command is free again as soon as its share of the minute has passed. So "used now" is not the number of the last minute.</p>
${askLinks(context, here, quotaAsks(of, shown))}`;
}

/** What is used now on each node. A node that does not answer is named: its use is not known. */
function useWords(kind: QuotaKind, { used: { nodes, silentNodes } }: ShownQuotas): string {
  const known = nodes.map((one) => `${numberWords(one[kind])}${nodes.length > 1 ? ` on ${one.nodeName}` : ""}`);
  const words = [...known, ...silentNodes.map((node) => `not known on ${nodeName(node)}`)];
  return words.join(", ") || "not known";
}

export function quotaAsks(of: QuotasOf, { quotas }: ShownQuotas): readonly Ask[] {
  const owner = "client" in of ? "client" : "tenant";
  const isAnySet = quotaKinds.some((kind) => !quotas[kind].isDefault);
  const set: Ask = {
    name: "quota-set",
    act: "quota set",
    link: "Set quotas",
    title: `Set quotas of the ${owner}`,
    words: "The nodes divide them, within seconds. A field that you leave empty keeps its value.",
    input: of,
    fields: html`${quotaKinds.map((kind, place) =>
      typed({
        option: kindWords[kind].option,
        label: kindWords[kind].words,
        hint: `Now ${numberWords(quotas[kind].value)}.`,
        type: "number",
        isFirst: place === 0,
      }),
    )}`,
    example: { ...of, "requests-per-minute": String(quotas.requestsPerMinute.value) },
    button: "Set",
  };
  if (!isAnySet) return [set];
  return [
    set,
    {
      name: "quota-reset",
      act: "quota reset",
      link: "Reset quotas",
      title: `Reset the quotas of the ${owner}`,
      words: "All its quotas have their default values again.",
      input: of,
      button: "Reset",
    },
  ];
}

function numberWords(value: number): string {
  return value.toLocaleString("en");
}
