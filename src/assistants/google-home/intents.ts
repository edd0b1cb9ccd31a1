import type { CommandReceipt } from "../../devices/command-receipts.ts";
import { isCommandError } from "../../home/command-errors.ts";
import type { Command } from "../../home/command-plan.ts";
import { hasConsent, type ScopedPrincipal, type UserPrincipal } from "../../identity/principal.ts";
import { QuotaExceeded, UnknownThing } from "../../model/errors.ts";
import type { AssistantCommands } from "../commanding.ts";
import { hasOutcome } from "../commanding.ts";
import type { CurrentThing } from "../current-thing.ts";
import type { AssistantGrants } from "../grants.ts";
import type { AssistantHomes } from "../homes.ts";
import type { Outlet } from "../outlets.ts";
import { type GoogleDevice, googleDevices, statesOf, syncEntry, thingIdOf } from "./devices.ts";
import { type GoogleError, googleErrorOf, outcomeError } from "./errors.ts";
import { commandPrefix, type States } from "./trait.ts";

export interface IntentParts {
  readonly homes: AssistantHomes;
  readonly commands: AssistantCommands;
  readonly grants: Pick<AssistantGrants, "agentUserIdOf" | "establish" | "forget" | "leaving">;
}

/** The user and the outlet that a request comes through. */
export interface GoogleRequest {
  readonly caller: ScopedPrincipal & UserPrincipal;
  readonly outlet: Pick<Outlet, "id" | "tenantId" | "clientId">;
}

export interface Execution {
  readonly deviceIds: readonly string[];
  readonly steps: readonly { readonly command: string; readonly params: States }[];
}

/** How long EXECUTE waits for the outcome of its commands. */
const waitMs = 2_000;
/** Devices of one request that are commanded at once. Those after them are answered without waiting. */
const devicesAtOnce = 50;

/** The smart home intents; each returns the payload of the answer. */
export function googleIntents({ homes, commands, grants }: IntentParts) {
  const devicesOf = async (userId: UserPrincipal["userId"], ids: readonly string[]) => {
    const things = await homes.some(userId, [...new Set(ids.map(thingIdOf))]);
    const devices = [...things.values()].flatMap(googleDevices);
    return new Map(devices.map((device) => [device.id, device]));
  };

  const run = async (
    { caller, outlet }: GoogleRequest,
    device: GoogleDevice,
    steps: Execution["steps"],
    forMs: number,
  ) => {
    const planned = steps.map((step) => commandOf(device, step));
    const mistake = planned.find(isMistake);
    if (mistake) return failure(device.id, mistake.error);
    const sent = planned as readonly Command[];
    if (!sent.every((command) => hasConsent(caller, command))) return failure(device.id, "relinkRequired");
    const { userId } = caller;
    const { thingId } = device.thing;
    let receipts: readonly CommandReceipt[];
    try {
      const { tenantId, clientId } = outlet;
      receipts = await commands.run({ userId, tenantId, clientId, thingId, commands: sent }, forMs);
    } catch (error) {
      if (error instanceof UnknownThing) return failure(device.id, "deviceNotFound");
      if (error instanceof QuotaExceeded) return failure(device.id, "transientError");
      throw error;
    }
    const failed = receipts.find((receipt) => hasOutcome(receipt) && receipt.state !== "confirmed");
    if (failed) return failure(device.id, outcomeError(failed));
    if (!receipts.every(hasOutcome)) return { ids: [device.id], status: "PENDING" };
    const now = (await devicesOf(userId, [device.id])).get(device.id);
    return { ids: [device.id], status: "SUCCESS", ...(now && { states: statesOf(now) }) };
  };

  return {
    async sync({ caller, outlet }: GoogleRequest): Promise<object> {
      const { userId } = caller;
      await grants.establish(outlet, userId, { isListed: true });
      const present = await homes.all(userId);
      const leaving = await homes.some(userId, await grants.leaving(outlet.id, userId));
      const known = new Set(present.map(({ thingId }) => thingId));
      const things = [...present, ...[...leaving.values()].filter(({ thingId }) => !known.has(thingId))];
      return {
        agentUserId: grants.agentUserIdOf(outlet.tenantId, userId),
        devices: things.flatMap((thing) => googleDevices(thing)).map(syncEntry),
      };
    },

    async query({ caller, outlet }: GoogleRequest, ids: readonly string[]): Promise<object> {
      await grants.establish(outlet, caller.userId);
      const devices = await devicesOf(caller.userId, ids);
      return { devices: Object.fromEntries(ids.map((id) => [id, queried(devices.get(id))])) };
    },

    async execute(asking: GoogleRequest, executions: readonly Execution[]): Promise<object> {
      const { caller, outlet } = asking;
      await grants.establish(outlet, caller.userId);
      const named = executions.flatMap(({ deviceIds, steps }) => deviceIds.map((id) => ({ id, steps })));
      // A device that is named twice gets all of its commands in their order.
      const wanted = [...Map.groupBy(named, ({ id }) => id)];
      const devices = await devicesOf(
        caller.userId,
        wanted.map(([id]) => id),
      );
      const results = new Map<string, object>();
      for (let from = 0; from < wanted.length; from += devicesAtOnce) {
        const group = wanted.slice(from, from + devicesAtOnce).map(async ([id, parts]) => {
          const device = devices.get(id);
          const steps = parts.flatMap((part) => part.steps);
          const forMs = from === 0 ? waitMs : 0;
          results.set(id, device ? await run(asking, device, steps, forMs) : failure(id, "deviceNotFound"));
        });
        await Promise.all(group);
      }
      return { commands: named.map(({ id }) => results.get(id)!) };
    },

    /** The user has unlinked Google: nothing is reported any more. */
    async disconnect({ caller, outlet }: GoogleRequest): Promise<object> {
      await grants.forget(outlet.id, caller.userId);
      return {};
    },
  };
}

export type GoogleIntents = ReturnType<typeof googleIntents>;

type Mistake = { readonly error: GoogleError };

function isMistake(planned: Command | Mistake): planned is Mistake {
  return "error" in planned;
}

function commandOf(
  { thing, traits }: GoogleDevice,
  { command, params }: Execution["steps"][number],
): Command | Mistake {
  const name = command.startsWith(commandPrefix) ? command.slice(commandPrefix.length) : "";
  const make = traits
    .map(({ commands = {} }) => (Object.hasOwn(commands, name) ? commands[name] : undefined))
    .find(Boolean);
  if (!make) return { error: "functionNotSupported" };
  const made = make(params, thing as CurrentThing);
  return isCommandError(made) ? { error: googleErrorOf(made) } : made;
}

function queried(device: GoogleDevice | undefined): object {
  if (!device) return { status: "ERROR", errorCode: "deviceNotFound", online: false };
  const states = statesOf(device);
  return states.online === true
    ? { status: "SUCCESS", ...states }
    : { status: "OFFLINE", errorCode: "offline", ...states };
}

function failure(id: string, errorCode: GoogleError): object {
  return { ids: [id], status: errorCode === "offline" ? "OFFLINE" : "ERROR", errorCode };
}
