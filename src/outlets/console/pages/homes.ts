import { type Html, html } from "../../../web/html.ts";
import { named } from "../../../web/page.ts";
import type { ConsolePage, PageContext } from "../console-page.ts";
import { filterForm, kept, pageInput, pager, tableOf } from "../kit/table.ts";
import { linkStates, stateBadge, stateWords } from "../link-state.ts";
import { iconOf } from "../tiles/icons.ts";
import { ago, length } from "../times.ts";

interface ListedLink {
  readonly homeName: string | null;
  readonly userId: number;
  readonly userName: string;
  readonly tenant: string;
  readonly ecosystem: string;
  readonly state: string;
  readonly reason: string;
  readonly confirmedTime: number;
  readonly nodeName: string | null;
  readonly blindMsOfDay: number | null;
  /** A smoke or CO alarm of the home sounds. */
  readonly alarm: boolean;
}

const path = "/homes";
const filters = ["state", "filter", "alarm"];

/** The linked homes with their states. */
export const homes: ConsolePage = {
  path,
  title: "Homes",
  navigationLabel: "Homes",
  subject: "tenants",
  refreshOn: ["link", "device"],
  query: [...filters, "cursor"],
  async render(context) {
    const { links, cursor } = await context.call("link find", pageInput(context, filters));
    return {
      filter: filterForm(context, path, [
        { name: "state", label: "State", choices: linkStates.map((one) => [one, stateWords(one)] as const) },
        { name: "alarm", label: "Alarm", choices: [["true", "sounds"]] },
        { name: "filter", label: "Home, user or ecosystem" },
      ]),
      homes: links.length === 0 ? empty(context) : linkTable(links, context),
      pages: pager(context, path, filters, cursor),
    };
  },
};

function linkTable(links: readonly ListedLink[], { address, tenant, nowMs }: PageContext): Html {
  return tableOf<ListedLink>(
    "Homes",
    [
      {
        title: "Home",
        cell: ({ homeName, userId, userName, ecosystem }) =>
          html`<a href="${address(`/homes/${userId}/${encodeURIComponent(ecosystem)}`)}">${named(homeName ?? userName)}</a>`,
      },
      {
        title: "User",
        cell: ({ userName, tenant: of }) =>
          html`${named(userName)}${tenant === undefined ? html` <span class="small">${of}</span>` : undefined}`,
      },
      { title: "Ecosystem", cell: ({ ecosystem }) => ecosystem },
      {
        title: "State",
        cell: ({ state, reason, alarm }) =>
          html`${alarm ? html`<div>${emergencyBadge}</div>` : undefined}${stateBadge(state)}${reason === "" ? undefined : html`<p class="small">${reason}</p>`}`,
      },
      {
        title: "Confirmed",
        cell: ({ confirmedTime }) => (confirmedTime > 0 ? ago(confirmedTime, nowMs) : "never"),
      },
      { title: "Blind in 24 h", cell: ({ blindMsOfDay }) => blindWords(blindMsOfDay) },
      { title: "Node", cell: ({ nodeName }) => nodeName ?? "none" },
    ],
    links,
    ({ alarm }) => alarm,
  );
}

const emergencyBadge = html`<span class="state bad">${iconOf("flame")}Smoke or CO alarm</span>`;

function blindWords(blindMs: number | null): string {
  if (blindMs === null) return "unknown";
  return blindMs < 500 ? "0 s" : length(blindMs / 1_000);
}

function empty(context: PageContext): Html {
  if (Object.keys(kept(context, [...filters, "cursor"])).length > 0) return html`<p>No home matches.</p>`;
  return html`<p>No home is connected yet. Choose a <a href="${context.address("/users")}">user</a>, and then <b>Connect a home</b>.</p>
<p class="small">The same on a command line: <code>breezeway link page --user ID</code></p>`;
}
