import { type Html, html } from "../../../web/html.ts";
import type { ConsolePage, PageContext } from "../console-page.ts";
import { linkStates, stateBadge, stateWords } from "../link-state.ts";
import { ago, length } from "../times.ts";

interface ListedLink {
  readonly userId: number;
  readonly userName: string;
  readonly tenant: string;
  readonly ecosystem: string;
  readonly state: string;
  readonly reason: string;
  readonly confirmedTime: number;
  readonly node: string | null;
  readonly blindMsOfDay: number | null;
}

const pageSize = "50";

/** The linked homes with their states. */
export const homes: ConsolePage = {
  path: "/homes",
  title: "Homes",
  navigationLabel: "Homes",
  subject: "tenants",
  refreshOn: ["link", "device"],
  query: ["state", "filter", "cursor"],
  async render(context) {
    const { call, tenant, parameter } = context;
    const chosen = { state: parameter("state") ?? "", filter: parameter("filter") ?? "" };
    const ofTenant = tenant === undefined ? {} : { tenant: String(tenant.tenantId) };
    const cursor = parameter("cursor");
    const { links, cursor: next } = await call("link find", {
      ...ofTenant,
      ...chosen,
      "page-size": pageSize,
      ...(cursor !== undefined && { cursor }),
    });
    return {
      filter: filterForm(context, chosen),
      homes: links.length === 0 ? empty(chosen, cursor, context) : linkTable(links, context),
      pages: pageLinks(context, chosen, cursor, next),
    };
  },
};

interface Chosen {
  readonly state: string;
  readonly filter: string;
}

function filterForm({ address, tenant }: PageContext, { state, filter }: Chosen): Html {
  const option = (value: string, words: string) =>
    html`<option value="${value}"${value === state ? html` selected` : undefined}>${words}</option>`;
  return html`<form class="home-filter" method="get" action="${address("/homes").split("?")[0]!}" role="search">
${tenant === undefined ? undefined : html`<input type="hidden" name="tenant" value="${tenant.tenantId}">`}
<label for="state">State</label><select id="state" name="state">${option("", "All")}${linkStates.map((one) => option(one, stateWords(one)))}</select>
<label for="filter">User or ecosystem</label><input type="search" id="filter" name="filter" value="${filter}" autocomplete="off" spellcheck="false">
<button>Show</button>
</form>`;
}

function linkTable(links: readonly ListedLink[], { address, tenant, nowMs }: PageContext): Html {
  const row = (link: ListedLink) => html`<tr id="link-${link.userId}-${link.ecosystem}">
<th scope="row"><a href="${address(`/homes/${link.userId}/${encodeURIComponent(link.ecosystem)}`)}"><bdi>${link.userName}</bdi></a>${tenant === undefined ? html` <span class="small">${link.tenant}</span>` : undefined}</th>
<td data-label="Ecosystem">${link.ecosystem}</td>
<td data-label="State">${stateBadge(link.state)}${link.reason === "" ? undefined : html`<p class="small">${link.reason}</p>`}</td>
<td data-label="Confirmed">${link.confirmedTime > 0 ? ago(link.confirmedTime, nowMs) : "never"}</td>
<td data-label="Blind in 24 h">${blindWords(link.blindMsOfDay)}</td>
<td data-label="Node">${link.node ?? "none"}</td>
</tr>`;
  return html`<table class="rows">
<thead><tr><th scope="col">User</th><th scope="col">Ecosystem</th><th scope="col">State</th><th scope="col">Confirmed</th><th scope="col">Blind in 24 h</th><th scope="col">Node</th></tr></thead>
<tbody>${links.map(row)}</tbody>
</table>`;
}

function blindWords(blindMs: number | null): string {
  if (blindMs === null) return "unknown";
  return blindMs < 500 ? "0 s" : length(blindMs / 1_000);
}

function empty({ state, filter }: Chosen, cursor: string | undefined, { address }: PageContext): Html {
  if (state !== "" || filter !== "" || cursor !== undefined) return html`<p>No home matches.</p>`;
  return html`<p>No home is linked yet. Choose a <a href="${address("/users")}">user</a>, and then <b>Link a home</b>.</p>
<p class="small">The same on a command line: <code>breezeway link page --user ID</code></p>`;
}

function pageLinks(
  { address }: PageContext,
  { state, filter }: Chosen,
  cursor: string | undefined,
  next: string | undefined,
): Html | undefined {
  if (cursor === undefined && next === undefined) return undefined;
  const kept = { ...(state !== "" && { state }), ...(filter !== "" && { filter }) };
  return html`<nav class="pages" aria-label="Pages">
${cursor === undefined ? undefined : html`<a href="${address("/homes", kept)}">First page</a>`}
${next === undefined ? undefined : html`<a href="${address("/homes", { ...kept, cursor: next })}">Next page</a>`}
</nav>`;
}
