import { type Html, html } from "../../../web/html.ts";
import { iconOf } from "../../../web/icons.ts";
import type { ConsolePage, PageContext } from "../console-page.ts";

/** What needs attention, and the four steps to the first linked home. */
export const overview: ConsolePage = {
  path: "",
  title: "Overview",
  rail: "Overview",
  subject: "tenants",
  async render(context) {
    const { call, tenant } = context;
    const ofTenant = tenant === undefined ? {} : { tenant: String(tenant.tenantId) };
    const one = { ...ofTenant, "page-size": "1" };
    const [clients, users, counts] = await Promise.all([
      call("client list", one),
      call("user list", one),
      call("link counts", ofTenant),
    ]);
    const links = counts.states as readonly LinkCount[];
    const isDone = {
      tenant: context.tenants.length > 0,
      client: clients.clients.length > 0,
      user: users.users.length > 0,
      link: links.length > 0,
    };
    return {
      attention: attention(links),
      steps: Object.values(isDone).every(Boolean) ? undefined : steps(isDone, context),
      links: linkNumbers(links),
    };
  },
};

interface LinkCount {
  readonly state: string;
  readonly count: number;
}

/** The state in which a link shows what its home shows. */
const fine = "live";

/** What to do about a link of each other state. */
const fixes: Readonly<Record<string, string>> = {
  stale: "The ecosystem has confirmed nothing for 15 minutes. Values are marked as stale.",
  not_followed: "No node follows them: their values are those of the last confirmation.",
};

function attention(links: readonly LinkCount[]): Html {
  const needing = links.filter(({ state }) => state !== fine);
  return html`<h2>Needs attention</h2>
${
  needing.length === 0
    ? html`<p class="small">Nothing that this service knows of.</p>`
    : html`<ul class="needs">${needing.map(
        ({ state, count }) =>
          html`<li>${iconOf("warning")}<span><strong>${count} ${count === 1 ? "link is" : "links are"} ${words(state)}.</strong> ${fixes[state]}</span></li>`,
      )}</ul>`
}`;
}

function words(state: string): string {
  return state.replaceAll("_", " ");
}

function steps(isDone: Readonly<Record<"tenant" | "client" | "user" | "link", boolean>>, _context: PageContext): Html {
  const step = (done: boolean, title: string, command: string) =>
    html`<li${done ? html` class="is-done"` : undefined}>${iconOf(done ? "check" : "clock")}<span>${title}${
      done ? html` <span class="small">done</span>` : html`: <code>${command}</code>`
    }</span></li>`;
  return html`<h2>Four steps to the first home</h2>
<ol class="steps">
${step(isDone.tenant, "Add a tenant, the company whose users are served", "breezeway tenant add --name NAME")}
${step(isDone.client, "Register a client, the cloud that asks users for access", "breezeway client add --help")}
${step(isDone.user, "Add a user", "breezeway user add --help")}
${step(isDone.link, "Link the user's home", "breezeway link --user ID --consent")}
</ol>`;
}

function linkNumbers(links: readonly LinkCount[]): Html | undefined {
  if (links.length === 0) return undefined;
  return html`<h2>Links</h2>
<dl class="numbers">${links.map(({ state, count }) => html`<div><dt>${words(state)}</dt><dd>${count}</dd></div>`)}</dl>`;
}
