import { alexa } from "../../../src/assistants/alexa/assistant.ts";
import type { AlexaSettings } from "../../../src/assistants/alexa/settings.ts";
import type { Assistant, AssistantMessage, DueReport, Outcome } from "../../../src/assistants/assistant.ts";
import { googleHome } from "../../../src/assistants/google-home/assistant.ts";
import { type AssistantGrants, assistantGrants } from "../../../src/assistants/grants.ts";
import { assistantHomes } from "../../../src/assistants/homes.ts";
import type { CallMaker } from "../../../src/assistants/maker-call.ts";
import { Reporter, type ReporterParts } from "../../../src/assistants/reporter/reporter.ts";
import type { ReadThing } from "../../../src/devices/read-thing.ts";
import type { Federation } from "../../../src/federation/federation.ts";
import { UnknownThing } from "../../../src/model/errors.ts";
import type { TenantId } from "../../../src/model/ids.ts";
import type { ThingReading } from "../../../src/own-things/thing-reading.ts";
import type { Runtime } from "../../../src/runtime/runtime.ts";
import { staleLinksOn } from "../../../src/service/stale-links.ts";
import type { Store } from "../../../src/store/seam.ts";
import type { SimulatedTables } from "../store/memory-tables.ts";
import type { Makers, OutletId } from "./makers.ts";

export interface NodeAssistantParts {
  readonly store: Store<SimulatedTables>;
  readonly runtime: Runtime;
  readonly sealing: ReporterParts["sealing"];
  readonly things: ThingReading;
  readonly control: ReporterParts["control"];
  readonly federation: Pick<Federation, "thingFreshnessOfEach">;
  readonly call: CallMaker;
  readonly makers: Pick<Makers, "note">;
  readonly newUuid: () => string;
}

/** The assistants of one node: the real reporter and grants, on simulated makers. */
export interface NodeAssistants {
  readonly grants: AssistantGrants;
  readonly reporter: Reporter;
}

export const outlet = (id: OutletId) => ({ id, tenantId: 1 as TenantId, clientId: `client of ${id}` });

export const alexaSettings = {
  alarms: "contact",
  messagingClientId: "skill",
  messagingClientSecret: "secret",
  tokenUrl: "https://maker.example/alexa/token",
  gateways: Object.fromEntries(["na", "eu", "fe"].map((region) => [region, "https://maker.example/alexa"])),
} as unknown as AlexaSettings;

export function nodeAssistants(parts: NodeAssistantParts): NodeAssistants {
  const { store, runtime, sealing, things, control, call } = parts;
  // The tables that the links of a user are read from are all here.
  const freshness = staleLinksOn(store as never, parts.federation);
  const assistants = new Map<string, { readonly assistant: Assistant; readonly settings: object }>([
    ["google", { assistant: simulatedGoogle(parts) as Assistant, settings: {} }],
    ["alexa", { assistant: alexa({ call, runtime, newUuid: parts.newUuid }) as Assistant, settings: alexaSettings }],
  ]);
  const reporter = new Reporter({
    store,
    runtime,
    sealing,
    control,
    homes: assistantHomes({
      things: { ...things, some: oneByOne(things) },
      staleOfEach: freshness.staleOfEach,
      isGoogles: () => false,
    }),
    staleLinks: freshness.staleLinks,
    outlets: { find: async (id: string) => ({ ...outlet(id as OutletId), ...assistants.get(id)! }) as never },
    onLimitReached: () => undefined,
  });
  const agentUserIdOf = (_: TenantId, userId: number) => String(userId);
  return { reporter, grants: assistantGrants({ store, sealing, agentUserIdOf, wake: () => reporter.wake() }) };
}

/** The ids of simulated things have another form than the real ones, by which several are read at once. */
function oneByOne({ find }: ThingReading): ThingReading["some"] {
  return async (userId, thingIds) => {
    const found: ReadThing[] = [];
    for (const thingId of thingIds) {
      try {
        found.push(await find({ kind: "user", userId }, thingId));
      } catch (error) {
        if (!(error instanceof UnknownThing)) throw error;
      }
    }
    return found;
  };
}

/** The versions of the things whose states the message tells. */
function toldIn({ body }: AssistantMessage, versions: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const { states = {} } = (body as { payload: { devices: { states?: object } } }).payload.devices;
  return new Map([...versions].filter(([thingId]) => Object.hasOwn(states, thingId)));
}

/**
 * The real messages, with another way to send them: the signature of a service account is made outside of the
 * simulation's order. It reads answers as the real one does.
 */
function simulatedGoogle({ call, runtime, newUuid, makers }: NodeAssistantParts) {
  const google = googleHome({ call, runtime, newUuid });
  const post = async (what: string, body: object, signal: AbortSignal): Promise<Outcome> => {
    const answer = await call({ method: "POST", url: `https://maker.example/google/${what}`, body }, signal);
    if (!answer.isAnswered) return { result: "retry", status: null, text: answer.detail };
    const { status } = answer;
    if (status < 300) return { result: "taken", status };
    return { result: status === 404 ? "forget" : "retry", status, text: `answered ${status}` };
  };
  return {
    ...google,
    messages(due: DueReport): readonly AssistantMessage[] {
      const messages = google.messages(due, {} as never);
      const versions = new Map(
        due.things.flatMap(({ thingId, current }) => (current ? [[thingId, versionOf(current)]] : [])),
      );
      for (const message of messages)
        if (message.type !== "requestSync") makers.note(message, toldIn(message, versions));
      return messages;
    },
    async deliver(
      { type, body }: AssistantMessage,
      { agentUserId }: { readonly agentUserId: string },
      signal: AbortSignal,
    ) {
      const outcome = await post(type, body, signal);
      if (outcome.result !== "forget" || type === "requestSync") return outcome;
      const asked = await post("requestSync", { agentUserId, async: true }, signal);
      if (asked.result !== "taken") return asked;
      return { result: "retry", status: outcome.status, text: "asked to sync", afterMs: 3_000 } satisfies Outcome;
    },
  };
}

/** The time of the newest change of a thing. */
function versionOf({ state, goneMs }: { readonly state: object; readonly goneMs: number | null }): number {
  const fields = Object.values(state).flatMap((trait) => Object.values(trait as Record<string, [unknown, number]>));
  return Math.max(goneMs ?? 0, ...fields.map(([, timeMs]) => timeMs));
}
