import { type Html, html } from "../../web/html.ts";
import { framedPage, type Page } from "../../web/page.ts";
import type { ConsolePage, PageContext, PageParts } from "./console-page.ts";
import { jumpDialog, jumpStyle } from "./jump-dialog.ts";
import { consoleStyle } from "./style.ts";
import { tileStyle } from "./tiles/style.ts";
import { clock } from "./times.ts";

/** What all pages have around their parts. */
export interface Frame {
  /** In the order of the rail. */
  readonly pages: readonly (ConsolePage & { readonly style?: string })[];
  /** The path of the script. */
  readonly script: string;
  /** A word beside the name of the product. */
  readonly badge: string | undefined;
}

/** The frame of every page: the rail with the tenant switcher, and one content area. */
export function consolePage(
  page: Frame["pages"][number],
  { pages, script, badge }: Frame,
  context: PageContext,
  parts: PageParts,
): Page {
  const body = html`<nav class="rail" aria-label="Console">
<span class="product">Breezeway${badge === undefined ? undefined : html` <span class="badge">${badge}</span>`}</span>
<div class="entries">
${tenantSwitch(page, context)}
${pages.filter((one) => one.navigationLabel !== undefined && isVisible(one, context)).map((one) => railLink(one, page, context))}
</div>
${foot(context)}
</nav>
${jumpDialog(context)}
<main class="content" ${liveData(page, context)}>
<header class="page-head"><h1>${page.title}</h1>
<p class="freshness" id="freshness">As of ${clock(context.nowMs)}</p></header>
<p class="not-live" id="freshness-why" role="status"></p>
<p class="notice" id="notice" role="status"></p>
${doneNote(context)}
${fragments(parts, page.partsNotRefreshed)}
</main>`;
  return framedPage({
    title: `${page.title} · Breezeway`,
    bodyClass: "console",
    body,
    moreStyle: consoleStyle + tileStyle + jumpStyle + (page.style ?? ""),
    scripts: [script],
    hasFrames: page.preview !== undefined,
  });
}

/** What the script needs: the time of the page, and the changes that concern it. */
function liveData(
  { refreshOn = [], readEverySeconds, path }: ConsolePage,
  { nowMs, tenant, parameter }: PageContext,
): Html {
  const user = path.includes(":user") ? html` data-user="${parameter("user")}"` : undefined;
  const ofTenant = tenant === undefined ? undefined : html` data-tenant="${tenant.tenantId}"`;
  const every = readEverySeconds === undefined ? undefined : html` data-every="${readEverySeconds}"`;
  return html`data-time="${nowMs}" data-hears="${refreshOn.join(" ")}"${every}${user}${ofTenant}`;
}

/** After an action: what was done. Only names of commands are shown. */
function doneNote({ done, callOf }: PageContext): Html | undefined {
  const call = done === undefined ? undefined : callOf(done);
  return call && html`<p class="done" role="status">Done: ${call.act}.</p>`;
}

/** The parts of a page, each with its name, so that a script can replace one of them. An empty one is not visible. */
export function fragments(parts: PageParts, partsNotRefreshed: readonly string[] = []): Html {
  return html`${Object.entries(parts).map(
    ([name, part]) =>
      html`<section id="part-${name}" data-part="${name}"${partsNotRefreshed.includes(name) ? html` data-still` : undefined}>${part}</section>`,
  )}`;
}

/** Pages of the whole deployment are shown to those who reach all of it. */
function isVisible({ subject }: ConsolePage, { operator }: PageContext): boolean {
  return subject !== "deployment" || operator.role === "owner" || (operator.role === "viewer" && operator.reachesAll);
}

function railLink(one: ConsolePage, current: ConsolePage, { address }: PageContext): Html {
  const target = address(one.path);
  return one === current
    ? html`<a href="${target}" aria-current="page">${one.navigationLabel}</a>`
    : html`<a href="${target}">${one.navigationLabel}</a>`;
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
