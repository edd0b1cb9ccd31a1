import type { SlicedAnswer } from "../../http/answer/answer.ts";
import type { Incoming } from "../../http/request/incoming.ts";
import type { Route } from "../../http/routes.ts";
import type { AdminActs } from "../../operators/admin-call.ts";
import { auditFilters, type ShownEntry, wordsOf } from "./audit-entries.ts";
import { describeAuditCsv } from "./console-descriptions.ts";
import { consoleHeaders, consolePaths } from "./entry-routes.ts";

/** Entries of one download, and how many are read at once. */
const most = 10_000;
const perRead = 200;

interface AuditPage {
  readonly entries: readonly ShownEntry[];
  readonly cursor?: string;
}

/** A page of the log, and the names of what it mentions. */
interface NamedPage extends AuditPage {
  readonly names: EntryNames;
}

interface EntryNames {
  readonly users: ReadonlyMap<number | null, string>;
  readonly clients: ReadonlyMap<string | null, string>;
  readonly tenants: ReadonlyMap<number | null, string>;
}

interface NamesAnswer {
  readonly users: readonly { readonly userId: number; readonly name: string }[];
  readonly clients: readonly { readonly clientId: string; readonly name: string }[];
  readonly tenants: readonly { readonly tenantId: number; readonly name: string }[];
}

/** The audit log as a file. It is written in slices, so that no download holds it whole. */
export function auditCsvRoute(administration: AdminActs): Route {
  return {
    access: "operator",
    need: "read",
    subject: "tenants",
    pages: consolePaths,
    errors: "page",
    methods: ["GET"],
    path: "/console/audit.csv",
    description: describeAuditCsv,
    async answer({ query, source }: Incoming, operator): Promise<SlicedAnswer> {
      const value = (name: string) => query.find(([key]) => key === name)?.[1] ?? "";
      const input = Object.fromEntries([...auditFilters, "tenant"].map((name) => [name, value(name)]));
      const call = (act: string, more: Readonly<Record<string, unknown>>) =>
        administration.runAs({ operator, source }, act, more);
      const read = async (cursor?: string) => {
        const wanted = { ...input, "page-size": String(perRead), ...(cursor !== undefined && { cursor }) };
        const page = (await call("audit list", wanted)) as AuditPage;
        return { ...page, names: namesIn((await call("names", mentioned(page.entries))) as NamesAnswer) };
      };
      // A wrong filter is answered as an error, before the file begins.
      const first = await read();
      return {
        status: 200,
        headers: {
          "content-type": "text/csv; charset=utf-8",
          "content-disposition": 'attachment; filename="audit.csv"',
          ...consoleHeaders,
        },
        slices: slices(first, read),
      };
    },
  };
}

/** The ids in these entries, as `names` takes them. */
function mentioned(entries: readonly ShownEntry[]) {
  const distinct = (ids: readonly (string | number | null)[]) => [
    ...new Set(ids.flatMap((id) => (id === null ? [] : String(id)))),
  ];
  return {
    user: distinct(entries.map(({ userId }) => userId)),
    client: distinct(entries.map(({ clientId }) => clientId)),
    tenant: distinct(entries.map(({ tenantId }) => tenantId)),
  };
}

function namesIn({ users, clients, tenants }: NamesAnswer): EntryNames {
  return {
    users: new Map(users.map(({ userId, name }) => [userId, name])),
    clients: new Map(clients.map(({ clientId, name }) => [clientId, name])),
    tenants: new Map(tenants.map(({ tenantId, name }) => [tenantId, name])),
  };
}

async function* slices(first: NamedPage, read: (cursor: string) => Promise<NamedPage>): AsyncIterable<string> {
  const names = ["user name", "client name", "tenant name"];
  yield row(["time", "act", "operator", "user", "client", "tenant", "from", "detail", ...names]);
  let page = first;
  for (let written = 0; ; ) {
    const { entries, names } = page;
    yield entries.map((entry) => rowOf(entry, names)).join("");
    written += entries.length;
    if (page.cursor === undefined || written >= most) return;
    page = await read(page.cursor);
  }
}

/** What was removed has an id, and no name. */
function rowOf(entry: ShownEntry, { users, clients, tenants }: EntryNames): string {
  const { time, act, operator, userId, clientId, tenantId, source } = entry;
  const names = [users.get(userId), clients.get(clientId), tenants.get(tenantId)].map((name) => name ?? null);
  return row([time, act, operator, userId, clientId, tenantId, source, wordsOf(entry).join(", "), ...names]);
}

function row(values: readonly (string | number | null)[]): string {
  return `${values.map((value) => cell(value === null ? "" : String(value))).join(",")}\r\n`;
}

/** Quoted as in RFC 4180. A text that a spreadsheet would take for a formula gets an apostrophe first. */
function cell(text: string): string {
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
