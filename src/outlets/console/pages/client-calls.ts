import { createHash } from "node:crypto";
import { nodeName } from "../../../model/node-name.ts";
import { type Html, html } from "../../../web/html.ts";
import type { PageContext } from "../console-page.ts";
import { factsOf } from "../kit/table.ts";
import { when } from "../kit/times.ts";
import { type ShownRequest, statusOf } from "./requests.ts";

/** What is shown of a client's sign-in page. */
interface CallingClient {
  readonly client_id: string;
  readonly redirect_uris: readonly string[];
  readonly require_pkce: boolean;
}

/** How often the client calls, what failed last, and a way to open its sign-in page. */
export async function callsPart(context: PageContext, shown: CallingClient): Promise<Html> {
  const of = { client: shown.client_id };
  const [calls, error] = await Promise.all([callsPerMinute(context, of.client), lastError(context, of.client)]);
  return html`<h2>Its calls</h2>
${factsOf([
  ["Calls in the last minute", calls],
  ["Last error", error],
])}
<p class="asks"><a class="button" href="${context.address("/requests", of)}">Its requests</a>${tryLink(context, shown)}</p>`;
}

const mostCounted = 200;
const minuteMs = 60_000;

/** From the newest requests that the nodes remember. If all of them are of the last minute, the number is estimated. */
async function callsPerMinute({ call, nowMs }: PageContext, client: string): Promise<string> {
  const { requests, silentNodes } = await call("request list", { client, limit: String(mostCounted) });
  const times = (requests as readonly ShownRequest[]).map(({ time }) => Date.parse(time));
  const inMinute = times.filter((time) => time > nowMs - minuteMs);
  const isEstimated = inMinute.length === mostCounted;
  const passedMs = Math.max(1_000, nowMs - Math.min(...inMinute));
  const estimate = Math.round((mostCounted * minuteMs) / passedMs).toLocaleString("en");
  const words = isEstimated ? `about ${estimate}` : String(inMinute.length);
  return silentNodes.length === 0 ? words : `${words}, without ${silentNodes.map(nodeName).join(", ")}: no answer`;
}

/** The newest request of the client that was refused or failed, of those that the nodes remember. */
async function lastError({ call, address, nowMs }: PageContext, client: string): Promise<Html> {
  const newest = (status: string) => call("request list", { client, status, limit: "1" });
  const answers: readonly { readonly requests: readonly ShownRequest[]; readonly silentNodes: readonly string[] }[] =
    await Promise.all([newest("4xx"), newest("5xx")]);
  const found = answers.flatMap(({ requests }) => requests).sort((a, b) => Date.parse(b.time) - Date.parse(a.time))[0];
  const silent = [...new Set(answers.flatMap(({ silentNodes }) => silentNodes))];
  const note =
    silent.length === 0
      ? undefined
      : html` <span class="small">Not known of ${silent.map(nodeName).join(", ")}.</span>`;
  if (!found) return html`<span class="soft">none that the nodes remember</span>${note}`;
  const { requestId, method, route, operation, time } = found;
  return html`<a class="code" href="${address(`/requests/${encodeURIComponent(requestId)}`)}">${method} ${operation ?? route}</a> ${statusOf(found)} ${when(time, nowMs)}${note}`;
}

/** The SHA-256 of a fixed word: clients that require PKCE are shown their pages too. The code can't be redeemed with it. */
const tryChallenge = createHash("sha256").update("breezeway console tries the flow of a client").digest("base64url");

/** Opens the sign-in page as this client does. The client gets the answer, with a state that it does not know. */
function tryLink({ baseUrl }: PageContext, shown: CallingClient): Html | undefined {
  const [redirect] = shown.redirect_uris;
  if (redirect === undefined) return undefined;
  const query = new URLSearchParams({
    response_type: "code",
    client_id: shown.client_id,
    redirect_uri: redirect,
    state: "tried-in-the-console",
    ...(shown.require_pkce && { code_challenge: tryChallenge, code_challenge_method: "S256" }),
  });
  return html`<a class="button" href="${baseUrl}/oauth2/authorize?${query.toString()}" target="_blank" rel="noopener noreferrer">Try the flow</a>`;
}
