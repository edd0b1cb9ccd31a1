import { Customer } from "../simulator/alexa/customer.ts";
import { startAmazon } from "../simulator/alexa/simulator.ts";
import { HomeGraph } from "../simulator/google-home/home-graph.ts";
import type { TenantId } from "../src/model/ids.ts";
import type { Parts } from "../src/service/parts.ts";
import {
  addAlexaOutlet,
  addGoogleOutlet,
  call,
  directiveBody,
  grantAlexa,
  intentBody,
  syncGoogle,
} from "./assisted-homes.ts";
import type { GrantedClient } from "./granted-client.ts";

/** The maker of an assistant in this process, as homes are told to it. */
export interface AssistingMaker extends AsyncDisposable {
  /** Adds an outlet for the maker's assistant. */
  addOutlet(parts: Pick<Parts, "administration">, tenantId: TenantId): Promise<GrantedClient>;
  /** The owner of a home links the assistant; from then on the maker is told about the home. `token`: of the owner. */
  link(url: string, token: string): Promise<AssistedHome>;
  /** From now on the maker answers only messages about this home. Returns a function that ends the silence. */
  silence(except: AssistedHome): () => void;
  /** How many messages the maker left without an answer in its silence. */
  unanswered(): number;
  /** How many messages about states the maker got. */
  messages(): number;
}

/** A home that an assistant's maker knows. */
export interface AssistedHome {
  /** How often the maker was told that an alarm of the home sounds. */
  alarms(): number;
  /** The states of all devices of the home: as the maker was told last, and as the service answers now. */
  states(): Promise<{ readonly reported: States; readonly present: States }>;
}

type States = ReadonlyMap<string, unknown>;

export const assistingMakers = { google: assistingGoogle, alexa: assistingAlexa };
export type AssistantName = keyof typeof assistingMakers;

async function assistingGoogle(): Promise<AssistingMaker> {
  const graph = await HomeGraph.start();
  const agentUserIds = new Map<AssistedHome, string>();
  return {
    addOutlet: (parts, tenantId) => addGoogleOutlet(parts, tenantId, { graph }),
    async link(url, token) {
      const user = await syncGoogle(url, { graph }, token);
      const home: AssistedHome = {
        alarms: () => user.notifications.length,
        async states() {
          const devices = [...user.devices.keys()].map((id) => ({ id }));
          const { payload } = await call(url, "/google-home/fulfilment", intentBody("QUERY", { devices }), token);
          const stateOf = ({ status: _, errorCode: __, ...state }: Readonly<Record<string, unknown>>) => state;
          const present = devices.map(({ id }) => [id, stateOf(payload.devices[id])] as const);
          return { reported: user.states, present: new Map(present) };
        },
      };
      agentUserIds.set(home, user.agentUserId);
      return home;
    },
    silence: (except) =>
      graph.inject({
        method: "reportStateAndNotification",
        isSilent: true,
        exceptUser: agentUserIds.get(except)!,
      }),
    unanswered: () => graph.waiting,
    messages: () => graph.callsOf("reportStateAndNotification").length,
    [Symbol.asyncDispose]: () => graph.stop(),
  };
}

const directives = "/alexa/v3/directives?region=us-east-1";

/** Alarms are contact sensors. */
async function assistingAlexa(): Promise<AssistingMaker> {
  const amazon = await startAmazon({ keptEvents: 10 });
  const customers = new Map<AssistedHome, Customer>();
  return {
    addOutlet: (parts, tenantId) => addAlexaOutlet(parts, tenantId, { amazon }),
    async link(url, token) {
      const customer = await grantAlexa(url, { amazon }, token);
      let alarms = 0;
      customer.onEvent = ({ event: { payload } }) => {
        const { properties = [] } = (payload.change ?? {}) as { readonly properties?: readonly { value: unknown }[] };
        if (properties.some(({ value }) => value === "DETECTED")) alarms += 1;
      };
      customer.learn(await call(url, directives, directiveBody("Alexa.Discovery Discover", token)));
      const home: AssistedHome = {
        alarms: () => alarms,
        async states() {
          // Alexa learns the present states as another customer, so that only events tell the first one.
          const observer = new Customer("observer", customer.region);
          for (const endpointId of customer.endpoints.keys()) {
            observer.learn(await call(url, directives, directiveBody("Alexa ReportState", token, endpointId)));
          }
          return { reported: customer.states, present: observer.states };
        },
      };
      customers.set(home, customer);
      return home;
    },
    silence(except) {
      amazon.faults.set("gateway", { kind: "hangs", exceptCustomer: customers.get(except)! });
      return () => amazon.faults.clear("gateway");
    },
    unanswered: () => amazon.unanswered(),
    messages: () => amazon.gatewayCalls(),
    [Symbol.asyncDispose]: () => amazon.stop(),
  };
}
