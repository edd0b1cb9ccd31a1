import { type Html, html } from "../../../web/html.ts";
import type { ConsolePage, PageContext } from "../console-page.ts";
import { asCommand } from "../kit/as-command.ts";
import { type Names, namesOf, tenantOf, userOf } from "../kit/names.ts";
import { attempt, refusal } from "../kit/refused.ts";
import { type StatusLevel, state } from "../kit/state.ts";
import { filterForm, kept, pageInput, pager } from "../kit/table.ts";
import { ago, clock } from "../times.ts";

interface ShownStep {
  readonly time: number;
  readonly kind: string;
  readonly sentence: string;
  readonly raw: object;
}

interface ShownDelivery {
  readonly deliveryId: number;
  readonly webhookId: string;
  readonly state: string;
  readonly status: number | null;
}

interface ShownEvent {
  readonly eventId: string;
  readonly time: number;
  readonly userId: number | null;
  readonly tenantId: number | null;
  readonly deviceId: number | null;
  readonly cause: string | null;
  readonly sentence: string;
  readonly steps: readonly ShownStep[];
  readonly moreSteps: number;
  readonly deliveries: readonly ShownDelivery[];
}

interface Found {
  readonly events: readonly ShownEvent[];
  readonly lookedBackTo: number | null;
  readonly cursor?: string;
}

const path = "/events";
const filters = ["user", "device", "kind"];
const kinds = [
  ["attribute", "attribute"],
  ["thing", "thing"],
  ["alert", "alert on an attribute"],
  ["thingAlert", "alert on a thing"],
  ["thingCommand", "command"],
  ["command", "fan request"],
  ["link", "link"],
  ["linkSession", "link session"],
  ["device", "device"],
] as const;

/** What happened last, one entry for each cause with everything that it led to. */
export const events: ConsolePage = {
  path,
  title: "Events",
  navigationLabel: "Events",
  subject: "tenants",
  refreshOn: kinds.map(([kind]) => kind),
  query: [...filters, "cursor"],
  partsNotRefreshed: ["watch"],
  async render(context) {
    const tried = await attempt<Found>(context.call("home events", pageInput(context, filters)));
    return {
      filter: html`${filterForm(context, path, [
        { name: "user", label: "Home, user or user id" },
        { name: "device", label: "Device id" },
        { name: "kind", label: "Kind", choices: kinds },
      ])}${tried.refused && refusal(tried.refused)}`,
      events: tried.refused ? undefined : await list(context, tried.answer),
      watch: watchCommand(context),
    };
  },
};

async function list(context: PageContext, { events: found, lookedBackTo, cursor }: Found): Promise<Html> {
  const names = await namesOf(context, found);
  const isFirstPage = context.parameter("cursor") === undefined;
  return html`<div class="card-head">${sinceWords(context, found[0], isFirstPage)}
${isFirstPage ? html`<button class="quiet" type="button" data-pauses>Pause</button>` : undefined}</div>
<ol class="chains">${found.map((event) => chainOf(event, names, context))}</ol>
${
  lookedBackTo === null
    ? undefined
    : html`<p class="small">Looked at 5,000 entries of the log, back to ${clock(lookedBackTo)}.</p>`
}
${pager(context, path, filters, cursor)}`;
}

/** Whether silence is good news: nothing has happened, and the page would know. */
function sinceWords({ nowMs }: PageContext, newest: ShownEvent | undefined, isFirstPage: boolean): Html {
  const live = html`<span class="when-live">; the stream is live</span>`;
  if (!isFirstPage) return html`<p class="small">Older events.</p>`;
  if (newest === undefined) return html`<p class="small">Nothing has happened yet${live}.</p>`;
  return html`<p class="small">Nothing since ${clock(newest.time)} (${ago(newest.time, nowMs)})${live}.</p>`;
}

const causes: Readonly<Record<string, string>> = {
  ecosystem: "ecosystem",
  client: "client",
  administrator: "operator",
  alert: "alert",
};

/** The steps stand below each other; how the log has an entry is one more click away. */
function chainOf(event: ShownEvent, names: Names, context: PageContext): Html {
  const { eventId, time, cause, sentence, steps, moreSteps, deliveries, userId, tenantId, deviceId } = event;
  const { nowMs, address, tenant } = context;
  const [first, ...others] = steps;
  const worst = worstOf(deliveries);
  return html`<li><details id="event-${eventId}"><summary>
<span class="chain-what"><bdi>${sentence}</bdi></span>
<span class="small">${cause === null ? undefined : html`${causes[cause] ?? cause} · `}${
    others.length + moreSteps > 0
      ? html`${others.length + moreSteps} more ${others.length + moreSteps === 1 ? "step" : "steps"} · `
      : undefined
  }${worst === undefined ? undefined : html`${deliveries.length} ${deliveries.length === 1 ? "message" : "messages"} ${worst} · `}${ago(time, nowMs)}</span>
</summary>
<p class="small">${userId === null ? undefined : html`${userOf(userId, names)}`}${
    tenantId === null || tenant !== undefined ? undefined : html`, ${tenantOf(tenantId, names)}`
  }${deviceId === null || userId === null ? undefined : html`, <a href="${address(`/devices/${userId}/${deviceId}`)}">device ${deviceId}</a>`}</p>
<ol class="chain-steps">${(first ? [first, ...others] : []).map((step) => stepOf(step, event))}
${deliveries.map((delivery) => deliveryOf(delivery, context))}</ol>
${moreSteps === 0 ? undefined : html`<p class="small">${moreSteps} more steps.</p>`}
</details></li>`;
}

const alertKinds = ["alert", "thingAlert"];

function stepOf({ kind, sentence, time, raw }: ShownStep, { userId }: ShownEvent): Html {
  const alertId = alertKinds.includes(kind) && "alert" in raw ? Number(raw.alert) : undefined;
  const words =
    alertId === undefined || userId === null
      ? html`<bdi>${sentence}</bdi>`
      : html`<a href="/console/alerts/${userId}/${alertId}"><bdi>${sentence}</bdi></a>`;
  return html`<li><span>${words} <span class="small">${clock(time)}</span></span>
<details class="raw"><summary>Raw ${kind}</summary><pre tabindex="0">${JSON.stringify(raw, null, 2)}</pre></details></li>`;
}

const moods: Readonly<Record<string, StatusLevel>> = { delivered: "good", waiting: "warn", failed: "bad" };

function deliveryOf({ webhookId, deliveryId, state: known, status }: ShownDelivery, { address }: PageContext): Html {
  return html`<li><a href="${address(`/webhooks/${webhookId}`, { delivery: String(deliveryId) })}">Message ${deliveryId} to a webhook</a> ${state(moods[known] ?? "bad", known)}${
    status === null ? undefined : html` <span class="small">HTTP ${status}</span>`
  }</li>`;
}

function worstOf(deliveries: readonly ShownDelivery[]): string | undefined {
  return ["failed", "waiting", "delivered"].find((known) => deliveries.some(({ state: of }) => of === known));
}

/** The same on a command line: as it happens, and as a list. */
function watchCommand(context: PageContext): Html {
  const { parameter, tenant, callOf, baseUrl } = context;
  const [user, device] = ["user", "device"].map((name) => parameter(name) || undefined);
  const owner = user === undefined ? (tenant ? [`--tenant ${tenant.tenantId}`] : []) : [`--user ${shellWord(user)}`];
  const of = device === undefined ? [] : [`--device ${shellWord(device)}`];
  const call = callOf("home events");
  const input = { ...kept(context, filters), ...(tenant && { tenant: String(tenant.tenantId) }) };
  return html`<h2>On a command line</h2>
<pre tabindex="0" id="watch">${["breezeway event watch --things", ...owner, ...of].join(" ")}</pre>
<p class="asks"><button class="quiet" type="button" data-copies="watch">Copy</button></p>
${call && asCommand(call, input, baseUrl)}`;
}

function shellWord(word: string): string {
  return /^\w+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
