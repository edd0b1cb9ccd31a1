import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { AlexaMessage } from "../../../simulator/alexa/alexa-message.ts";
import type { Customer, Region } from "../../../simulator/alexa/customer.ts";
import { type Amazon, skillSettings, startAmazon } from "../../../simulator/alexa/simulator.ts";
import { Skill } from "../../../simulator/alexa/skill.ts";
import type { AlexaEvent } from "../../../src/assistants/alexa/messages.ts";
import { ScriptedBrowser } from "../../oauth/scripted-browser.ts";
import { tokenFor } from "../../stories/v3-client.ts";
import { eventually, person, type WorldPlan, world } from "../../stories/world.ts";
import { checked } from "./checked.ts";

export interface Credentials {
  readonly client_id: string;
  readonly client_secret: string;
}

export interface AlexaPlan extends WorldPlan {
  readonly scope?: string;
  readonly alarms?: "none" | "contact";
  readonly region?: Region;
}

const awsRegions = { na: "us-east-1", eu: "eu-west-1", fe: "us-west-2" };

/** Account linking as Alexa does it: consent, code, token. */
export async function accountLinked(
  baseUrl: () => string,
  { client_id, client_secret }: Credentials,
  scope = "devices:read devices:control",
): Promise<string> {
  const redirect_uri = `https://pitangui.amazon.com/api/skill/link/${skillSettings["vendor-id"]}`;
  const query = new URLSearchParams({ response_type: "code", client_id, state: "s", redirect_uri, scope });
  const returned = await new ScriptedBrowser(baseUrl).authorize(`${baseUrl()}/oauth2/authorize?${query}`, person);
  const code = returned.searchParams.get("code") ?? "";
  return tokenFor(baseUrl(), { client_id, client_secret, grant_type: "authorization_code", code, redirect_uri });
}

/** What the Lambda function does. Every answer is checked. */
export function lambdaFor(baseUrl: () => string, region: Region = "na") {
  return async (message: object): Promise<AlexaMessage> => {
    const response = await fetch(`${baseUrl()}/alexa/v3/directives?region=${awsRegions[region]}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(message),
    });
    const body = (await response.json()) as AlexaMessage;
    assert.equal(response.status, 200, JSON.stringify(body));
    checked(body as unknown as AlexaEvent);
    return body;
  };
}

/** A linked house, an outlet to a simulated Alexa, and a user who has linked it and enabled the skill. */
export async function alexaWorld(t: TestContext, plan: AlexaPlan = {}) {
  const { region = "na", alarms = "contact" } = plan;
  const story = await world(t, { structures: [{ thermostats: 2, alarms: 1 }], ...plan });
  await story.link();
  await eventually(t.signal, async () => assert.equal((await story.client.linkStatus()).state, "live"));
  const amazon = await startAmazon();
  t.after(() => amazon.stop());
  const outlet = await addOutlet(story.service.parts.administration, amazon, alarms);
  const baseUrl = () => story.service.baseUrl;
  const customer = amazon.addCustomer("ada", region);
  const accessToken = await accountLinked(baseUrl, outlet, plan.scope);
  const skill = new Skill(customer, accessToken, lambdaFor(baseUrl, region));
  // It learns nothing for the customer, so that only events can have told what is compared.
  const observer = new Skill(amazon.addCustomer("observer", region), accessToken, lambdaFor(baseUrl, region));
  /** Alexa was told the present state of every endpoint. */
  const isReported = () =>
    eventually(t.signal, async () => {
      for (const endpointId of customer.endpoints.keys()) {
        const known = new Map(customer.states.get(endpointId));
        const { context } = await observer.reportState(endpointId);
        for (const { namespace, name, value } of context?.properties ?? []) {
          assert.deepEqual(known.get(`${namespace}.${name}`), value, `${endpointId} ${namespace}.${name}`);
        }
      }
    });
  return { story, amazon, outlet, customer, skill, accessToken, isReported };
}

export async function addOutlet(
  administration: { run(command: string, input: object): Promise<object> },
  amazon: Amazon,
  alarms: "none" | "contact" = "contact",
): Promise<Credentials & { readonly outlet: string }> {
  const settings = { ...settingsFor(amazon), alarms };
  const added = await administration.run("outlet add", { tenant: "Story", kind: "alexa", settings });
  return added as Credentials & { readonly outlet: string };
}

/** By the options of `breezeway outlet add alexa`. */
export function settingsFor({ url }: Amazon): Readonly<Record<string, string>> {
  return {
    ...skillSettings,
    "login-url": `${url}/auth/o2/token`,
    "event-urls": `${url}/na,${url}/eu,${url}/fe`,
  };
}

/** The endpoints of a display category that Alexa knows. */
export function endpointsOf({ endpoints }: Customer, category: string): readonly string[] {
  const found = [...endpoints.values()].filter(({ displayCategories }) => displayCategories[0] === category);
  return found.map(({ endpointId }) => endpointId);
}

export function nameOf({ event: { header, payload } }: AlexaMessage): string {
  return [header.name, payload.type].filter(Boolean).join(" ");
}

export function isNamed(name: string): (message: AlexaMessage) => boolean {
  return ({ event }) => event.header.name === name;
}
