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
      const read = async (cursor?: string) => {
        const page = { ...input, "page-size": String(perRead), ...(cursor !== undefined && { cursor }) };
        return (await administration.runAs({ operator, source }, "audit list", page)) as AuditPage;
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

async function* slices(first: AuditPage, read: (cursor: string) => Promise<AuditPage>): AsyncIterable<string> {
  yield row(["time", "act", "operator", "user", "client", "tenant", "from", "detail"]);
  let page = first;
  for (let written = 0; ; ) {
    yield page.entries.map(rowOf).join("");
    written += page.entries.length;
    if (page.cursor === undefined || written >= most) return;
    page = await read(page.cursor);
  }
}

function rowOf(entry: ShownEntry): string {
  const { time, act, operator, userId, clientId, tenantId, source } = entry;
  return row([time, act, operator, userId, clientId, tenantId, source, wordsOf(entry).join(", ")]);
}

function row(values: readonly (string | number | null)[]): string {
  return `${values.map((value) => cell(value === null ? "" : String(value))).join(",")}\r\n`;
}

/** Quoted as in RFC 4180. A text that a spreadsheet would take for a formula gets an apostrophe first. */
function cell(text: string): string {
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
