import { type Html, html } from "../../../web/html.ts";
import { actionButton } from "../action.ts";
import type { ConsolePage, PageContext } from "../console-page.ts";
import { type Ask, askLinks, openAsk, typed } from "../kit/ask.ts";
import { type StatusLevel, state } from "../kit/state.ts";
import { factsOf, tableOf } from "../kit/table.ts";
import { when } from "../kit/times.ts";
import { errorsByCode, lastDirective, reportLag } from "./assistant-health.ts";
import { assistantNames, type ShownOutlet } from "./assistants.ts";

interface Linked {
  readonly userId: number;
  readonly since: string;
  readonly reported: string | null;
  readonly waits: boolean;
  readonly problem: string | null;
  readonly omitted: { readonly count: number; readonly devices: readonly { readonly name: string }[] };
}

interface Report {
  readonly userId: number;
  readonly time: string;
  readonly type: string;
  readonly things: number;
  readonly outcome: string;
  readonly status: number | null;
  readonly text: string | null;
}

interface ShownSettings extends ShownOutlet {
  readonly settings: Readonly<Record<string, string>>;
  readonly setUp: readonly { readonly page: string; readonly field: string; readonly value: string }[];
  readonly linked: number;
  readonly users: readonly Linked[];
}

/** One assistant: who has linked it, what was reported, and what to enter in the console of its maker. */
export const assistant: ConsolePage = {
  path: "/assistants/:outlet",
  title: "Assistant",
  subject: "tenants",
  async render(context) {
    const { call, address, nowMs, parameter } = context;
    const outlet = parameter("outlet");
    const shown: ShownSettings = await call("outlet show", { outlet });
    const { deliveries } = await call("outlet deliveries", { outlet: shown.outlet });
    const here = `/assistants/${shown.outlet}`;
    const asks = [check(shown), ...trials(shown), removal(context, shown)];
    return {
      ask: openAsk(context, here, asks),
      outlet: html`<p><a href="${address("/assistants")}">All assistants</a></p>
<h2>${assistantNames[shown.kind] ?? shown.kind}</h2>
${factsOf([
  ["Outlet", html`<span class="code">${shown.outlet}</span>`],
  ["Tenant", html`<bdi>${shown.tenant}</bdi>`],
  ["Client", html`<a class="code" href="${address(`/clients/${shown.client_id}`)}">${shown.client_id}</a>`],
  ...Object.entries(shown.settings).map(([name, value]) => [name, html`<bdi>${value}</bdi>`] as const),
  ["Accounts linked", shown.linked],
  ["Last report", when(deliveries[0]?.time, nowMs, "none in the last week")],
  ["Last directive", lastDirective(shown, nowMs)],
  ["Report lag", reportLag(shown)],
  ["Errors of the last reports", errorsByCode(shown)],
  ["Added", when(shown.created, nowMs)],
])}
${askLinks(context, here, asks)}`,
      users: html`<h2>Accounts</h2>
${accounts(context, here, shown)}`,
      reports: html`<h2>Reports</h2>
${reports(deliveries, nowMs)}`,
      setUp: html`<details><summary>What to enter in the console of the assistant's maker</summary>
${tableOf<ShownSettings["setUp"][number]>(
  "What to enter in the console of the assistant's maker",
  [
    { title: "Page", cell: ({ page }) => page },
    { title: "Field", cell: ({ field }) => field },
    { title: "Value", cell: ({ value }) => html`<bdi dir="ltr">${value}</bdi>` },
  ],
  shown.setUp,
)}</details>`,
    };
  },
};

function accounts(
  { callOf, address, nowMs }: PageContext,
  here: string,
  { outlet, linked, users }: ShownSettings,
): Html {
  if (users.length === 0) return html`<p>No user has linked it yet.</p>`;
  return html`${tableOf<Linked>(
    "Accounts",
    [
      { title: "User", cell: ({ userId }) => html`<a href="${address(`/users/${userId}`)}">user ${userId}</a>` },
      { title: "Since", cell: ({ since }) => when(since, nowMs) },
      { title: "Last report", cell: ({ reported }) => when(reported, nowMs) },
      {
        title: "State",
        cell: ({ problem, waits, reported }) =>
          problem !== null
            ? state("bad", problem)
            : waits
              ? state("warn", "a report waits")
              : reported === null
                ? state("off", "nothing reported yet")
                : state("good", "reported"),
      },
      {
        title: "Action",
        cell: ({ userId }) =>
          callOf("outlet resend") &&
          actionButton({
            act: "outlet resend",
            input: { outlet, user: String(userId) },
            to: address(here, { done: "outlet resend" }),
            words: "Report again",
            about: `user ${userId}`,
          }),
      },
    ],
    users,
  )}
${users.flatMap(notOffered)}
${linked > users.length ? html`<p class="small">${linked - users.length} more are not shown.</p>` : undefined}`;
}

/** Some assistants take a limited number of devices. */
function notOffered({ userId, omitted: { count, devices } }: Linked): readonly Html[] {
  if (count === 0) return [];
  const names = devices.map(({ name }, index) => html`<bdi>${name}</bdi>${index < devices.length - 1 ? "," : ""}`);
  const rest = count > devices.length ? ` and ${count - devices.length} more` : "";
  return [
    html`<p class="small">Not offered to user ${userId}, because the assistant takes no more devices: ${names}${rest}</p>`,
  ];
}

const moods: Readonly<Record<string, StatusLevel>> = { taken: "good", retry: "warn", forgotten: "off" };

function reports(found: readonly Report[], nowMs: number): Html {
  if (found.length === 0) return html`<p>Nothing was reported in the last week.</p>`;
  return tableOf<Report>(
    "Reports",
    [
      { title: "When", cell: ({ time }) => when(time, nowMs) },
      { title: "User", cell: ({ userId }) => userId },
      { title: "Message", cell: ({ type }) => type },
      { title: "Things", cell: ({ things }) => things },
      { title: "Outcome", cell: ({ outcome }) => state(moods[outcome] ?? "bad", outcome) },
      { title: "Answer", cell: ({ status, text }) => html`<bdi>${text ?? status ?? "-"}</bdi>` },
    ],
    found.slice(0, 50),
  );
}

function check({ outlet }: ShownSettings): Ask {
  return {
    name: "check",
    act: "outlet check",
    link: "Check with the maker",
    title: "Check the settings",
    words: "The service asks the maker's service whether the settings are right. It waits for 15 seconds at most.",
    input: { outlet },
    button: "Check",
  };
}

/** A message to begin with: the list of devices, which changes nothing. */
const firstMessages: Readonly<Record<string, object>> = {
  "google-home": { requestId: "1", inputs: [{ intent: "action.devices.SYNC" }] },
  alexa: {
    directive: {
      header: { namespace: "Alexa.Discovery", name: "Discover", payloadVersion: "3", messageId: "1" },
      payload: {},
    },
  },
};

/** The form that tries a message; none before a user has linked the assistant. */
function trials({ outlet, kind, users }: ShownSettings): readonly Ask[] {
  const message = JSON.stringify(firstMessages[kind] ?? {}, null, 2);
  const [first] = users;
  if (!first) return [];
  return [
    {
      name: "try",
      act: "outlet try",
      link: "Try a message",
      title: "Try a message by hand",
      words:
        "The service answers as if this user's assistant had sent it, with the rights that the user gave. Commands are run in the home.",
      input: { outlet },
      fields: html`${typed({
        option: "user",
        label: "User",
        value: String(first.userId),
        choices: users.map(({ userId }) => [String(userId), `user ${userId}`] as const),
      })}
${typed({ option: "message", label: "Message", hint: "As the assistant sends it, in JSON. A token is not needed.", value: message, isLines: true, isRequired: true })}`,
      example: { outlet, user: String(first.userId), message: "directive.json" },
      button: "Try",
    },
  ];
}

function removal({ address }: PageContext, { outlet, linked }: ShownSettings): Ask {
  return {
    name: "remove",
    act: "outlet remove",
    link: "Remove",
    title: "Remove the assistant",
    words: `Its client is removed too, and the links of ${linked} users end at once. This can't be undone.`,
    input: { outlet },
    button: "Remove",
    isGrave: true,
    afterwards: address("/assistants", { done: "outlet remove" }),
  };
}
