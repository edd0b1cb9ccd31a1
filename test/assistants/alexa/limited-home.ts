import assert from "node:assert/strict";
import type { AlexaMessage } from "../../../simulator/alexa/alexa-message.ts";
import { Customer } from "../../../simulator/alexa/customer.ts";
import { alexa } from "../../../src/assistants/alexa/assistant.ts";
import type { AlexaCredential } from "../../../src/assistants/alexa/login-tokens.ts";
import type { CurrentThing } from "../../../src/assistants/current-thing.ts";
import { assistantGrants } from "../../../src/assistants/grants.ts";
import type { MakerAnswer, MakerCall } from "../../../src/assistants/maker-call.ts";
import { type SendingParts, sendDue } from "../../../src/assistants/reporter/sending.ts";
import type { NewMark } from "../../../src/store/tables/assistant-marks.ts";
import { linked, stillGoing } from "../made-assistant.ts";
import { settings as withoutAlarms } from "./settings.ts";
import { changedMs, fan, onOff, smoke, thermostat, thing } from "./things.ts";

export const things = {
  lamp: () => thing("light", onOff(true)),
  plug: () => thing("switch", onOff(false)),
  alarm: () => thing("alarm", smoke("clear")),
  heater: () => thing("thermostat", { thermostat: thermostat(), ...fan("on") }),
};

const settings = { ...withoutAlarms, alarms: "contact" } as const;

/** A time that no test reaches. */
const farMs = Number.MAX_SAFE_INTEGER;

const credential: AlexaCredential = { accessToken: "access", refreshToken: "refresh", expiresMs: farMs };

export interface LimitedHomePlan {
  /** What becomes of the next event: it is taken, the gateway is down, or the node dies. */
  readonly fails?: () => "no" | "down" | "dies";
  /** How Alexa understands the answer to a discovery. */
  readonly discoverMeans?: "Discover.Response" | "AddOrUpdateReport";
  /** How long the gateway takes for an event. */
  readonly answerMs?: number;
}

/**
 * A home of about the number of devices that Alexa takes, with the real reporter, projection and delivery. Alexa refuses
 * endpoints beyond its limit.
 */
export async function limitedHome(
  store: Parameters<typeof linked>[0],
  { fails = () => "no", discoverMeans = "Discover.Response", answerMs = 0 }: LimitedHomePlan = {},
) {
  const made = await linked(store);
  const { key, runtime } = made;
  const deviceId = made.home.devices[0]!;
  const home = new Map<string, CurrentThing>();
  const customer = new Customer("ada", "na");
  /** What Alexa was told, in this order, as `name endpoints`; also what it refused. */
  const told: string[] = [];
  const refused: string[] = [];
  const call = async ({ body }: MakerCall): Promise<MakerAnswer> => {
    const event = body as unknown as AlexaMessage;
    const answer = (status: number): MakerAnswer => ({ isAnswered: true, status, document: {}, headers: {} });
    const failure = fails();
    if (failure === "dies") throw new Error("the node has died");
    if (failure === "down") return answer(503);
    const id = event.event.endpoint?.endpointId;
    const isKnown = id === undefined || customer.endpoints.has(id);
    // Alexa drops what it hears of an endpoint that it does not have. Alarms are told before they may be added anew.
    const isExpected = isKnown || home.get(id)?.kind === "alarm" || refused.some((one) => one.includes(id));
    assert.ok(isExpected, `${id} was not offered to Alexa`);
    if (!isKnown) return answer(202);
    if (answerMs > 0) await runtime.advance(answerMs);
    const isTaken = customer.hasRoomFor(event);
    (isTaken ? told : refused).push(toldBy(event));
    if (isTaken) customer.learn(event);
    return answer(isTaken ? 202 : 413);
  };
  const assistant = alexa({ call, runtime, newUuid: () => "m" });
  const choose = (some: readonly CurrentThing[]) => assistant.choose!(some, settings);
  const parts = {
    ...made.parts,
    outlets: { find: async () => ({ assistant, settings }) },
    homes: {
      all: async () => [...home.values()].filter(({ goneMs }) => goneMs === null),
      some: async (_: unknown, ids: readonly string[]) => {
        const wanted = new Set(ids);
        return new Map([...home].filter(([id]) => wanted.has(id)));
      },
    },
  } as unknown as SendingParts;
  const sealing = { seal: (text: string) => text, open: (text: string) => text };
  const grants = assistantGrants({ store, sealing, agentUserIdOf: () => "agent", wake: () => undefined });
  const { clientId, agentUserId } = (await made.grant())!;
  const given = { sealedCredential: JSON.stringify(credential), region: "na" };
  await store.transaction((tx) => tx.assistantGrants.put({ ...key, clientId, agentUserId, ...given }));
  const mark = (thingId: string, what: Omit<NewMark, "userId" | "outletId" | "thingId">) =>
    store.transaction((tx) => tx.assistantMarks.add({ ...key, thingId, ...what }, changedMs));
  const chosen = () => choose([...home.values()]).offered.map(({ id }) => id);
  return {
    ...made,
    home,
    customer,
    told,
    refused,
    chosen,
    mark,
    /** A thing that is there before Alexa lists the devices. */
    have(thingId: string, one: CurrentThing) {
      home.set(thingId, { ...one, thingId, deviceId });
    },
    /** Alexa lists the devices. */
    async discover() {
      const leaving = new Set(await grants.leaving(key.outletId, key.userId));
      const devices = choose([...home.values()].filter((one) => one.goneMs === null || leaving.has(one.thingId)));
      await grants.listed(key.outletId, key.userId, devices);
      const endpoints = devices.offered.map(({ id: endpointId }) => ({ endpointId }));
      customer.learn({ event: { header: { name: discoverMeans }, payload: { endpoints } } } as never);
      // What the list has changed is to be told a little later.
      for (const { thingId, syncMs } of await made.marks(10_000)) {
        if (syncMs !== farMs) await mark(thingId, { stateMs: 1, ...(syncMs !== null && { syncMs: 1 }) });
      }
      await mark("", { stateMs: 1 });
    },
    async add(thingId: string, one: CurrentThing, isUrgent = false) {
      home.set(thingId, { ...one, thingId, deviceId });
      await mark(thingId, { sinceMs: changedMs, stateMs: 1, syncMs: 1, isBack: true, isUrgent });
    },
    /** At once, or 15 minutes after its ecosystem has said that it is gone. */
    async remove(thingId: string, how: "at once" | "later" | "was gone") {
      const devices = choose([home.get(thingId)!]).offered;
      const omitted = (await made.grant())?.omitted ?? [];
      // Of a thing that is gone before its addition was told, Alexa hears that it is offline, which it can't use.
      const isTold = devices.every(({ id }) => customer.endpoints.has(id) || omitted.includes(id));
      if (how === "later" && isTold) {
        home.set(thingId, { ...home.get(thingId)!, goneMs: changedMs });
        return mark(thingId, { stateMs: 1, syncMs: farMs, isGone: true });
      }
      if (how !== "was gone") home.delete(thingId);
      else home.set(thingId, { ...home.get(thingId)!, goneMs: 1 });
      await mark(thingId, { syncMs: 1, isGone: true });
    },
    /** Reports what is due; returns whether something is left. */
    async report() {
      await made.dueNow();
      try {
        await sendDue(parts, key, stillGoing);
      } catch (error) {
        assert.match(String(error), /died/);
        await made.claimEnds();
      }
      return (await made.marks()).length > 0;
    },
  };
}

/** What an event tells, as `name endpoints`. */
export function toldBy({ event: { header, endpoint, payload } }: AlexaMessage): string {
  const listed = (payload.endpoints ?? []) as readonly { readonly endpointId: string }[];
  return [header.name, endpoint?.endpointId, ...listed.map(({ endpointId }) => endpointId)].filter(Boolean).join(" ");
}
