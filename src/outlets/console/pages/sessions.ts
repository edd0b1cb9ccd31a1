import { html } from "../../../web/html.ts";
import { actionButton } from "../action.ts";
import type { ConsolePage } from "../console-page.ts";
import { askLinks, openAsk } from "../kit/ask.ts";
import { credentials, makeToken, tokensList } from "../kit/credentials.ts";
import { minute } from "../times.ts";

interface ShownSession {
  readonly sessionId: string;
  readonly created: string;
  readonly used: string;
  readonly address: string;
  readonly userAgent: string;
}

const path = "/sessions";

/** The signed-in browsers and the tokens of the operator. */
export const sessions: ConsolePage = {
  path,
  title: "My sessions",
  subject: "self",
  query: ["do"],
  async render(context) {
    const { call, operator, address } = context;
    const tokenAsks = makeToken(context, operator);
    const { sessions: own } = await call("operator sessions list", { operator: String(operator.operatorId) });
    const current = operator.by.id;
    const row = ({ sessionId, created, used, address: from, userAgent }: ShownSession) => html`<tr>
<td>${userAgent || "unknown browser"}${sessionId === current ? html` <strong>this browser</strong>` : undefined}</td>
<td>${from}</td>
<td>${minute(Date.parse(created))}</td>
<td>${minute(Date.parse(used))}</td>
<td>${
      sessionId === current
        ? undefined
        : actionButton({
            act: "operator sessions end",
            input: { id: sessionId },
            to: address(path),
            words: "Sign out",
            about: `the browser from ${from}`,
          })
    }</td>
</tr>`;
    return {
      ask: openAsk(context, path, tokenAsks),
      sessions: html`<p class="lead">A session ends 12 hours after the sign-in, and 60 minutes after its last use.</p>
<div class="wide"><table>
<thead><tr><th scope="col">Browser</th><th scope="col">From</th><th scope="col">Signed in</th><th scope="col">Last used</th><th scope="col">Action</th></tr></thead>
<tbody>${(own as readonly ShownSession[]).map(row)}</tbody>
</table></div>`,
      tokens: html`${await credentials(context, path, operator, tokensList)}
${askLinks(context, path, tokenAsks)}`,
    };
  },
};
