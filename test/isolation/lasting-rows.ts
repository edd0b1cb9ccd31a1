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

/**
 * Every row of the store, except heartbeats, the audit log, the position of the webhook feed, times of last use or
 * confirmation, and the row with which health checks test writing.
 */
export async function lastingRows(
  world: OAuthWorld,
): Promise<(readonly [string, Readonly<Record<string, unknown>>])[]> {
  const tables = await storedRows(world);
  return [...tables]
    .filter(([table]) => !["nodes", "audit", "webhook_feed", "sqlite_sequence"].includes(table))
    .flatMap(([table, rows]) => rows.map((row) => [table, withoutTimes(row)] as const))
    .filter(([table, row]) => table !== "settings" || row.name !== "write_probe");
}

/** A sweep seals the addresses of webhooks soon after the start of the first node. */
function withoutTimes({ used_ms, confirmed_ms, url, sealed_url, ...row }: Readonly<Record<string, unknown>>) {
  return row;
}
