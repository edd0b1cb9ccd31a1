import { type Html, html } from "../../web/html.ts";
import { framedPage, type Page } from "../../web/page.ts";
import type { ConsolePage, PageContext, PageParts } from "./console-page.ts";
import { consoleStyle } from "./style.ts";
import { tileStyle } from "./tiles/style.ts";

/** The frame of every page: the rail with the tenant switcher, and one content area. */
export function consolePage(
  page: ConsolePage,
  pages: readonly ConsolePage[],
  context: PageContext,
  parts: PageParts,
  script: string,
): Page {
  const body = html`<nav class="rail" aria-label="Console">
<span class="product">Breezeway</span>
${tenantSwitch(page, context)}
${pages.filter((one) => one.rail !== undefined && isVisible(one, context)).map((one) => railLink(one, page, context))}
${foot(context)}
</nav>
<main class="content" ${liveData(page, context)}>
<header class="page-head"><h1>${page.title}</h1>
<p class="freshness" id="freshness">${asOf(context.nowMs)}</p></header>
<p class="not-live" id="freshness-why" role="status"></p>
<p class="notice" id="notice" role="status"></p>
${doneNote(context)}
${fragments(parts, page.still)}
</main>`;
  return framedPage({
    title: `${page.title} · Breezeway`,
    bodyClass: "console",
    body,
    moreStyle: consoleStyle + tileStyle,
    scripts: [script],
  });
}

/** What the script needs: the time of the page, and the changes that concern it. */
function liveData({ hears = [], path }: ConsolePage, { nowMs, tenant, parameter }: PageContext): Html {
  const user = path.includes(":user") ? html` data-user="${parameter("user")}"` : undefined;
  const ofTenant = tenant === undefined ? undefined : html` data-tenant="${tenant.tenantId}"`;
  return html`data-time="${nowMs}" data-hears="${hears.join(" ")}"${user}${ofTenant}`;
}

/** What a page says that no script keeps up to date. */
function asOf(nowMs: number): string {
  return `As of ${new Date(nowMs).toISOString().slice(11, 19)} UTC`;
}

/** After an action: what was done. Only names of commands are shown, so that an address can't put words into the page. */
function doneNote({ parameter, callOf }: PageContext): Html | undefined {
  const call = callOf(parameter("done") ?? "");
  return call && html`<p class="done" role="status">Done: ${call.act}.</p>`;
}

/** The parts of a page, each with its name, so that a script can replace one of them. An empty one is not visible. */
export function fragments(parts: PageParts, still: readonly string[] = []): Html {
  return html`${Object.entries(parts).map(
    ([name, part]) =>
      html`<section id="part-${name}" data-part="${name}"${still.includes(name) ? html` data-still` : undefined}>${part}</section>`,
  )}`;
}

/** Pages of the whole deployment are shown to those who reach all of it. */
function isVisible({ subject }: ConsolePage, { operator }: PageContext): boolean {
  return subject !== "deployment" || operator.role === "owner" || (operator.role === "viewer" && operator.reachesAll);
}

function railLink(one: ConsolePage, current: ConsolePage, { address }: PageContext): Html {
  const target = address(one.path);
  return one === current
    ? html`<a href="${target}" aria-current="page">${one.rail}</a>`
    : html`<a href="${target}">${one.rail}</a>`;
}

function tenantSwitch({ path }: ConsolePage, { tenants, tenant }: PageContext): Html | undefined {
  if (tenants.length < 2) return undefined;
  // A page about one thing would not exist in another tenant.
  const target = path.includes(":") ? "/console" : `/console${path}`;
  return html`<details class="switch"><summary>${tenant?.name ?? "All tenants"}</summary>
<a href="${target}">All tenants</a>
${tenants.map(({ tenantId, name }) => html`<a href="${target}?tenant=${tenantId}"><bdi>${name}</bdi></a>`)}
</details>`;
}

const roleNames = { owner: "owner", tenantAdmin: "tenant admin", viewer: "viewer" } as const;

function foot({ operator, address }: PageContext): Html {
  return html`<div class="foot">
<a href="${address("/sessions")}"><bdi>${operator.name}</bdi> <span class="small">${roleNames[operator.role]}</span></a>
<form method="post" action="/console/sign-out"><button class="quiet">Sign out</button></form>
</div>`;
}
