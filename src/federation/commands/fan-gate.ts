import type { AttributeChange, CommitTables, Gate } from "../../devices/commit.ts";
import { commandIn } from "../../devices/thing-receipts.ts";
import type { Connector } from "../../ecosystems/connector.ts";
import { thermostatKey } from "../../home/reported-things.ts";
import type { DeviceRow } from "../../store/tables/devices.ts";
import type { LinkRow, LinkState } from "../../store/tables/links.ts";
import {
  type AttributePosition,
  positionOf,
  structureAttribute,
  thermostatAttribute,
} from "../../virtual-device/attribute-names.ts";
import { type FanView, fanErrorText, fanRefusal } from "../../virtual-device/fan-request.ts";
import { aliveWithinMs } from "../link-overview.ts";
import { blockedUntil } from "./blocked-until.ts";
import { addReceipt } from "./fan-receipts.ts";

export interface FanGateParts {
  readonly connectors: ReadonlyMap<string, Connector>;
  /** The state of a link that this node follows. It goes before the stored state, which may be older after a start. */
  readonly stateOf: (deviceId: DeviceRow["id"]) => LinkState | undefined;
}

/**
 * Decides about a fan request under the user's lock: it is refused, joined to the running request, or stored as an
 * intent that the link's owner node will send. The write itself always succeeds.
 */
export function fanGate(parts: FanGateParts): Gate {
  return async (tx, device, { changes }, nowMs) => {
    if (!device.isVirtual) return changes;
    const passed: AttributeChange[] = [];
    for (const change of changes) {
      const position = typeof change.key === "number" ? positionOf(change.key) : undefined;
      const isRequest = position?.kind === "thermostat" && position.field === "requestWrite" && change.value !== null;
      passed.push(...(isRequest ? await admit(tx, parts, device, position, change, nowMs) : [change]));
    }
    return passed;
  };
}

async function admit(
  tx: CommitTables,
  parts: FanGateParts,
  { userId, id: deviceId }: DeviceRow,
  position: AttributePosition & { readonly kind: "thermostat" },
  change: AttributeChange,
  nowMs: number,
): Promise<readonly AttributeChange[]> {
  const attribute = change.key as number;
  const value = change.value ?? "";
  const view = await viewOf(tx, parts, userId, deviceId, position, nowMs);
  const command = { userId, deviceId, attribute, thermostatId: view.thermostatId ?? "", value, requestedMs: nowMs };
  const reject = (text: string) => addReceipt(tx, { ...command, state: "rejected", text, settledMs: nowMs });
  const latest = await tx.fanRequests.latest(userId, deviceId, attribute);
  const isRunning = latest?.state === "queued" || latest?.state === "sending";
  // A request for the previous thermostat of this slot is not joined.
  if (isRunning && latest.thermostatId === view.thermostatId) {
    if (latest.value === value) return [change];
    await reject("Another request is running");
    return [];
  }
  if (view.thermostatId !== null && (await isOppositeRunning(tx, userId, deviceId, view.thermostatId, value))) {
    await reject("Another request is running");
    return [];
  }
  const refusal = fanRefusal(value, view);
  if (refusal !== undefined) {
    await reject(refusal);
    return [{ key: attribute, value: fanErrorText(refusal, value, nowMs) }];
  }
  await addReceipt(tx, { ...command, state: "queued", text: null, settledMs: null });
  return [change];
}

/** Whether a command through /v3/things is about to switch the fan to the other state. */
async function isOppositeRunning(
  tx: CommitTables,
  userId: DeviceRow["userId"],
  deviceId: DeviceRow["id"],
  thermostatId: string,
  value: string,
): Promise<boolean> {
  const running = await tx.thingCommands.running(userId, deviceId, thermostatKey(thermostatId));
  return running.some((row) => {
    const { trait, command } = commandIn(row);
    return trait === "fanTimer" && (command === "start") !== (value === "true");
  });
}

async function viewOf(
  tx: CommitTables,
  { connectors, stateOf }: FanGateParts,
  userId: DeviceRow["userId"],
  deviceId: DeviceRow["id"],
  { x, y }: { readonly x: number; readonly y: number },
  nowMs: number,
): Promise<FanView> {
  const link = await tx.links.ofDevice(userId, deviceId);
  const keys = {
    thermostatId: thermostatAttribute(x, y, "deviceId"),
    hasFan: thermostatAttribute(x, y, "hasFan"),
    isOnline: thermostatAttribute(x, y, "isOnline"),
    away: structureAttribute(x, "away"),
  };
  const rows = new Map(
    (await tx.attributes.some(userId, deviceId, Object.values(keys))).map(({ key, value }) => [key, value]),
  );
  const shown = (key: number) => rows.get(key) ?? null;
  const thermostatId = shown(keys.thermostatId);
  return {
    linkState: link ? (stateOf(deviceId) ?? (await storedState(tx, link))) : "needs_reauth",
    thermostatId,
    hasFan: shown(keys.hasFan),
    isOnline: shown(keys.isOnline),
    away: shown(keys.away),
    needsHome: connectors.get(link?.ecosystem ?? "")?.capabilities.fanNeedsHome ?? false,
    blockedUntilMs:
      thermostatId === null
        ? null
        : await blockedUntil(tx, { userId, deviceId, key: thermostatKey(thermostatId) }, nowMs),
    nowMs,
  };
}

/** A live link whose owner is dead is not live: its values may have changed since. */
async function storedState(tx: CommitTables, { state, owner }: LinkRow): Promise<LinkState> {
  if (state !== "live") return state;
  const isFollowed = owner !== null && (await tx.nodes.alive(aliveWithinMs, true)).includes(owner);
  return isFollowed ? "live" : "waiting";
}
