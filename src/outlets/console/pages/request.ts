import { adminPath } from "../../../operators/admin-call.ts";
import { type Html, html } from "../../../web/html.ts";
import type { ConsolePage, PageContext } from "../console-page.ts";
import { asCommand } from "../kit/as-command.ts";
import { clientOf, namesOf, tenantOf, userOf } from "../kit/names.ts";
import { factsOf } from "../kit/table.ts";
import { ago } from "../times.ts";
import { type RequestLine, requestLines } from "./request-lines.ts";
import { addressInWords, type ShownRequest, statusOf, tookWords } from "./requests.ts";

interface WithLines {
  /** Null from a node of an older version. */
  readonly lines: readonly RequestLine[] | null;
}

/** One request by its id, its log lines, and how to send it again. */
export const request: ConsolePage = {
  path: "/requests/:request",
  title: "Request",
  subject: "tenants",
  async render(context) {
    const { call, callOf, address, nowMs, parameter, baseUrl } = context;
    const shown: ShownRequest & WithLines = await call("request show", { request: parameter("request") });
    const names = await namesOf(context, [shown]);
    const { requestId, operation, tenantId, userId, clientId, code, time } = shown;
    const showing = callOf("request show");
    return {
      request: html`<p><a href="${address("/requests")}">All requests</a></p>
<h2 class="code">${addressInWords(shown)}</h2>
${factsOf([
  ["Request id", html`<span class="code" id="request-id">${requestId}</span>`],
  ["Status", statusOf(shown)],
  ["Error code", code === null ? undefined : html`<span class="code">${code}</span>`],
  ["Operation", operation ?? undefined],
  ["When it ended", ago(Date.parse(time), nowMs)],
  ["Took", tookWords(shown.tookMs)],
  ["Answer", `${shown.bytes.toLocaleString("en")} bytes`],
  ["Client", clientId === null ? undefined : clientOf(clientId, names)],
  ["User", userId === null ? undefined : userOf(userId, names)],
  ["Tenant", tenantId === null ? "unknown: no valid credentials" : tenantOf(tenantId, names)],
  ["From", html`<bdi dir="ltr">${shown.source}</bdi>`],
  ["Node", html`<span class="code">${shown.nodeName}</span>`],
])}
${alike(context, shown)}
${showing && asCommand(showing, { request: requestId }, baseUrl)}`,
      log: logLines(shown),
      curl: asCurl(shown, baseUrl),
    };
  },
};

/** Links to requests that may have the same cause. */
function alike({ address }: PageContext, { route, clientId, userId, status }: ShownRequest): Html {
  const to = (words: string, filter: Readonly<Record<string, string>>) =>
    html`<a class="button" href="${address("/requests", filter)}">${words}</a>`;
  return html`<p class="asks">${to("Same route", { route })}
${clientId === null ? undefined : to("Same client", { client: clientId })}
${userId === null ? undefined : to("Same user", { user: String(userId) })}
${status < 400 ? undefined : to("Same status", { status: String(status) })}</p>`;
}

function logLines({ requestId, nodeName, lines }: ShownRequest & WithLines): Html {
  return html`<h2>Log lines</h2>
${requestLines(lines)}
<p class="small">On the machine of node <span class="code">${nodeName}</span>, these commands find them in the log, which your system collects:</p>
<pre tabindex="0">journalctl --unit breezeway --output cat | grep ${quoted(requestId)}
docker logs breezeway 2>&1 | grep ${quoted(requestId)}</pre>`;
}

/** The record has no address, no body and no credentials: what is missing has a name in capitals. */
function asCurl({ method, route }: ShownRequest, baseUrl: string): Html {
  // The record does not hold the address of a request without a route.
  if (route === "-") return html``;
  const isOperators = route.startsWith(adminPath);
  const isPage = /^\/(console|link|account|oauth)(\/|$)/.test(route);
  const blanks = [...route.matchAll(/:(\w+)/g)].map(([, name]) => name!);
  const target = route.replace(/:(\w+)/g, (_, name: string) => name.toUpperCase());
  const lines = [`curl -i -X ${method} ${quoted(`${baseUrl}${target}`)}`];
  if (!isPage) lines.push(`-H "Authorization: Bearer $${isOperators ? "OPERATOR_TOKEN" : "ACCESS_TOKEN"}"`);
  if (method !== "GET" && method !== "HEAD" && method !== "DELETE")
    lines.push("-H 'Content-Type: application/json' -d @body.json");
  const missing =
    blanks.length === 0 ? "" : ` Put ids in place of ${blanks.map((name) => name.toUpperCase()).join(", ")}.`;
  return html`<h2>Send it again</h2>
<p>The record holds the pattern of the route only, and never a token, an address or a body.${missing}</p>
<pre tabindex="0" id="curl">${lines.join(" \\\n  ")}</pre>
<p class="asks"><button class="quiet" type="button" data-copies="curl">Copy</button></p>`;
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
