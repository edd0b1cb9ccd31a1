import type { CommitTables } from "../../devices/commit.ts";
import { thermostatIn } from "../../home/reported-things.ts";
import type { ThingRow } from "../../store/tables/things.ts";

/** A block lasts at most an hour (readRetryAfter). One that ends later is from before the clock was set back. */
const longestBlockMs = 3_600_000;

/** Until when the ecosystem accepts no command for a thing, whether it refused a command or a fan request. */
export async function blockedUntil(
  tx: CommitTables,
  { userId, deviceId, key }: Pick<ThingRow, "userId" | "deviceId" | "key">,
  nowMs: number,
): Promise<number | null> {
  const atMostMs = nowMs + longestBlockMs;
  const untilMs = await tx.thingCommands.blockedUntil(userId, deviceId, key, atMostMs);
  const thermostatId = thermostatIn(key);
  const fanUntilMs =
    thermostatId === undefined ? null : await tx.fanRequests.blockedUntil(userId, deviceId, thermostatId, atMostMs);
  return untilMs === null || fanUntilMs === null ? (untilMs ?? fanUntilMs) : Math.max(untilMs, fanUntilMs);
}
