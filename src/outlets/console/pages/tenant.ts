import { type Html, html } from "../../../web/html.ts";
import { named } from "../../../web/page.ts";
import type { ConsolePage, PageContext } from "../console-page.ts";
import { type Ask, askLinks, openAsk, typed } from "../kit/ask.ts";
import { quotaAsks, quotasPart, type ShownQuotas } from "../kit/quotas.ts";
import { factsOf, tableOf } from "../kit/table.ts";
import { when } from "../kit/times.ts";
import { previews, tenantPreview } from "./tenant-previews.ts";

interface ShownTenant {
  readonly tenantId: number;
  readonly name: string;
  readonly accent: string | null;
  readonly supportUrl: string | null;
  readonly logo: { readonly type: string; readonly bytes: number } | null;
  readonly terms: {
    readonly version: string;
    readonly date: string;
    readonly text: string;
    readonly requireAcceptance: boolean;
    readonly refreshesEnd: string | null;
  } | null;
}

interface ShownEcosystem {
  readonly ecosystem: string;
  readonly name: string;
  readonly hasLinkPage: boolean;
}

interface ShownType {
  readonly name: string;
  readonly changedMs: number;
}

/** One tenant: the branding of its pages, its terms, its quotas and its device types. */
export const tenant: ConsolePage = {
  path: "/tenants/:id",
  title: "Tenant",
  subject: "tenants",
  query: ["preview"],
  async preview({ call, parameter }) {
    const wanted = parameter("preview");
    if (wanted === undefined) return undefined;
    return tenantPreview(wanted, await call("tenant show", { tenant: parameter("id") }));
  },
  async render(context) {
    const { call, address, nowMs, parameter } = context;
    const shown: ShownTenant = await call("tenant show", { tenant: parameter("id") });
    const here = `/tenants/${shown.tenantId}`;
    const asks = asksOf(context, shown);
    const { deviceTypes } = await call("device-type list", { tenant: String(shown.tenantId) });
    const of = { tenant: String(shown.tenantId) };
    const { ecosystems } = await call("ecosystem list");
    const quotas: ShownQuotas = await call("quota show", of);
    return {
      ask: openAsk(context, here, [...asks.tenant, ...asks.terms, ...quotaAsks(of, quotas)]),
      tenant: html`<p><a href="${address("/tenants")}">All tenants</a></p>
<h2>${named(shown.name)}</h2>
${factsOf([
  ["Id", html`${shown.tenantId} <span class="soft">the appId of platform calls</span>`],
  ["Accent", shown.accent === null ? "the default" : html`<span class="code">${shown.accent}</span>`],
  ["Help", shown.supportUrl === null ? "none" : html`<bdi dir="ltr">${shown.supportUrl}</bdi>`],
  ["Logo", shown.logo === null ? "none: its name is shown" : `${shown.logo.type}, ${shown.logo.bytes} bytes`],
])}
${askLinks(context, here, asks.tenant)}
<p class="small">See <a href="/console/users?tenant=${of.tenant}">its users</a>, <a href="/console/clients?tenant=${of.tenant}">its clients</a> and <a href="/console/audit?tenant=${of.tenant}">its audit log</a>.</p>`,
      terms: html`<h2>Terms</h2>
${
  shown.terms === null
    ? html`<p>None: users are asked for their consent alone.</p>`
    : factsOf([
        ["Version", html`<bdi>${shown.terms.version}</bdi>`],
        ["Since", when(shown.terms.date, nowMs)],
        [
          "Access with older terms",
          shown.terms.requireAcceptance
            ? html`is asked again at the next sign-in; refreshes end ${when(shown.terms.refreshesEnd, nowMs, "at no time")}`
            : "is enough",
        ],
      ])
}
${askLinks(context, here, asks.terms)}`,
      quotas: quotasPart(context, here, of, quotas),
      types: html`<h2>Device types</h2>
${typesOf(deviceTypes, nowMs)}`,
      ecosystems: html`<h2>Ecosystems</h2>
${ecosystemsOf(ecosystems)}`,
      previews: html`<h2>Its pages</h2>
<p class="small">As users see them on a telephone, with example words. Nothing can be sent from here.</p>
<div class="previews">${Object.entries(previews).map(
        ([name, title]) =>
          html`<figure><figcaption>${title}</figcaption><iframe title="${title}" src="${address(here, { preview: name })}" sandbox="" width="390" height="640"></iframe></figure>`,
      )}</div>`,
    };
  },
};

function ecosystemsOf(ecosystems: readonly ShownEcosystem[]): Html {
  if (ecosystems.length === 0) return html`<p>None is configured: see <code>BREEZEWAY_ECOSYSTEMS</code>.</p>`;
  return html`${tableOf<ShownEcosystem>(
    "Ecosystems",
    [
      { title: "Ecosystem", cell: ({ ecosystem }) => ecosystem },
      { title: "Name", cell: ({ name }) => html`<bdi>${name}</bdi>` },
      {
        title: "Link page",
        cell: ({ hasLinkPage }) => (hasLinkPage ? "yes" : "no: its clients connect accounts with tokens"),
      },
    ],
    ecosystems,
  )}
<p class="small">All tenants of a service have the same ecosystems. They are settings of its nodes.</p>`;
}

function typesOf(types: readonly ShownType[], nowMs: number): Html {
  if (types.length === 0) {
    return html`<p>No device type has a trait map. <code>breezeway device-type set --help</code> sets one.</p>`;
  }
  return tableOf<ShownType>(
    "Device types",
    [
      { title: "Type", cell: ({ name }) => html`<bdi>${name}</bdi>` },
      { title: "Changed", cell: ({ changedMs }) => when(changedMs, nowMs) },
    ],
    types,
  );
}

function asksOf(
  { address }: PageContext,
  { tenantId, name, accent, supportUrl, terms }: ShownTenant,
): { readonly tenant: readonly Ask[]; readonly terms: readonly Ask[] } {
  const input = { tenant: String(tenantId) };
  return {
    tenant: [
      {
        name: "rename",
        act: "tenant rename",
        link: "Rename",
        title: "Rename the tenant",
        words: "Users read the name on sign-in and link pages. Its id stays.",
        input,
        fields: typed({ option: "name", label: "Name", value: name, isRequired: true, isFirst: true }),
        example: { ...input, name },
        button: "Rename",
      },
      {
        name: "brand",
        act: "tenant brand",
        link: "Change the brand",
        title: "Change the brand",
        words: "A field that you leave empty keeps its value.",
        input,
        fields: html`${typed({ option: "accent", label: "Accent", hint: "As #rrggbb, with enough contrast.", value: accent ?? "", isFirst: true })}
${typed({ option: "support-url", label: "Address for help", hint: "https", value: supportUrl ?? "" })}
${typed({ option: "clear", label: "Remove", hint: "One in each line: accent, logo, support-url.", isLines: true })}`,
        example: { ...input, accent: accent ?? "#0b6470" },
        button: "Save",
      },
      {
        name: "remove",
        act: "tenant remove",
        link: "Remove",
        title: "Remove the tenant",
        words: html`${named(name)} is removed with its clients. It must have no users.`,
        input,
        button: "Remove",
        isGrave: true,
        afterwards: address("/tenants", { done: "tenant remove" }),
      },
    ],
    terms: [
      {
        name: "terms",
        act: "tenant terms",
        link: terms === null ? "Set terms" : "Set other terms",
        title: "Set the terms",
        words: "Users read this text and accept it before they give an app access.",
        input,
        fields: html`${typed({ option: "version", label: "Version", isRequired: true, isFirst: true })}
${typed({ option: "file", label: "Text", isLines: true, isRequired: true })}
${acceptanceFields(terms)}`,
        example: { ...input, version: "3", file: "terms.txt" },
        button: "Set",
      },
      ...(terms === null
        ? []
        : [
            {
              name: "acceptance",
              act: "tenant terms",
              link: "Change who is asked again",
              title: "Change who is asked again",
              words: "The terms stay as they are.",
              input,
              fields: acceptanceFields(terms),
              example: { ...input, "require-acceptance": "true", "refreshes-end": "2027-01-31" },
              button: "Save",
            },
            {
              name: "clear-terms",
              act: "tenant terms",
              link: "Remove the terms",
              title: "Remove the terms",
              words: "Users are asked for their consent alone.",
              input: { ...input, clear: "true" },
              button: "Remove",
              isGrave: true,
            },
          ]),
    ],
  };
}

/** What becomes of access that was given with older terms. */
function acceptanceFields(terms: ShownTenant["terms"]): Html {
  return html`${typed({
    option: "require-acceptance",
    label: "Access with older terms",
    value: String(terms?.requireAcceptance ?? false),
    choices: [
      ["false", "is enough"],
      ["true", "is not enough: users are asked again at the next sign-in"],
    ],
  })}
${typed({
  option: "refreshes-end",
  label: "When such access ends",
  hint: "A date such as 2027-01-31, in UTC. It may stay empty, and must when older terms are enough.",
  value: terms?.refreshesEnd?.slice(0, 10) ?? "",
})}`;
}
