import { type Html, html } from "../../../web/html.ts";
import type { PageContext } from "../console-page.ts";
import { lengthWords } from "../kit/durations.ts";
import { type StatusLevel, state } from "../kit/state.ts";
import { factsOf, tableOf } from "../kit/table.ts";
import { when } from "../kit/times.ts";
import type { ShownWebhook } from "./webhooks.ts";

interface ShownTry {
  readonly attempt: number | null;
  readonly time: string | null;
  readonly tookMs: number | null;
  readonly status: number | null;
  readonly text: string | null;
}

export interface ShownDelivery {
  readonly deliveryId: number;
  readonly messageId: string;
  readonly type: string;
  readonly state: string;
  readonly attempts: number;
  readonly failedAttempts: number;
  readonly status: number | null;
  readonly text: string | null;
  readonly created: string;
  readonly settled: string | null;
  readonly nextTry: string | null;
  readonly isResend: boolean;
  readonly tries: readonly ShownTry[];
}

export const deliveryMoods: Readonly<Record<string, StatusLevel>> = {
  delivered: "good",
  waiting: "warn",
  failed: "bad",
};

/** The delivery that the address names: what was sent, and what the receiver answered each time. */
export async function oneDelivery({ call, parameter, nowMs }: PageContext, { webhookId, url }: ShownWebhook) {
  const chosen = parameter("delivery");
  if (chosen === undefined) return undefined;
  const shown: ShownDelivery & { readonly body: object } = await call("hook delivery", {
    webhook: webhookId,
    delivery: chosen,
  });
  return html`<h2>Delivery ${shown.deliveryId}</h2>
${factsOf([
  ["State", state(deliveryMoods[shown.state] ?? "bad", shown.state)],
  ["Message", html`<span class="code">${shown.messageId}</span>`],
  ["Type", shown.type],
  ["Resend", shown.isResend ? "yes, the message was sent before" : "no"],
  ["Attempts", attemptWords(shown)],
  ["Made", when(shown.created, nowMs)],
  ["Settled", when(shown.settled, nowMs, "not yet")],
  ["Next try", when(shown.nextTry, nowMs, "none")],
])}
<h3>Attempts</h3>
${attempts(shown, nowMs)}
<h3>Request</h3>
<pre tabindex="0">POST ${url}
content-type: application/json; charset=utf-8
webhook-id: ${shown.messageId}
webhook-timestamp: the time of the attempt, in seconds
webhook-signature: v1, made with the secret of the webhook</pre>
<details><summary>Body</summary><pre tabindex="0">${JSON.stringify(shown.body, null, 2)}</pre></details>`;
}

function attempts({ tries, attempts: made }: ShownDelivery, nowMs: number): Html {
  if (tries.length === 0) return html`<p>${made === 0 ? "None was made yet." : "None has ended yet."}</p>`;
  const missing = made - tries.length;
  return html`${tableOf<ShownTry>(
    "Attempts",
    [
      { title: "Attempt", cell: ({ attempt }) => attempt ?? "-" },
      { title: "When", cell: ({ time }) => when(time, nowMs, "not recorded") },
      { title: "Took", cell: ({ tookMs }) => (tookMs === null ? "-" : lengthWords(tookMs)) },
      {
        title: "Answer",
        cell: ({ status, text }) => state(text === null ? "good" : "bad", answerOf(status, text)),
      },
    ],
    tries,
  )}
${missing > 0 ? html`<p class="small">${missing} more: earlier ones, ones under way, and ones that a node did not record.</p>` : undefined}`;
}

/** `3, 2 failed`. */
export function attemptWords({ attempts, failedAttempts }: Pick<ShownDelivery, "attempts" | "failedAttempts">): Html {
  if (failedAttempts === 0) return html`${attempts}`;
  return html`${attempts}, ${state("bad", `${failedAttempts} failed`)}`;
}

export function answerOf(status: number | null, text: string | null): string {
  return [status === null ? undefined : `HTTP ${status}`, text ?? undefined].filter(Boolean).join(": ") || "none yet";
}
