import type { ThingControl } from "../devices/thing-control.ts";
import type { DeviceId, TenantId, UserId } from "../model/ids.ts";
import type { OnLimitReached } from "../model/limits.ts";
import type { Clients } from "../oauth/clients.ts";
import type { OutgoingCalls } from "../runtime/network/outgoing-calls.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Store } from "../store/seam.ts";
import type { AssistantDelivery } from "../store/tables/assistant-deliveries.ts";
import type { ChosenDevice } from "./assistant.ts";
import { type AssistantCommands, assistantCommands, type CommandCaller } from "./commanding.ts";
import { type AssistantGrants, assistantGrants } from "./grants.ts";
import { type AssistantHomes, assistantHomes, type HomeParts } from "./homes.ts";
import { type FoundDirective, LastDirectives, type NodeMemories } from "./last-directives.ts";
import type { CallMaker } from "./maker-call.ts";
import { type Outlet, type Outlets, outletsOn } from "./outlets.ts";
import { assistantsWith } from "./registry.ts";
import { errorsByCode, type ReportErrors } from "./report-errors.ts";
import { Reporter } from "./reporter/reporter.ts";

export interface AssistantsParts extends HomeParts {
  readonly store: Store;
  readonly runtime: Runtime;
  readonly sealing: {
    seal(text: string, context: string): string;
    open(sealed: string, context: string): string;
  };
  readonly clients: Pick<Clients, "addClient" | "removeClient" | "findClient">;
  readonly control: ThingControl;
  /** Counts a command for the quotas of the outlet's client and tenant; throws QuotaExceeded. */
  readonly admitCommand: (sender: CommandCaller) => void;
  readonly staleLinks: (userIds: readonly UserId[]) => Promise<ReadonlyMap<UserId, readonly DeviceId[]>>;
  readonly agentUserIdOf: (tenantId: TenantId, userId: UserId) => string;
  readonly outgoing: OutgoingCalls;
  /** Calls the makers' services. */
  readonly call: CallMaker;
  readonly newUuid: () => string;
  readonly newOutletId: () => string;
  readonly baseUrl: () => string;
  readonly onLimitReached: OnLimitReached;
  readonly nodes: NodeMemories;
}

/** How an outlet works now. */
export interface OutletHealth extends FoundDirective {
  /** How long the oldest waiting report has waited; 0 when none waits. */
  readonly reportLagMs: number;
  /** Of the last reports. */
  readonly errors: readonly ReportErrors[];
}

/** Voice assistants: outlets, the users who have linked them, their homes and commands, and the reporter of changes. */
export interface Assistants {
  readonly outlets: Outlets;
  readonly grants: AssistantGrants;
  readonly homes: AssistantHomes;
  readonly commands: AssistantCommands;
  readonly reporter: Reporter;
  readonly directives: LastDirectives;
  /** How these outlets work, in the same order. */
  health(outletIds: readonly string[]): Promise<readonly OutletHealth[]>;
  /** What is not offered to a user of the outlet, because the assistant takes no more devices. */
  omitted(outlet: Outlet, userId: UserId): Promise<readonly ChosenDevice[]>;
  /** The newest attempts of an outlet, or of one user there, newest first. */
  deliveries(outletId: string, userId?: UserId): Promise<readonly AssistantDelivery[]>;
}

const deliveriesShown = 100;

export function assistantsOn(parts: AssistantsParts): Assistants {
  const { store, runtime, sealing, control } = parts;
  const assistants = assistantsWith(parts);
  const outlets = outletsOn({ ...parts, assistants, newId: parts.newOutletId });
  const homes = assistantHomes(parts);
  const reporter = new Reporter({ ...parts, outlets, homes });
  const directives = new LastDirectives(runtime.nowMs, parts.nodes);
  return {
    outlets,
    grants: assistantGrants({ store, sealing, agentUserIdOf: parts.agentUserIdOf, wake: () => reporter.wake() }),
    homes,
    commands: assistantCommands({ control, runtime, admitCommand: parts.admitCommand }),
    reporter,
    directives,
    async health(outletIds) {
      const found = await directives.find(outletIds);
      return store.read(async (tx) => {
        const nowMs = await tx.clock.nowMs();
        const all: OutletHealth[] = [];
        for (const outletId of outletIds) {
          const sinceMs = await tx.assistantGrants.waitingSinceMs(outletId, nowMs);
          const errors = errorsByCode(await tx.assistantDeliveries.outcomes(outletId, deliveriesShown));
          all.push({ ...found.get(outletId)!, reportLagMs: sinceMs === null ? 0 : nowMs - sinceMs, errors });
        }
        return all;
      });
    },
    async omitted({ assistant, settings }, userId) {
      return assistant.choose?.(await homes.all(userId), settings).omitted ?? [];
    },
    deliveries: (outletId, userId) =>
      store.read((tx) => tx.assistantDeliveries.newest(outletId, userId, deliveriesShown)),
  };
}
