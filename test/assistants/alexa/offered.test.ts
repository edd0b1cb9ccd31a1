import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AlexaMessage } from "../../../simulator/alexa/alexa-message.ts";
import { Customer } from "../../../simulator/alexa/customer.ts";
import { alexa } from "../../../src/assistants/alexa/assistant.ts";
import type { AlexaBody } from "../../../src/assistants/alexa/gateway.ts";
import type { AssistantMessage, Outcome } from "../../../src/assistants/assistant.ts";
import { assistantGrants } from "../../../src/assistants/grants.ts";
import { type SendingParts, sendDue } from "../../../src/assistants/reporter/sending.ts";
import { onStore } from "../../contracts/store/harness.ts";
import { sqliteHarness } from "../../contracts/store/sqlite-harness.ts";
import { rounds } from "../../set-up/extent.ts";
import { seededRandom } from "../../set-up/seeded-random.ts";
import { down, linked, stillGoing, taken } from "../made-assistant.ts";
import { settings } from "./settings.ts";
import { changedMs, fan, onOff, smoke, thermostat, thing } from "./things.ts";

const things = {
  lamp: () => thing("light", onOff(true)),
  plug: () => thing("switch", onOff(false)),
  alarm: () => thing("alarm", smoke("clear")),
  heater: () => thing("thermostat", { thermostat: thermostat(), ...fan("on") }),
};
const farMs = Number.MAX_SAFE_INTEGER;

/** Runs a home of about the number of devices that Alexa takes, with the real reporter and projection. */
async function limitedHome(
  store: Parameters<typeof linked>[0],
  fails: () => "no" | "down" | "dies",
  discoverMeans: string,
) {
  const made = await linked(store);
  const {
    key,
    home: { devices },
  } = made;
  const home = new Map(made.things);
  home.clear();
  const customer = new Customer("ada", "na");
  const { choose, messages } = alexa({
    call: () => assert.fail("nothing is called"),
    runtime: made.runtime,
    newUuid: () => "m",
  });
  const deliver = async ({ body }: AssistantMessage): Promise<Outcome> => {
    const { events } = body as AlexaBody;
    for (const event of events as unknown as readonly AlexaMessage[]) {
      const failure = fails();
      if (failure === "dies") throw new Error("the node has died");
      if (failure === "down") return down;
      const id = event.event.endpoint?.endpointId;
      assert.ok(id === undefined || customer.endpoints.has(id), `${id} was not offered to Alexa`);
      customer.learn(event);
    }
    return taken;
  };
  const isPresent = ({ goneMs }: { readonly goneMs: number | null }) => goneMs === null;
  const parts = {
    ...made.parts,
    outlets: { find: async () => ({ assistant: { choose, messages, deliver }, settings }) },
    homes: {
      all: async () => [...home.values()].filter(isPresent),
      some: async (_: unknown, ids: readonly string[]) => new Map([...home].filter(([id]) => ids.includes(id))),
    },
  } as unknown as SendingParts;
  const mark = (thingId: string, what: object) =>
    store.transaction((tx) => tx.assistantMarks.add({ ...key, thingId, ...what }, changedMs));
  const chosen = () => choose!([...home.values()], settings as never).offered.map(({ id }) => id);
  const sealing = { seal: (text: string) => text, open: (text: string) => text };
  const grants = assistantGrants({ store, sealing, agentUserIdOf: () => "agent", wake: () => undefined });
  return {
    home,
    customer,
    chosen,
    mark,
    /** Alexa lists the devices. */
    async discover() {
      const omitted = (await made.grant())?.omitted ?? [];
      const named = [...home.values()].filter(({ thingId, goneMs }) => goneMs === null || !omitted.includes(thingId));
      const devices = choose!(named, settings as never);
      await grants.listed(key.outletId, key.userId, devices);
      const endpoints = devices.offered.map(({ id: endpointId }) => ({ endpointId }));
      customer.learn({ event: { header: { name: discoverMeans }, payload: { endpoints } } } as never);
      // What the list has changed is to be told a little later.
      for (const { thingId, syncMs } of await made.marks(10_000)) {
        if (syncMs !== farMs) await mark(thingId, { stateMs: 1, ...(syncMs !== null && { syncMs: 1 }) });
      }
      await mark("", { stateMs: 1 });
    },
    async add(kind: keyof typeof things, thingId: string) {
      home.set(thingId, { ...things[kind](), thingId, deviceId: devices[0]! });
      await mark(thingId, { stateMs: 1, syncMs: 1, isBack: true });
    },
    /** At once, or 15 minutes after its ecosystem has said that it is gone. */
    async remove(thingId: string, how: "at once" | "later" | "was gone") {
      const devices = choose!([home.get(thingId)!], settings as never).offered;
      const omitted = (await made.grant())?.omitted ?? [];
      // Of a thing that is gone before its addition was told, Alexa hears that it is offline, which it can't use.
      const isTold = devices.every(({ id }) => customer.endpoints.has(id) || omitted.includes(id));
      if (how === "later" && isTold) {
        home.set(thingId, { ...home.get(thingId)!, goneMs: changedMs });
        return mark(thingId, { stateMs: 1, syncMs: farMs, isGone: true });
      }
      if (how !== "was gone") home.delete(thingId);
      await mark(thingId, { syncMs: 1, isGone: true });
    },
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

describe("the devices that Alexa is offered", () => {
  // Amazon does not say whether a discovery removes the endpoints that it does not name.
  for (const means of ["Discover.Response", "AddOrUpdateReport"]) {
    it(`are those that discovery names, after any change and any failure of a report; it acts as ${means}`, async (t) => {
      const random = seededRandom(t);
      const among = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!;
      await onStore(sqliteHarness, async (store) => {
        let failing = 0;
        const fails = () => (random() < failing ? among(["down", "dies"] as const) : "no");
        const { home, customer, chosen, mark, discover, add, remove, report } = await limitedHome(store, fails, means);
        let count = 0;
        const addAny = () =>
          add(among(["lamp", "plug", "alarm", "heater"] as const), `t_${random()}_${++count}`.replace(".", ""));
        while (chosen().length < 300) await addAny();
        await discover();
        while (await report());
        for (let round = 0; round < rounds({ all: 200, few: 15 }); round++) {
          failing = among([0, 0.02, 0.1]);
          for (let steps = Math.ceil(random() * 4); steps > 0; steps--) {
            const { thingId, goneMs } = among([...home.values()]);
            if (random() < 0.5) await addAny();
            else if (goneMs !== null) await remove(thingId, "was gone");
            else if (random() < 0.6) await remove(thingId, among(["at once", "later"] as const));
            else await mark(thingId, { stateMs: 1, ...(random() < 0.5 && { syncMs: 1 }) });
          }
          for (let reports = Math.floor(random() * 3); reports > 0; reports--) await report();
          if (random() < 0.1) await discover();
          failing = 0;
          if (random() < 0.3) while (await report());
        }
        for (const [thingId, { goneMs }] of [...home]) {
          if (goneMs === null) continue;
          await remove(thingId, "at once");
        }
        while (await report());
        assert.deepEqual([...customer.endpoints.keys()].sort(), chosen().toSorted());
        for (const id of chosen()) assert.ok(customer.states.has(id), `the state of ${id} was not told`);
      });
    });
  }
});
