import { type Html, html } from "../../../web/html.ts";
import { named } from "../../../web/page.ts";
import { auditFilters, type ShownEntry, wordsOf } from "../audit-entries.ts";
import type { ConsolePage } from "../console-page.ts";
import { clientOf, inOneLine, type Names, namesOf, tenantOf, userOf } from "../kit/names.ts";
import { filterForm, kept, pageInput, pager, tableOf } from "../kit/table.ts";
import { when } from "../kit/times.ts";

const path = "/audit";

/** Who did what, on what, and from where. */
export const audit: ConsolePage = {
  path,
  title: "Audit",
  navigationLabel: "Audit",
  subject: "tenants",
  async render(context) {
    const { call, address, nowMs, parameter } = context;
    const answer = await call("audit list", pageInput(context, auditFilters));
    const entries = answer.entries as readonly ShownEntry[];
    const names = await namesOf(context, entries);
    return {
      list: html`${filterForm(context, path, [
        { name: "act", label: "Act" },
        { name: "operator", label: "Operator" },
        { name: "user", label: "Home, user or user id" },
        { name: "client", label: "Client id" },
      ])}
${
  entries.length === 0
    ? html`<p>${withoutEntries(answer.cursor !== undefined, parameter("cursor") === undefined)}</p>`
    : tableOf<ShownEntry>(
        "Audit log",
        [
          { title: "When", cell: ({ time }) => when(time, nowMs) },
          { title: "Who", cell: (entry) => who(entry, names) },
          {
            title: "What",
            cell: (entry) => html`<ul>${wordsOf(entry).map((words) => html`<li><bdi>${words}</bdi></li>`)}</ul>`,
          },
          { title: "On what", cell: (entry) => onWhat(entry, names) },
          { title: "From", cell: ({ source }) => html`<bdi dir="ltr">${source}</bdi>` },
        ],
        entries,
      )
}
${pager(context, path, auditFilters, answer.cursor)}
<p class="asks"><a class="button" href="${address("/audit.csv", kept(context, auditFilters))}">Download as CSV</a></p>
<p class="small">The newest 10,000 entries that fit.</p>`,
    };
  },
};

function withoutEntries(hasNextPage: boolean, isFirstPage: boolean): string {
  if (hasNextPage)
    return "None of the entries that were examined so far fits. The next page goes on; the download examines all.";
  return isFirstPage ? "No entry of the last year fits." : "No further entry fits.";
}

/** A sign-in that failed names the client that asked for it, and nobody knows who tried. */
function who({ operator, userId, clientId, act, detail }: ShownEntry, names: Names): Html | string {
  if (operator === "local") return commandOf(detail);
  if (operator !== null) return html`operator ${named(operator)}`;
  if (userId !== null) return userOf(userId, names);
  return clientId !== null && act !== "sign_in_failed" ? "the client" : "unknown";
}

/** Names the person at the machine, as far as the entry has them. */
function commandOf({ systemUser, sudoUser }: ShownEntry["detail"]): Html | string {
  if (typeof systemUser !== "string") return "a command on the machine";
  if (typeof sudoUser !== "string") return html`a command of ${named(systemUser)} on the machine`;
  return html`a command of ${named(sudoUser)}, as ${named(systemUser)}, on the machine`;
}

function onWhat({ tenantId, userId, clientId, operator }: ShownEntry, names: Names): Html {
  const parts = [
    ...(userId !== null && operator !== null ? [userOf(userId, names)] : []),
    ...(clientId === null ? [] : [clientOf(clientId, names)]),
    ...(tenantId === null ? [] : [tenantOf(tenantId, names)]),
  ];
  if (parts.length === 0) return html`<span class="soft">the service</span>`;
  return inOneLine(parts);
}
