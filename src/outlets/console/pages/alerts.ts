import { type Html, html } from "../../../web/html.ts";
import { alertReason, alertState, alertStates, lastFiring, type ShownAlert } from "../alerts/shown-alert.ts";
import type { ConsolePage, PageContext } from "../console-page.ts";
import { asCommand } from "../kit/as-command.ts";
import { namesOf, userOf } from "../kit/names.ts";
import { attempt, refusal } from "../kit/refused.ts";
import { filterForm, kept, pageInput, pager, tableOf } from "../kit/table.ts";

/** The answer of `home alert list`. */
interface Found {
  readonly alerts: readonly ShownAlert[];
  readonly cursor?: string;
}

const path = "/alerts";
const filters = ["user", "device", "state"];

/** The alerts of all users: what each does, whether it is armed and why not, and when it last fired. */
export const alerts: ConsolePage = {
  path,
  title: "Alerts",
  navigationLabel: "Alerts",
  subject: "tenants",
  refreshOn: ["alert", "thingAlert", "device"],
  query: [...filters, "cursor"],
  async render(context) {
    const tried = await attempt<Found>(context.call("home alert list", pageInput(context, filters)));
    return {
      filter: html`${filterForm(context, path, [
        { name: "user", label: "Home, user or user id" },
        { name: "device", label: "Device id" },
        { name: "state", label: "State", choices: alertStates },
      ])}${tried.refused && refusal(tried.refused)}
${newLink(context)}`,
      alerts: tried.refused ? undefined : await list(context, tried.answer),
    };
  },
};

function newLink({ address, callOf, parameter }: PageContext): Html | undefined {
  if (!callOf("home alert add")) return undefined;
  const user = parameter("user");
  const of = user === undefined || user === "" ? {} : { user };
  return html`<p class="asks"><a class="button" href="${address("/alerts/new", of)}">New alert</a></p>`;
}

async function list(context: PageContext, { alerts: found, cursor }: Found): Promise<Html> {
  const { address, nowMs, callOf, baseUrl, tenant } = context;
  if (found.length === 0) return empty(context);
  const names = await namesOf(context, found);
  const call = callOf("home alert list");
  const input = { ...kept(context, filters), ...(tenant && { tenant: String(tenant.tenantId) }) };
  return html`${tableOf<ShownAlert>(
    "Alerts",
    [
      {
        title: "Alert",
        cell: ({ userId, alertId, sentence }) =>
          html`<a href="${address(`/alerts/${userId}/${alertId}`)}"><bdi>${sentence}</bdi></a>`,
      },
      { title: "User", cell: ({ userId }) => userOf(userId, names) },
      {
        title: "State",
        cell: (alert) => html`${alertState(alert)}<p class="small">${alertReason(alert)}</p>`,
      },
      { title: "Last fired", cell: (alert) => lastFiring(alert, nowMs) },
    ],
    found,
  )}
${pager(context, path, filters, cursor)}
${call && asCommand(call, input, baseUrl)}`;
}

/** Shown in place of an empty list. Suggests two alerts: everybody has left, and somebody comes home. */
function empty(context: PageContext): Html {
  const { address, callOf } = context;
  const isFiltered = Object.keys(kept(context, [...filters, "cursor"])).length > 0;
  const start = isFiltered
    ? html`<p>No alert fits.</p>${pager(context, path, filters, undefined)}`
    : html`<p>There is no alert yet. An alert writes, commands or tells when a value meets its condition.</p>`;
  if (!callOf("home alert add")) return start;
  const user = context.parameter("user");
  const of = user === undefined || user === "" ? {} : { user };
  return html`${start}
<p>Many begin with this pair:</p>
<p class="asks"><a class="button" href="${address("/alerts/new", { ...of, template: "away" })}">When everybody has left</a>
<a class="button" href="${address("/alerts/new", { ...of, template: "home" })}">When somebody comes home</a></p>`;
}
