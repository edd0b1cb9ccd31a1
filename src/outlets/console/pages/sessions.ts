import { html } from "../../../web/html.ts";
import { actionButton } from "../action.ts";
import type { ConsolePage } from "../console-page.ts";

interface ShownSession {
  readonly sessionId: string;
  readonly created: string;
  readonly used: string;
  readonly address: string;
  readonly userAgent: string;
}

/** The signed-in browsers of the operator. */
export const sessions: ConsolePage = {
  path: "/sessions",
  title: "My sessions",
  subject: "self",
  async render({ call, operator, address }) {
    const { sessions: own } = await call("operator sessions list", { operator: String(operator.operatorId) });
    const current = operator.by.id;
    const row = ({ sessionId, created, used, address: from, userAgent }: ShownSession) => html`<tr>
<td>${userAgent || "unknown browser"}${sessionId === current ? html` <strong>this browser</strong>` : undefined}</td>
<td>${from}</td>
<td><time datetime="${created}">${minute(created)}</time></td>
<td><time datetime="${used}">${minute(used)}</time></td>
<td>${
      sessionId === current
        ? undefined
        : actionButton({
            act: "operator sessions end",
            input: { id: sessionId },
            to: address("/sessions"),
            words: "Sign out",
            about: `the browser from ${from}`,
          })
    }</td>
</tr>`;
    return {
      sessions: html`<p class="lead">A session ends 12 hours after the sign-in, and 60 minutes after its last use.</p>
<div class="wide"><table>
<thead><tr><th scope="col">Browser</th><th scope="col">From</th><th scope="col">Signed in</th><th scope="col">Last used</th><th scope="col">Action</th></tr></thead>
<tbody>${(own as readonly ShownSession[]).map(row)}</tbody>
</table></div>`,
    };
  },
};

/** `2026-03-01 09:30 UTC`. */
function minute(time: string): string {
  return `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;
}
