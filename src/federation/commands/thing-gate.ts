import type { CommitTables } from "../../devices/commit.ts";
import type { RequestedCommand } from "../../devices/thing-control.ts";
import { addThingReceipt, changeThingReceipt, errorJson, plannedIn, thingIn } from "../../devices/thing-receipts.ts";
import type { Connector } from "../../ecosystems/connector.ts";
import { isRelative, thingAfter } from "../../home/command.ts";
import { type CommandError, isCommandError } from "../../home/command-errors.ts";
import { admitCommand } from "../../home/command-gate.ts";
import type { PlannedCommand } from "../../home/command-plan.ts";
import { thermostatIn } from "../../home/reported-things.ts";
import type { FanRequestRow } from "../../store/tables/fan-requests.ts";
import type { LinkRow, LinkState } from "../../store/tables/links.ts";
import type { ThingCommandRow } from "../../store/tables/thing-commands.ts";
import type { ThingRow } from "../../store/tables/things.ts";
import { blockedUntil } from "./blocked-until.ts";
import { plannedFan } from "./fan-as-command.ts";

export interface ThingGateParts {
  readonly connectors: ReadonlyMap<string, Connector>;
  /** The state of a link that this node follows. It goes before the stored state, which may be older after a start. */
  readonly stateOf: (deviceId: ThingRow["deviceId"]) => LinkState | undefined;
}

export interface CheckedRequest extends RequestedCommand {
  /** Whether the shown state of the thing may be outdated. Only a relative command needs it. */
  readonly isStale: boolean;
}

/** The receipt of a command: its own, or that of the running command or fan request that it joins. */
export type GateReceipt = { readonly command: ThingCommandRow } | { readonly fanRequest: FanRequestRow };

/**
 * Decides about a command under the user's lock: it is refused, joined to a running command that asks for the same, or
 * stored as an intent that the link's owner node will send.
 */
export async function admitToThing(
  tx: CommitTables,
  parts: ThingGateParts,
  thing: ThingRow,
  { command, clientId, alertId, isStale }: CheckedRequest,
  nowMs: number,
): Promise<GateReceipt> {
  const { userId, deviceId, thingId, key } = thing;
  const origin = { clientId, alertId: alertId ?? null, requestedMs: nowMs };
  const row = { userId, deviceId, thingId, key, command: JSON.stringify(command), ...origin };
  const refuse = async (refusal: CommandError) => {
    const error = errorJson(refusal);
    return { command: await addThingReceipt(tx, { ...row, plan: null, state: "rejected", error, settledMs: nowMs }) };
  };
  const link = await tx.links.ofDevice(userId, deviceId);
  if (!link || thing.goneMs !== null) return refuse({ code: "unknownThing" });
  const linkState = parts.stateOf(deviceId) ?? link.state;
  if (linkState === "needs_reauth") return refuse({ code: "needsReauth" });
  const retryAfterMs = ((await blockedUntil(tx, thing, nowMs)) ?? 0) - nowMs;
  if (retryAfterMs > 0) return refuse({ code: "rateLimited", retryAfterMs });
  if (isRelative(command) && (isStale || linkState !== "live")) return refuse({ code: "stale" });

  const open = await tx.thingCommands.open(userId, deviceId, thingId);
  const running = await runningCommands(tx, thing, open);
  const accepted = open.filter(({ state }) => state === "accepted").map((one) => plannedIn(one).plan);
  const admission = admitCommand(
    thingAfter(thingIn(thing), accepted),
    running.map(({ planned }) => planned),
    command,
    planningFor(parts, link),
  );
  if (isCommandError(admission)) return refuse(admission);
  if (admission.relation === "joins") return running[admission.index]!.receipt;
  if (admission.relation === "supersedes") await supersede(tx, running[admission.index]!.receipt, nowMs);
  const plan = JSON.stringify(admission.plan);
  return { command: await addThingReceipt(tx, { ...row, plan, state: "queued", error: null, settledMs: null }) };
}

function planningFor({ connectors }: ThingGateParts, { ecosystem }: Pick<LinkRow, "ecosystem">) {
  return connectors.get(ecosystem)?.capabilities.planning;
}

interface RunningCommand {
  readonly planned: PlannedCommand;
  readonly receipt: GateReceipt;
  readonly requestedMs: number;
}

/**
 * The commands that wait or are being sent, oldest first. A fan request is never superseded: the client that wrote it
 * reads its outcome in `requestWrite`.
 */
async function runningCommands(
  tx: CommitTables,
  { userId, deviceId, key }: ThingRow,
  open: readonly ThingCommandRow[],
): Promise<readonly RunningCommand[]> {
  const thermostatId = thermostatIn(key);
  const fanRequests = thermostatId === undefined ? [] : await tx.fanRequests.running(userId, deviceId, thermostatId);
  const fans = fanRequests.map((fanRequest) => ({
    planned: plannedFan(fanRequest),
    receipt: { fanRequest },
    requestedMs: fanRequest.requestedMs,
  }));
  const commands = open
    .filter(({ state }) => state !== "accepted")
    .map((command) => ({
      planned: plannedIn(command),
      receipt: { command },
      requestedMs: command.requestedMs,
    }));
  return [...fans, ...commands].sort((a, b) => a.requestedMs - b.requestedMs);
}

async function supersede(tx: CommitTables, receipt: GateReceipt, nowMs: number): Promise<void> {
  if (!("command" in receipt)) return;
  const change = { state: "rejected", error: errorJson({ code: "superseded" }), settledMs: nowMs } as const;
  await changeThingReceipt(tx, receipt.command, ["queued"], change, nowMs);
}
