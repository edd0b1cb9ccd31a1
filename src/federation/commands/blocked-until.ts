import type { CommitTables } from "../../devices/commit.ts";
import { thermostatIn } from "../../home/reported-things.ts";
import type { ThingRow } from "../../store/tables/things.ts";

/** Until when the ecosystem accepts no command for a thing, whether it refused a command or a fan request. */
export async function blockedUntil(
  tx: CommitTables,
  { userId, deviceId, key }: Pick<ThingRow, "userId" | "deviceId" | "key">,
): Promise<number | null> {
  const untilMs = await tx.thingCommands.blockedUntil(userId, deviceId, key);
  const thermostatId = thermostatIn(key);
  const fanUntilMs =
    thermostatId === undefined ? null : await tx.fanRequests.blockedUntil(userId, deviceId, thermostatId);
  return untilMs === null || fanUntilMs === null ? (untilMs ?? fanUntilMs) : Math.max(untilMs, fanUntilMs);
}
