import { waitingInWords } from "../../../events/webhooks/webhook-administration.ts";
import { limits } from "../../../model/limits.ts";
import { type Html, html } from "../../../web/html.ts";
import { named } from "../../../web/page.ts";
import { actionButton } from "../action.ts";
import type { ConsolePage, PageContext } from "../console-page.ts";
import { type Ask, askLinks, openAsk, typed } from "../kit/ask.ts";
import { lengthWords } from "../kit/durations.ts";
import { state } from "../kit/state.ts";
import { factsOf, filterForm, kept, pager, tableOf } from "../kit/table.ts";
import { when } from "../kit/times.ts";
import { answerOf, attemptWords, deliveryMoods, oneDelivery, type ShownDelivery } from "./webhook-delivery.ts";
import { type ShownWebhook, success, tryNow, webhookState } from "./webhooks.ts";

/** One webhook: its deliveries, what was sent and what the receiver answered. */
export const webhook: ConsolePage = {
  path: "/webhooks/:webhook",
  title: "Webhook",
  subject: "tenants",
  async render(context) {
    const { call, address, nowMs, parameter } = context;
    const shown: ShownWebhook = await call("hook show", { webhook: parameter("webhook") });
    const here = `/webhooks/${shown.webhookId}`;
    const asks = asksOf(context, shown);
    return {
      ask: openAsk(context, here, asks),
      webhook: html`<p><a href="${address("/webhooks")}">All webhooks</a></p>
<h2><bdi dir="ltr">${shown.url || "The key of its address is missing"}</bdi></h2>
${factsOf([
  ["Webhook", html`<span class="code">${shown.webhookId}</span>`],
  ["Client", html`<a href="${address(`/clients/${shown.clientId}`)}">${named(shown.clientName ?? shown.clientId)}</a>`],
  ["Tenant", html`<bdi>${shown.tenant ?? "-"}</bdi>`],
  [
    "Events of",
    shown.userId === null
      ? "all users of the tenant"
      : html`<a href="${address(`/users/${shown.userId}`)}">user ${shown.userId}</a>`,
  ],
  ["Devices", shown.deviceIds.join(", ") || "all"],
  ["Attributes", shown.attributes.join(", ") || "all"],
  ["State", webhookState(shown)],
  ["Last 20 messages", success(shown)],
  ["Lag", await lagOfLast(context, shown)],
  ["Waiting", waitingInWords(shown.waiting)],
  ["Last delivery", when(shown.lastTime, nowMs)],
  [
    "Next try",
    html`${when(shown.nextTry, nowMs, withoutTry(shown))}${retried(context, here, shown)}${tryNow(context, shown, address(here, { done: "hook resend-since" }))}`,
  ],
  ["Added", when(shown.created, nowMs)],
])}
${askLinks(context, here, asks)}`,
      delivery: await oneDelivery(context, shown),
      deliveries: await deliveries(context, here, shown),
    };
  },
};

/** Why no try is planned: the messages are held, or none has failed. */
function withoutTry({ state: known, waiting }: ShownWebhook): string {
  if (waiting > 0 && known === "paused") return "held until it is resumed";
  if (waiting > 0 && known === "suspended") return "held while it is suspended";
  return "nothing is tried again";
}

/** The message that is retried, which may be far down in the list. */
function retried(
  { address }: PageContext,
  here: string,
  { nextTry, retriedDelivery: id, retriedAnswer }: ShownWebhook,
) {
  if (id === null) return undefined;
  const link = html`<a href="${address(here, { delivery: String(id) })}">message ${id}</a>`;
  return html`<span class="soft">${nextTry === null ? ":" : " for"} ${link}, last ${retriedAnswer ?? "not answered"}</span>`;
}

async function deliveries(
  context: PageContext,
  here: string,
  { webhookId, state: known }: ShownWebhook,
): Promise<Html> {
  const { call, callOf, address, nowMs } = context;
  const isHeld = known === "paused" || known === "suspended";
  const names = ["state"];
  const input = { webhook: webhookId, "page-size": "50", ...kept(context, [...names, "cursor"]) };
  const answer = await call("hook deliveries", input);
  const found = answer.deliveries as readonly ShownDelivery[];
  const states = Object.keys(deliveryMoods).map((one) => [one, one] as const);
  const list =
    found.length === 0
      ? html`<p>There are none.</p>`
      : tableOf<ShownDelivery>(
          "Deliveries",
          [
            {
              title: "Message",
              cell: ({ deliveryId, type, isResend }) =>
                html`<a href="${address(here, { ...kept(context, [...names, "cursor"]), delivery: String(deliveryId) })}">${deliveryId} ${type}</a>${isResend ? html` <span class="soft">resend</span>` : undefined}`,
            },
            { title: "State", cell: ({ state: known }) => state(deliveryMoods[known] ?? "bad", known) },
            { title: "Attempts", cell: (one) => attemptWords(one) },
            { title: "Answer", cell: ({ status, text }) => answerOf(status, text) },
            { title: "Made", cell: ({ created }) => when(created, nowMs) },
            { title: "Took", cell: ({ created, settled }) => lag(created, settled) },
            {
              title: "Action",
              cell({ deliveryId, state: delivery }) {
                if (!callOf("hook resend") || (isHeld && delivery === "waiting")) return undefined;
                return actionButton({
                  act: "hook resend",
                  input: { webhook: webhookId, delivery: String(deliveryId) },
                  to: address(here, { done: "hook resend" }),
                  words: delivery === "delivered" ? "Resend" : "Try now",
                  about: `message ${deliveryId}`,
                });
              },
            },
          ],
          found,
        );
  return html`<h2>Deliveries</h2>
${filterForm(context, here, [{ name: "state", label: "State", choices: states }])}
${list}
${pager(context, here, names, answer.cursor)}`;
}

const pauseWords = `Nothing is sent to the receiver until you resume it. Messages wait, up to ${limits.webhookMessagesWaiting.toLocaleString("en")} of them; beyond that the oldest are replaced by one message of the type resync.`;

/** How long the last delivered messages took: the median and the longest time. */
async function lagOfLast({ call }: PageContext, { webhookId }: ShownWebhook): Promise<Html> {
  const answer = await call("hook deliveries", { webhook: webhookId, state: "delivered", "page-size": "20" });
  const found = answer.deliveries as readonly ShownDelivery[];
  const took = found.flatMap(({ created, settled }) => (settled === null ? [] : [tookMs(created, settled)]));
  if (took.length === 0) return html`<span class="soft">nothing was delivered yet</span>`;
  const ordered = took.toSorted((a, b) => a - b);
  const median = ordered[Math.floor((ordered.length - 1) / 2)]!;
  const of = ordered.length === 1 ? "the last delivered message" : `the last ${ordered.length} delivered messages`;
  return html`${lengthWords(median)}, at most ${lengthWords(ordered.at(-1)!)} <span class="soft">median and longest time of ${of}</span>`;
}

function tookMs(created: string, settled: string): number {
  return Math.max(0, Date.parse(settled) - Date.parse(created));
}

/** From the message to the end of its delivery. */
function lag(created: string, settled: string | null): string {
  return settled === null ? "-" : lengthWords(tookMs(created, settled));
}

function asksOf({ nowMs }: PageContext, { webhookId, state: known }: ShownWebhook): readonly Ask[] {
  const input = { webhook: webhookId };
  const since = new Date(nowMs - 86_400_000).toISOString();
  return [
    {
      name: "resend",
      act: "hook resend-since",
      link: "Try now since a time",
      title: "Try now what failed since a time",
      words:
        "Messages that wait are tried now. Every message that was given up since this time, and has not arrived meanwhile, is sent again after them.",
      input,
      fields: typed({
        option: "since",
        label: "Since",
        hint: "In ISO 8601: 2026-03-01T09:00:00Z.",
        value: since,
        isRequired: true,
        isFirst: true,
      }),
      example: { ...input, since },
      button: "Try now",
    },
    {
      name: "test",
      act: "hook test",
      link: "Send a test",
      title: "Send a test message",
      words: "The receiver gets one message of the type test, signed as all others.",
      input,
      button: "Send",
    },
    known === "paused"
      ? {
          name: "resume",
          act: "hook resume",
          link: "Resume",
          title: "Resume the webhook",
          words: "What waits is sent now, in order.",
          input,
          button: "Resume",
        }
      : {
          name: "pause",
          act: "hook pause",
          link: "Pause",
          title: "Pause the webhook",
          words: pauseWords,
          input,
          button: "Pause",
        },
    {
      name: "rotate",
      act: "hook rotate",
      link: "Rotate the secret",
      title: "Give it a new secret",
      words:
        "The new secret is shown once. The old one ends at once: the receiver refuses messages until it knows the new one.",
      input,
      button: "Rotate",
      isGrave: true,
    },
  ];
}
