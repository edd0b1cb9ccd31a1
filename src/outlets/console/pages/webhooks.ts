import { waitingInWords } from "../../../events/webhooks/webhook-administration.ts";
import { type Html, html } from "../../../web/html.ts";
import { named } from "../../../web/page.ts";
import { actionButton } from "../action.ts";
import type { ConsolePage, PageContext } from "../console-page.ts";
import { type StatusLevel, state } from "../kit/state.ts";
import { pageInput, pager, tableOf } from "../kit/table.ts";
import { when } from "../kit/times.ts";
import { receiverSnippet } from "./receiver-snippet.ts";

const path = "/webhooks";
const kept = ["client"];

export interface ShownWebhook {
  readonly webhookId: string;
  readonly tenant: string | null;
  readonly clientId: string;
  readonly clientName: string | null;
  readonly userId: number | null;
  readonly url: string;
  readonly deviceIds: readonly number[];
  readonly attributes: readonly string[];
  readonly state: string;
  readonly waiting: number;
  readonly recentDelivered: number;
  readonly recentFailed: number;
  readonly recentFailedAttempts: number;
  readonly lastTime: string | null;
  readonly nextTry: string | null;
  readonly retriedDelivery: number | null;
  readonly retriedAnswer: string | null;
  readonly created: string;
}

/** The webhooks of all clients. */
export const webhooks: ConsolePage = {
  path,
  title: "Webhooks",
  navigationLabel: "Webhooks",
  subject: "tenants",
  async render(context) {
    const { call, address, nowMs, baseUrl, parameter } = context;
    const { webhooks: found, cursor } = await call("hook list", pageInput(context, kept));
    if (found.length === 0 && parameter("cursor") !== undefined) {
      return { list: html`<p>No further webhook.</p>${pager(context, path, kept, cursor)}` };
    }
    if (found.length === 0) {
      return {
        list: html`<p>No client has a webhook. A client adds one with its access token:</p>
<pre tabindex="0">curl -s ${baseUrl}/v3/webhooks -H "Authorization: Bearer $ACCESS_TOKEN" -H "Content-Type: application/json" -d '{"url": "https://receiver.example/events"}'</pre>
<p>The answer shows the secret of the webhook once. With it the receiver checks that a message comes from this service, in Node for example:</p>
<pre tabindex="0">${receiverSnippet}</pre>
<p class="small">Answer with a 2xx within 15 seconds, and skip a <code>webhook-id</code> that you have already received.</p>`,
      };
    }
    return {
      list: html`${tableOf<ShownWebhook>(
        "Webhooks",
        [
          {
            title: "Address",
            cell: ({ webhookId, url }) =>
              html`<a href="${address(`${path}/${webhookId}`)}"><bdi dir="ltr">${url || "its key is missing"}</bdi></a><br><span class="code soft">${webhookId}</span>`,
          },
          {
            title: "Client",
            cell: ({ clientId, clientName }) =>
              html`<a href="${address(`/clients/${clientId}`)}">${named(clientName ?? clientId)}</a>`,
          },
          { title: "Tenant", cell: ({ tenant }) => html`<bdi>${tenant ?? "-"}</bdi>` },
          { title: "State", cell: (one) => webhookState(one) },
          { title: "Last 20 messages", cell: (one) => success(one) },
          { title: "Waiting", cell: ({ waiting }) => waitingInWords(waiting) },
          {
            title: "Next try",
            cell: (one) =>
              html`${when(one.nextTry, nowMs, "-")}${tryNow(context, one, address(path, { done: "hook resend-since" }))}`,
          },
        ],
        found,
      )}
${pager(context, path, kept, cursor)}`,
    };
  },
};

const moods: Readonly<Record<string, StatusLevel>> = {
  working: "good",
  retrying: "warn",
  failing: "bad",
  unused: "off",
  paused: "warn",
  suspended: "off",
};

export function webhookState({ state: known }: ShownWebhook) {
  return state(moods[known] ?? "bad", known);
}

/** Tries what waits and what was given up, if there is any and the webhook does not hold its messages. */
export function tryNow({ callOf }: PageContext, shown: ShownWebhook, to: string): Html | undefined {
  const { webhookId, url, state: known, recentFailed } = shown;
  const isFailing = known === "retrying" || known === "failing" || (known === "working" && recentFailed > 0);
  if (!isFailing || !callOf("hook resend-since")) return undefined;
  const button = {
    act: "hook resend-since",
    input: { webhook: webhookId },
    to,
    words: "Try now",
    about: url || webhookId,
  };
  return html` ${actionButton(button)}`;
}

export function success({ recentDelivered, recentFailed, recentFailedAttempts: attempts }: ShownWebhook): Html {
  const ended = recentDelivered + recentFailed;
  if (ended === 0) return html`none tried`;
  const failed = attempts === 1 ? "1 attempt failed" : `${attempts} attempts failed`;
  return html`${recentDelivered} of ${ended} delivered${
    attempts === 0 ? undefined : html`, ${state(recentFailed === 0 ? "warn" : "bad", failed)}`
  }`;
}
