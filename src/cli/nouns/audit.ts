import type { AuditRecord } from "../../identity/audit.ts";
import type { AdminCommand } from "../administration/admin-command.ts";
import { ago } from "../devices/times.ts";
import { number } from "../input.ts";
import type { Noun } from "../noun.ts";
import { table, whole } from "../terminal/output.ts";
import { chosenTenant, withTenantOption } from "./tenant-option.ts";

const mostEntries = 10_000;

const list: AdminCommand = {
  name: "audit list",
  meaning: "list entries, newest first",
  examples: ["audit list", "audit list --tenant Acme --limit 200"],
  options: (command) =>
    withTenantOption(command).option("--limit <number>", "the largest number of entries to list", "50"),
  async act({ identity }, input) {
    const tenantId = await chosenTenant(identity, input);
    const limit = Math.floor(number({ limit: "50", ...input }, "limit", 1, mostEntries));
    const entries = await identity.audit.list({ ...(tenantId !== undefined && { tenantId }), limit });
    return { answer: { entries: entries.map(({ timeMs, ...entry }) => ({ time: iso(timeMs), ...entry })) } };
  },
  toText({ entries }, _typed, width) {
    if (entries.length === 0) return "The audit log is empty.";
    return table(
      [whole("TIME"), whole("ACT"), "TENANT", "USER", whole("CLIENT"), "SOURCE", "DETAIL"],
      (entries as (AuditRecord & { time: string })[]).map((entry) => [
        ago(Date.parse(entry.time)),
        entry.act,
        entry.tenantId ?? "-",
        entry.userId ?? "-",
        entry.clientId ?? "-",
        entry.source,
        inWords(entry.detail),
      ]),
      width,
    );
  },
};

/** `user add admin=true`: the command, then its facts. */
function inWords({ command, ...facts }: AuditRecord["detail"]): string {
  const words = Object.entries(facts).map(
    ([name, value]) => `${name}=${Array.isArray(value) ? value.join(",") : value}`,
  );
  return [command, ...words].filter((word) => word !== undefined).join(" ");
}

function iso(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

export const audit: Noun = {
  name: "audit",
  meaning: "the audit log of the last year: sign-ins, grants, revocations and administrators' commands",
  commands: [list],
};
