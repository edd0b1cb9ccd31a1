import { type Html, html } from "../../../web/html.ts";
import { named } from "../../../web/page.ts";
import type { ConsolePage, PageContext } from "../console-page.ts";
import { type Ask, askLinks, openAsk, typed } from "../kit/ask.ts";
import { endGrant, grantsPart } from "../kit/grants.ts";
import { quotaAsks, quotasPart, type ShownQuotas } from "../kit/quotas.ts";
import { accessState, state } from "../kit/state.ts";
import { factsOf, tableOf } from "../kit/table.ts";
import { readOnce, when } from "../kit/times.ts";
import { callsPart } from "./client-calls.ts";
import { issuerField, kinds } from "./clients.ts";

export interface ShownClient {
  readonly client_id: string;
  readonly name: string;
  readonly tenant: string;
  readonly kind: string;
  readonly redirect_uris: readonly string[];
  readonly require_pkce: boolean;
  readonly return_urls: readonly string[];
  readonly vouches_for_users: boolean;
  readonly sends_issuer: boolean;
  readonly suspended: boolean;
  readonly created: string;
}

/** One client: its addresses, its secret, its calls and quotas, and who gave it access. */
export const client: ConsolePage = {
  path: "/clients/:client",
  title: "Client",
  subject: "tenants",
  // Entries of the audit log are read for them.
  partsNotRefreshed: ["acts"],
  async render(context) {
    const { call, address, nowMs, parameter, wants } = context;
    const shown: ShownClient = await call("client show", { client: parameter("client") });
    const here = `/clients/${shown.client_id}`;
    const asks = asksOf(context, shown);
    const of = { client: shown.client_id };
    const [quotas, calls]: [ShownQuotas, Html] = await Promise.all([call("quota show", of), callsPart(context, shown)]);
    return {
      ask: openAsk(context, here, [...asks, ...quotaAsks(of, quotas), endGrant(of, parameter("grant") ?? "")]),
      client: html`<p><a href="${address("/clients")}">All clients</a></p>
<h2>${named(shown.name)}</h2>
${factsOf([
  ["Client", html`<span class="code">${shown.client_id}</span>`],
  ["State", accessState(shown)],
  ["Tenant", html`<bdi>${shown.tenant}</bdi>`],
  ["Acts for", kinds[shown.kind] ?? shown.kind],
  ["Redirect addresses", addresses(shown.redirect_uris)],
  ["Return addresses", addresses(shown.return_urls)],
  ["PKCE", shown.require_pkce ? "required" : "optional"],
  [
    "Its users",
    shown.vouches_for_users ? "it vouches for them: link pages do not ask them to sign in" : "sign in on link pages",
  ],
  ["iss of users who return", shown.sends_issuer ? "sent" : "left out"],
  ["Added", when(shown.created, nowMs)],
])}
${askLinks(context, here, asks)}`,
      calls,
      quotas: quotasPart(context, here, of, quotas),
      access: html`<h2>Access that it has</h2>
${await grantsPart(context, here, of)}`,
      acts: wants("acts")
        ? html`<h2>Its last acts</h2>
${await lastActs(context, shown.client_id)}
${readOnce(nowMs)}`
        : undefined,
    };
  },
};

interface ShownAct {
  readonly time: string;
  readonly act: string;
  readonly source: string;
}

/** Acts that show an attack or a mistake of the client. */
const troubles = new Set(["code_replay", "refresh_reuse"]);

async function lastActs({ call, address, nowMs }: PageContext, client: string): Promise<Html> {
  const { entries } = await call("audit list", { client, "page-size": "5" });
  if (entries.length === 0) return html`<p>None in the audit log.</p>`;
  return html`${tableOf<ShownAct>(
    "Its last acts",
    [
      { title: "When", cell: ({ time }) => when(time, nowMs) },
      {
        title: "Act",
        cell: ({ act }) => (troubles.has(act) ? state("bad", act.replaceAll("_", " ")) : act.replaceAll("_", " ")),
      },
      { title: "From", cell: ({ source }) => source },
    ],
    entries,
  )}
<p class="asks"><a class="button" href="${address("/audit", { client })}">All its entries of the audit log</a></p>`;
}

function addresses(found: readonly string[]): Html {
  if (found.length === 0) return html`<span class="soft">none</span>`;
  return html`<ul>${found.map((one) => html`<li><bdi dir="ltr">${one}</bdi></li>`)}</ul>`;
}

function asksOf({ callOf, address }: PageContext, shown: ShownClient): readonly Ask[] {
  const input = { client: shown.client_id };
  const edited = new Set(callOf("client edit")?.fields?.map(({ option }) => option));
  const name = named(shown.name);
  return [
    {
      name: "edit",
      act: "client edit",
      link: "Edit",
      title: "Edit the client",
      words: "What you change counts for the next request.",
      input,
      fields: html`${edited.has("name") ? typed({ option: "name", label: "Name", value: shown.name, isRequired: true, isFirst: true }) : undefined}
${
  edited.has("redirect-uri")
    ? typed({
        option: "redirect-uri",
        label: "Redirect addresses",
        hint: "One in each line: https, exactly as the client sends it.",
        value: shown.redirect_uris.join("\n"),
        isLines: true,
      })
    : undefined
}
${typed({ option: "return-url", label: "Return addresses of link pages", hint: "One in each line; may stay empty.", value: shown.return_urls.join("\n"), isLines: true })}
${typed({
  option: "vouches-for-users",
  label: "Its users",
  value: String(shown.vouches_for_users),
  choices: [
    ["false", "sign in on link pages"],
    ["true", "were signed in by the client, which vouches for them"],
  ],
})}
${issuerField(shown.sends_issuer)}`,
      example: {
        ...input,
        ...(edited.has("name") && { name: shown.name }),
        ...(edited.has("redirect-uri") && { "redirect-uri": shown.redirect_uris }),
        "return-url": shown.return_urls,
      },
      button: "Save",
    },
    {
      name: "rotate",
      act: "client rotate-secret",
      link: "Rotate the secret",
      title: "Give it a new secret",
      words:
        "The new secret is shown once. The old one stays valid for the overlap, so that the client can change over.",
      input,
      fields: typed({
        option: "overlap",
        label: "Hours that the old secret stays valid",
        hint: "0 ends it at once; at most 720.",
        type: "number",
        value: "24",
        isRequired: true,
        isFirst: true,
      }),
      example: { ...input, overlap: "24" },
      button: "Rotate",
    },
    shown.suspended
      ? {
          name: "resume",
          act: "client resume",
          link: "Resume",
          title: "Resume the client",
          words: html`All access of ${name} works again, and what waits for its webhooks and assistants is sent.`,
          input,
          button: "Resume",
        }
      : {
          name: "suspend",
          act: "client suspend",
          link: "Suspend",
          title: "Suspend the client",
          words: html`The secret and all tokens of ${name} are refused on every node within a second, its streams end, and messages to its webhooks and assistants wait. Nothing is deleted: a resume brings all of it back.`,
          input,
          button: "Suspend",
          isGrave: true,
        },
    {
      name: "remove",
      act: "client remove",
      link: "Remove",
      title: "Remove the client",
      words: html`${name} is removed with all its grants, tokens and webhooks, at once. This can't be undone.`,
      input,
      button: "Remove",
      isGrave: true,
      afterwards: address("/clients", { done: "client remove" }),
    },
  ];
}
