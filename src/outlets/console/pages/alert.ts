import { type Html, html } from "../../../web/html.ts";
import { hiddenFields } from "../../../web/page.ts";
import { type DryRun, firingsOf, valueWords } from "../alerts/firings.ts";
import { alertState, lastFiring, type ShownAlert } from "../alerts/shown-alert.ts";
import type { ConsolePage, PageContext } from "../console-page.ts";
import { asCommand } from "../kit/as-command.ts";
import { type Ask, askLinks, openAsk, typed } from "../kit/ask.ts";
import { namesOf, userOf } from "../kit/names.ts";
import { attempt, refusal } from "../kit/refused.ts";
import { type StatusLevel, state } from "../kit/state.ts";
import { factsOf, tableOf } from "../kit/table.ts";
import { readOnce } from "../kit/times.ts";
import { ago } from "../times.ts";

interface Explained {
  readonly alert: ShownAlert;
  readonly value: string | null;
  readonly conditionIsTrue: boolean | null;
  readonly explanation: string;
  readonly evaluations: readonly Evaluated[];
}

interface Evaluated {
  readonly time: number;
  readonly value: string | null;
  readonly outcome: string;
  readonly note: string | null;
}

/** One alert: what it does, why it fired or did not fire, what it would do at a value, and when it would have fired. */
export const alert: ConsolePage = {
  path: "/alerts/:user/:alert",
  title: "Alert",
  subject: "tenants",
  refreshOn: ["alert", "thingAlert", "attribute", "thing", "device"],
  query: ["value", "from", "do"],
  partsNotRefreshed: ["ask", "test", "run"],
  async render(context) {
    const { call, address, nowMs, parameter, wants } = context;
    const input = { user: parameter("user")!, alert: parameter("alert")! };
    const shown: Explained = await call("home alert show", input);
    const names = await namesOf(context, [shown.alert]);
    const here = `/alerts/${shown.alert.userId}/${shown.alert.alertId}`;
    const asks = asksOf(context, shown.alert);
    const { deviceId, userId } = shown.alert;
    return {
      ask: openAsk(context, here, asks),
      alert: html`<p><a href="${address("/alerts")}">All alerts</a></p>
<h2><bdi>${shown.alert.sentence}</bdi></h2>
${factsOf([
  ["State", html`${alertState(shown.alert)} ${shown.explanation}`],
  ["Value now", html`${valueWords(shown.value)}: the condition is ${String(shown.conditionIsTrue ?? "unknown")}`],
  ["After a firing", afterwards(shown.alert)],
  ["Message", shown.alert.msg === "" ? undefined : html`<bdi>${shown.alert.msg}</bdi>`],
  ["Last fired", lastFiring(shown.alert, nowMs)],
  ["Made", ago(shown.alert.createdTime, nowMs)],
  ["User", userOf(userId, names)],
  ["Device", html`<a href="${address(`/devices/${userId}/${deviceId}`)}">device ${deviceId}</a>`],
])}
${editLink(context, here)}
${askLinks(context, here, asks)}`,
      explain: evaluations(shown.evaluations, nowMs),
      test: wants("test") ? await testForm(context, here, input) : undefined,
      run: wants("run") ? await dryRun(context, here, input) : undefined,
    };
  },
};

function editLink({ address, callOf }: PageContext, here: string): Html | undefined {
  if (!callOf("home alert edit")) return undefined;
  return html`<p class="asks"><a class="button" href="${address(`${here}/edit`)}">Edit</a></p>`;
}

function afterwards({ autoDisarm, autoDelete, autoDisable }: ShownAlert): string {
  if (autoDelete) return "it is deleted";
  if (autoDisable) return "it is disabled";
  return autoDisarm ? "it waits until its condition has been false" : "it fires again at the next event";
}

const outcomes: Readonly<Record<string, { readonly mood: StatusLevel; readonly words: string; readonly why: string }>> =
  {
    fired: { mood: "good", words: "fired", why: "The condition was true." },
    ignored: {
      mood: "warn",
      words: "ignored",
      why: "The condition was true, and has not been false since the last firing.",
    },
    rearmed: { mood: "off", words: "armed again", why: "The condition was false, so the next true value fires." },
    unmet: { mood: "off", words: "not fired", why: "The condition was false." },
    stopped: { mood: "bad", words: "stopped", why: "A limit stopped it." },
    disabled: { mood: "off", words: "not fired", why: "The alert is disabled." },
  };

function evaluations(found: readonly Evaluated[], nowMs: number): Html {
  if (found.length === 0) return html`<h2>Why</h2><p>It has evaluated no event yet.</p>`;
  return html`<h2>Why</h2>
${tableOf<Evaluated>(
  "The last events that it evaluated",
  [
    { title: "When", cell: ({ time }) => ago(time, nowMs) },
    { title: "Value", cell: ({ value }) => valueWords(value) },
    {
      title: "Outcome",
      cell: ({ outcome }) => state(outcomes[outcome]?.mood ?? "bad", outcomes[outcome]?.words ?? outcome),
    },
    { title: "Why", cell: ({ outcome, note }) => note ?? outcomes[outcome]?.why ?? "" },
  ],
  found,
)}`;
}

/** A form of this page whose fields are in the address. */
function tryForm(context: PageContext, here: string, fields: Html, button: string): Html {
  const { address, tenant, parameter } = context;
  const isTenantChosen = parameter("tenant") !== undefined && tenant !== undefined;
  return html`<form class="filter" method="get" action="${address(here).split("?")[0]!}">
${isTenantChosen ? hiddenFields({ tenant: String(tenant.tenantId) }) : undefined}
${fields}<button class="quiet">${button}</button></form>`;
}

/** What would happen at a value. Nothing happens. */
async function testForm(context: PageContext, here: string, input: Readonly<Record<string, string>>): Promise<Html> {
  const { parameter, call, callOf, baseUrl, nowMs } = context;
  const value = parameter("value") ?? "";
  const tried = value === "" ? undefined : await attempt(call("home alert test", { ...input, value }));
  const adminCall = callOf("home alert test");
  return html`<h2>Test with a value</h2>
${tryForm(context, here, html`<div>${typed({ option: "value", label: "Value", value })}</div>`, "Test")}
${
  tried === undefined
    ? html`<p class="small">It shows what the alert would do. Nothing happens.</p>`
    : tried.refused
      ? refusal(tried.refused)
      : html`${tested(tried.answer)}${readOnce(nowMs)}`
}
${adminCall && asCommand(adminCall, { ...input, value: value || "alarm" }, baseUrl)}`;
}

interface Tested {
  readonly value: string;
  readonly outcome: string;
  readonly commands: readonly string[];
}

function tested({ value, outcome, commands }: Tested): Html {
  const { mood, words, why } = outcomes[outcome] ?? { mood: "bad" as const, words: outcome, why: "" };
  const wouldFire = outcome === "fired";
  return html`<p role="status">At ${valueWords(value)}: ${state(mood, wouldFire ? "it would fire" : `it would not fire (${words})`)}</p>
<p class="small">${wouldFire ? "The condition is true. Nothing was done." : why.replace("was", "is")}</p>
${commands.length === 0 ? undefined : html`<ul class="lines">${commands.map((one) => html`<li><bdi>${one}</bdi></li>`)}</ul>`}`;
}

const periods = [
  ["24h", "24 hours"],
  ["7d", "7 days"],
  ["30d", "30 days"],
] as const;

async function dryRun(context: PageContext, here: string, input: Readonly<Record<string, string>>): Promise<Html> {
  const { parameter, call, callOf, baseUrl, nowMs } = context;
  const from = parameter("from") ?? "";
  const tried = from === "" ? undefined : await attempt<DryRun>(call("home alert dry-run", { ...input, from }));
  const adminCall = callOf("home alert dry-run");
  return html`<h2>Dry run</h2>
${tryForm(context, here, html`<div>${typed({ option: "from", label: "In the last", value: from || "7d", choices: periods })}</div>`, "Run")}
${
  tried === undefined
    ? html`<p class="small">It shows when the alert would have fired, had it been as it is now.</p>`
    : tried.refused
      ? refusal(tried.refused)
      : html`${firingsOf(tried.answer, nowMs)}${readOnce(nowMs)}`
}
${adminCall && asCommand(adminCall, { ...input, from: from || "7d" }, baseUrl)}`;
}

function asksOf({ address }: PageContext, { userId, alertId, state: known, sentence }: ShownAlert): readonly Ask[] {
  const input = { user: String(userId), alert: String(alertId) };
  const isEnabled = known === "armed" || known === "waiting";
  const ask = isEnabled
    ? {
        name: "disable",
        act: "home alert disable",
        link: "Disable",
        title: "Disable this alert",
        words: "It does not fire until it is enabled again.",
      }
    : {
        name: "enable",
        act: "home alert enable",
        link: "Enable",
        title: "Enable this alert",
        words: "It is armed, and fires at the next event that makes its condition true.",
      };
  return [
    { ...ask, input, button: ask.link },
    {
      name: "remove",
      act: "home alert remove",
      link: "Remove",
      title: "Remove this alert",
      words: html`<bdi>${sentence}</bdi> It is removed with its record. This can't be undone.`,
      input,
      button: "Remove",
      isGrave: true,
      afterwards: address("/alerts", { done: "home alert remove" }),
    },
  ];
}
