import { LinkedAccount } from "../../simulator/account-linking/linked-account.ts";
import { SimulatedAlexa } from "../../simulator/alexa/assistant.ts";
import { lambdaTo } from "../../simulator/alexa/lambda.ts";
import { skillSettings } from "../../simulator/alexa/simulator.ts";
import type { SimulatedAssistant } from "../../simulator/assistants/assistant.ts";
import { Busy } from "../../simulator/assistants/conversation.ts";
import { SimulatedGoogle } from "../../simulator/google-home/assistant.ts";
import { fulfilmentAt } from "../../simulator/google-home/fulfilment.ts";
import type { AssistantKind } from "../../src/assistants/assistant.ts";
import type { Service } from "../../src/service/service.ts";
import type { DemoAccess } from "../access.ts";
import type { Makers } from "./makers.ts";

/** The demo's assistants by the kinds of their outlets. */
export type DemoAssistants = Readonly<Record<AssistantKind, SimulatedAssistant>>;

/** The names of the outlets' clients. By them the next start finds the outlets of the one before. */
const clientNames: Readonly<Record<AssistantKind, string>> = {
  alexa: "Simulated Alexa",
  "google-home": "Simulated Google Home",
};

const projectId = "hearth-hollow";

/** Adds an outlet to each simulated maker, and the assistant that uses it for the demo's user. Nothing is linked yet. */
export async function addAssistants(
  service: Service,
  { amazon, graph }: Makers,
  { appId, login }: DemoAccess,
): Promise<DemoAssistants> {
  const { baseUrl, parts } = service;
  await removeEarlier(service, appId);
  const add = async (kind: AssistantKind, redirectUri: string, settings: Readonly<Record<string, string>>) => {
    const outlet = { tenant: String(appId), kind, name: clientNames[kind], settings };
    const { client, secret: clientSecret } = await parts.assistants.outlets.add(outlet);
    return new LinkedAccount({ baseUrl, clientId: client.id, clientSecret, redirectUri }, login);
  };
  const alexa = await add("alexa", `https://pitangui.amazon.com/api/skill/link/${skillSettings["vendor-id"]}`, {
    ...skillSettings,
    "login-url": `${amazon.url}/auth/o2/token`,
    "event-urls": `${amazon.url}/na,${amazon.url}/eu,${amazon.url}/fe`,
  });
  const google = await add("google-home", `https://oauth-redirect.googleusercontent.com/r/${projectId}`, {
    "project-id": projectId,
    "service-account": graph.serviceAccountFile,
    "home-graph-url": graph.url,
  });
  return {
    alexa: new SimulatedAlexa({ amazon, account: alexa, lambda: lambdaTo(`${baseUrl}/alexa/v3/directives`) }),
    "google-home": new SimulatedGoogle({
      graph,
      account: google,
      fulfil: fulfilmentAt(`${baseUrl}/google-home/fulfilment`),
    }),
  };
}

/** Links each assistant, which also learns the devices. A failure is on the assistant's page. */
export async function linkAssistants(assistants: DemoAssistants): Promise<void> {
  for (const assistant of Object.values(assistants)) {
    await assistant.link().catch((error) => {
      // Somebody was faster on the page, which has a button that links too.
      if (!(error instanceof Busy)) throw error;
    });
  }
}

/** The makers of an earlier start have ended, and with them the grants and addresses that its outlets know. */
async function removeEarlier({ parts: { assistants, oauth } }: Service, tenantId: DemoAccess["appId"]): Promise<void> {
  const names = Object.values(clientNames);
  const earlier = (await oauth.listClients(tenantId)).filter(({ name }) => names.includes(name)).map(({ id }) => id);
  for (const outlet of await assistants.outlets.list(tenantId)) {
    if (earlier.includes(outlet.clientId)) await assistants.outlets.remove(outlet);
  }
}
