import { NotFound } from "../../../model/errors.ts";
import { type Html, html } from "../../../web/html.ts";
import { named } from "../../../web/page.ts";
import { auditFilters, type ShownEntry, wordsOf } from "../audit-entries.ts";
import type { ConsolePage, PageContext } from "../console-page.ts";
import { filterForm, kept, pageInput, pager, tableOf } from "../kit/table.ts";
import { when } from "../kit/times.ts";

const path = "/audit";

/** Who did what, on what, and from where. */
export const audit: ConsolePage = {
  path,
  title: "Audit",
  rail: "Audit",
  subject: "tenants",
  async render(context) {
    const { call, address, nowMs } = context;
    const answer = await call("audit list", pageInput(context, auditFilters));
    const entries = answer.entries as readonly ShownEntry[];
    const names = await namesOf(context, entries);
    return {
      list: html`${filterForm(context, path, [
        { name: "act", label: "Act" },
        { name: "operator", label: "Operator" },
        { name: "user", label: "User id" },
        { name: "client", label: "Client id" },
      ])}
${
  entries.length === 0
    ? html`<p>No entry of the last year fits.</p>`
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

interface Names {
  readonly address: PageContext["address"];
  readonly tenants: ReadonlyMap<number, string>;
  readonly users: ReadonlyMap<number, string>;
  readonly clients: ReadonlyMap<string, string>;
}

/** The names of users and clients on this page that exist still. */
async function namesOf({ call, tenants, address }: PageContext, entries: readonly ShownEntry[]): Promise<Names> {
  const distinct = <Id>(ids: readonly (Id | null)[]) => [...new Set(ids.flatMap((id) => (id === null ? [] : [id])))];
  const found = <Id>(ids: readonly Id[], nameOf: (id: Id) => Promise<string>) =>
    Promise.all(
      ids.map(async (id) => {
        try {
          return [[id, await nameOf(id)] as const];
        } catch (error) {
          if (!(error instanceof NotFound)) throw error;
          // It was removed. The entry shows its id.
          return [];
        }
      }),
    );
  const [users, clients] = await Promise.all([
    found(
      distinct(entries.map(({ userId }) => userId)),
      async (user) => (await call("user show", { user: String(user) })).name,
    ),
    found(
      distinct(entries.map(({ clientId }) => clientId)),
      async (client) => (await call("client show", { client })).name,
    ),
  ]);
  return {
    address,
    tenants: new Map(tenants.map(({ tenantId, name }) => [tenantId, name])),
    users: new Map(users.flat()),
    clients: new Map(clients.flat()),
  };
}

function userOf(userId: number, { users, address }: Names): Html {
  const name = users.get(userId);
  return name === undefined
    ? html`user ${userId}, who was removed`
    : html`<a href="${address(`/users/${userId}`)}">${named(name)}</a>`;
}

function who({ operator, userId, act }: ShownEntry, names: Names): Html | string {
  if (operator === "local") return "a command on the machine";
  if (operator !== null) return html`operator ${named(operator)}`;
  if (userId !== null) return userOf(userId, names);
  return act === "client_credentials" ? "the client" : "unknown";
}

function onWhat({ tenantId, userId, clientId, operator }: ShownEntry, names: Names): Html {
  const { tenants, clients, address } = names;
  const client = clientId === null ? undefined : clients.get(clientId);
  const parts = [
    ...(userId !== null && operator !== null ? [userOf(userId, names)] : []),
    ...(clientId === null
      ? []
      : [
          client === undefined
            ? html`<span class="code">${clientId}</span>`
            : html`<a href="${address(`/clients/${clientId}`)}">${named(client)}</a>`,
        ]),
    ...(tenantId === null ? [] : [html`<bdi>${tenants.get(tenantId) ?? `tenant ${tenantId}`}</bdi>`]),
  ];
  if (parts.length === 0) return html`<span class="soft">the service</span>`;
  return html`${parts.map((part, place) => (place === 0 ? part : html`, ${part}`))}`;
}
