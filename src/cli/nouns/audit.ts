import type { AuditRecord } from "../../identity/audit.ts";
import type { UserId } from "../../model/ids.ts";
import type { AdminCommand } from "../administration/admin-command.ts";
import { afterId, wantedPage } from "../administration/paging.ts";
import { ago } from "../devices/times.ts";
import { id, number, optional } from "../input.ts";
import type { Noun } from "../noun.ts";
import { main, shortId, table, whole } from "../terminal/output.ts";
import { chosenTenant, withTenantOption } from "./tenant-option.ts";

const mostEntries = 10_000;
const filters = ["tenant", "act", "operator", "user", "client"];

const list: AdminCommand = {
  name: "audit list",
  meaning: "list entries, newest first",
  examples: ["audit list", "audit list --tenant Acme --limit 200"],
  options: (command) =>
    withTenantOption(command)
      .option("--limit <number>", "the largest number of entries to list", "50")
      .option("--act <act>", "only this act, such as admin or sign_in")
      .option("--operator <name>", "only acts of this operator; local: commands on the machine")
      .option("--user <id>", "only acts of this user")
      .option("--client <id>", "only acts of this client, by its whole id"),
  async act({ identity }, input) {
    const tenantId = await chosenTenant(identity, input);
    const page = wantedPage(input);
    const filter = {
      tenantIds: tenantId === undefined ? undefined : [tenantId],
      act: optional(input, "act"),
      operator: optional(input, "operator"),
      userId: optional(input, "user") === undefined ? undefined : id<UserId>(input, "user"),
      clientId: optional(input, "client"),
    };
    if (page) {
      const { entries, nextBeforeId } = await identity.audit.page({
        ...filter,
        beforeId: afterId(page),
        limit: page.limit,
      });
      return {
        answer: { entries: entries.map(shown), ...(nextBeforeId !== undefined && { cursor: String(nextBeforeId) }) },
      };
    }
    const limit = Math.floor(number({ limit: "50", ...input }, "limit", 1, mostEntries));
    return { answer: { entries: (await identity.audit.list({ ...filter, limit })).map(shown) } };
  },
  toText({ entries }, typed, width) {
    if (entries.length === 0) {
      return filters.some((name) => optional(typed, name) !== undefined) ? "No entry fits." : "The audit log is empty.";
    }
    return table(
      [whole("TIME"), whole("ACT"), "TENANT", "CALLER", "SOURCE", main("DETAIL")],
      (entries as (AuditRecord & { time: string })[]).map((entry) => [
        ago(Date.parse(entry.time)),
        entry.act,
        entry.tenantId ?? "-",
        callerInWords(entry),
        entry.source,
        inWords(entry.detail),
      ]),
      width,
    );
  },
};

/** The operator, the user and the client, as far as the entry has them. */
function callerInWords({ operator, userId, clientId }: AuditRecord): string {
  const user = userId === null ? undefined : `user ${userId}`;
  const client = clientId === null ? undefined : shortId(clientId);
  return [operator, user, client].filter((word) => word !== undefined && word !== null).join(" ") || "-";
}

/** `user add admin=true`: the command, then its facts. */
function inWords({ command, ...facts }: AuditRecord["detail"]): string {
  const words = Object.entries(facts).map(
    ([name, value]) => `${name}=${Array.isArray(value) ? value.join(",") : value}`,
  );
  return [command, ...words].filter((word) => word !== undefined).join(" ");
}

function shown({ timeMs, ...entry }: AuditRecord) {
  return { time: new Date(timeMs).toISOString(), ...entry };
}

export const audit: Noun = {
  name: "audit",
  meaning: "the audit log of the last year: sign-ins, grants, revocations and administrators' commands",
  commands: [list],
};
