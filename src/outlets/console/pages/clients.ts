import { type Html, html } from "../../../web/html.ts";
import { named } from "../../../web/page.ts";
import type { ConsolePage, PageContext } from "../console-page.ts";
import { type Ask, askLinks, openAsk, typed } from "../kit/ask.ts";
import { accessState } from "../kit/state.ts";
import { filterForm, pageInput, pager, tableOf } from "../kit/table.ts";
import { when } from "../kit/times.ts";

const path = "/clients";
const kept = ["filter"];

interface ListedClient {
  readonly client_id: string;
  readonly name: string;
  readonly tenant: string;
  readonly kind: string;
  readonly suspended: boolean;
  readonly redirect_uris: readonly string[];
  readonly created: string;
}

/** The clouds that may ask users for access. */
export const clients: ConsolePage = {
  path,
  title: "Clients",
  navigationLabel: "Clients",
  subject: "tenants",
  async render(context) {
    const { call, address, nowMs, parameter } = context;
    const { clients: found, cursor } = await call("client list", pageInput(context, kept));
    const asks = [addition(context)];
    const isFiltered = parameter("filter") !== undefined || parameter("cursor") !== undefined;
    const list =
      found.length === 0
        ? html`<p>${isFiltered ? "No client has such a name or id." : "There are no clients yet. A client is a cloud, such as a voice assistant or a rule engine, that asks your users for access."}</p>`
        : tableOf<ListedClient>(
            "Clients",
            [
              {
                title: "Name",
                cell: ({ client_id, name }) =>
                  html`<a href="${address(`${path}/${client_id}`)}">${named(name)}</a><br><span class="code soft">${client_id}</span>`,
              },
              { title: "Tenant", cell: ({ tenant }) => html`<bdi>${tenant}</bdi>` },
              { title: "State", cell: (one) => accessState(one) },
              { title: "Acts for", cell: ({ kind }) => kinds[kind] ?? kind },
              { title: "Redirect addresses", cell: ({ redirect_uris }) => firstOf(redirect_uris) },
              { title: "Added", cell: ({ created }) => when(created, nowMs) },
            ],
            found,
          );
    return {
      ask: openAsk(context, path, asks),
      list: html`${filterForm(context, path, [{ name: "filter", label: "Name or id" }])}
${list}
${pager(context, path, kept, cursor)}
${askLinks(context, path, asks)}`,
    };
  },
};

export const kinds: Readonly<Record<string, string>> = { user: "each user", enterprise: "the whole tenant" };

/** Whether users return to the client with `iss`. */
export function issuerField(sendsIssuer: boolean): Html {
  return typed({
    option: "issuer",
    label: "When users return to the client, iss",
    hint: "It names this service, against mixed-up servers. Leave it out only for a client that refuses unknown parameters.",
    value: String(sendsIssuer),
    choices: [
      ["true", "is sent"],
      ["false", "is left out"],
    ],
  });
}

function firstOf([first, ...others]: readonly string[]) {
  if (first === undefined) return html`<span class="soft">none</span>`;
  return html`<bdi dir="ltr">${first}</bdi>${others.length === 0 ? "" : ` and ${others.length} more`}`;
}

function addition({ tenant, tenants, address }: PageContext): Ask {
  const of = tenant ?? tenants[0];
  const choices = tenants.map(({ tenantId, name }) => [String(tenantId), name] as const);
  return {
    name: "add",
    act: "client add",
    link: "Register a client",
    title: "Register a client",
    words: "Its secret is shown once, after this form.",
    fields: html`${typed({ option: "tenant", label: "Tenant", value: String(of?.tenantId ?? ""), choices })}
${typed({ option: "name", label: "Name", hint: "Users read it before they give it access.", isRequired: true, isFirst: true })}
${typed({ option: "kind", label: "It acts for", value: "user", choices: Object.entries(kinds) })}
${typed({ option: "redirect-uri", label: "Redirect addresses", hint: "One in each line: https, exactly as the client sends it.", isLines: true })}
${typed({ option: "return-url", label: "Return addresses of link pages", hint: "One in each line; may stay empty.", isLines: true })}
${typed({
  option: "require-pkce",
  label: "Requests without PKCE",
  value: "true",
  choices: [
    ["true", "are refused"],
    ["false", "are allowed"],
  ],
})}
${issuerField(true)}`,
    example: {
      tenant: of?.name ?? "Acme",
      name: "Voice",
      "redirect-uri": ["https://voice.example/back"],
      "require-pkce": "true",
    },
    button: "Register",
    afterwards: address(path, { done: "client add" }),
  };
}
