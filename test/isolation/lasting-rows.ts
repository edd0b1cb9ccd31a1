import type { UserId } from "../../src/model/ids.ts";
import { storedRows } from "../oauth/bar/stored.ts";
import type { OAuthWorld } from "../oauth/oauth-world.ts";

/** All rows of a user and of their tenant, except what changes by itself. */
export async function rowsOf(world: OAuthWorld, userId: UserId): Promise<readonly string[]> {
  const rows = await lastingRows(world);
  return rows
    .filter(
      ([table, row]) =>
        row.user_id === userId ||
        row.owner_id === userId ||
        (table === "users" && row.id === userId) ||
        ["tenants", "clients", "settings"].includes(table),
    )
    .map((row) => JSON.stringify(row))
    .sort();
}

/** The rows that are in only one of both. */
export function differences(before: readonly string[], after: readonly string[]): readonly string[] {
  const [was, is] = [new Set(before), new Set(after)];
  return [
    ...[...was.difference(is)].map((row) => `gone: ${row}`),
    ...[...is.difference(was)].map((row) => `new: ${row}`),
  ];
}

/** Heartbeats, the audit log, the position of the webhook feed, and the count of links that is made once an hour. */
const changedByTheService = ["nodes", "audit", "webhook_feed", "sqlite_sequence", "link_hours", "counted_hours"];

/** The row with which health checks test writing, and counts of the last 24 hours, stored every ten seconds. */
const settingsOfTheService: readonly unknown[] = ["write_probe", "hourly_counts"];

/** Every row of the store, except those that the service changes by itself, and times of last use or confirmation. */
export async function lastingRows(
  world: Pick<OAuthWorld, "databaseUrl" | "folder">,
): Promise<(readonly [string, Readonly<Record<string, unknown>>])[]> {
  const tables = await storedRows(world);
  return [...tables]
    .filter(([table]) => !changedByTheService.includes(table))
    .flatMap(([table, rows]) => rows.map((row) => [table, withoutTimes(row)] as const))
    .filter(([table, row]) => table !== "settings" || !settingsOfTheService.includes(row.name));
}

/** A sweep seals the addresses of webhooks soon after the start of the first node. A session ends later after each use. */
function withoutTimes({ used_ms, confirmed_ms, ends_ms, url, sealed_url, ...row }: Readonly<Record<string, unknown>>) {
  return row;
}
