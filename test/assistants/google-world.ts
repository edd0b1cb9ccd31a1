import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
import type { TestContext } from "node:test";
import { HomeGraph } from "../../simulator/google-home/home-graph.ts";
import type { LinkedUser } from "../../simulator/google-home/home-graph-answers.ts";
import { ScriptedBrowser } from "../oauth/scripted-browser.ts";
import { tokenFor } from "../stories/v3-client.ts";
import { eventually, person, type WorldPlan, world } from "../stories/world.ts";

// biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests look at
export type Json = any;

/** The file of the variable collects every answer, so that they can be held against schemas. */
const collectedIn = process.env.GOOGLE_HOME_MESSAGES;

/** Collects an answer to an intent, or a message to Home Graph. */
export function collect(method: string, body: object): void {
  if (collectedIn) appendFileSync(collectedIn, `${JSON.stringify({ method, body })}\n`);
}

export interface Credentials {
  readonly client_id: string;
  readonly client_secret: string;
}

/** A user's account at Google that has linked this service, as Google's cloud calls it. */
export class GoogleAccount {
  readonly #baseUrl: () => string;
  readonly accessToken: string;

  constructor(baseUrl: () => string, accessToken: string) {
    this.#baseUrl = baseUrl;
    this.accessToken = accessToken;
  }

  async call(body: unknown, accessToken = this.accessToken): Promise<{ readonly status: number; readonly body: Json }> {
    const response = await fetch(`${this.#baseUrl()}/google-home/fulfilment`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${accessToken}` },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: await response.json() };
  }

  async intent(name: string, payload?: object): Promise<Json> {
    const requestId = randomUUID();
    const input = { intent: `action.devices.${name}`, ...(payload && { payload }) };
    const { status, body } = await this.call({ requestId, inputs: [input] });
    assert.equal(status, 200, JSON.stringify(body));
    collect(name, body);
    if (name === "DISCONNECT") return body;
    assert.equal(body.requestId, requestId);
    return body.payload;
  }

  async query(...ids: readonly string[]): Promise<Json> {
    return (await this.intent("QUERY", { devices: ids.map((id) => ({ id })) })).devices;
  }

  /** The answers to one execution on one device. */
  async execute(id: string, ...execution: readonly (readonly [command: string, params: object])[]): Promise<Json> {
    const steps = execution.map(([command, params]) => ({ command: `action.devices.commands.${command}`, params }));
    const { commands } = await this.intent("EXECUTE", { commands: [{ devices: [{ id }], execution: steps }] });
    assert.equal(commands.length, 1);
    return commands[0];
  }

  /** Google's account linking: consent, code, tokens. */
  static async link(
    baseUrl: () => string,
    { client_id, client_secret }: Credentials,
    scope = "devices:read devices:control",
    who = person,
  ): Promise<GoogleAccount> {
    const redirect_uri = "https://oauth-redirect.googleusercontent.com/r/hearth-hollow";
    const query = new URLSearchParams({ response_type: "code", client_id, state: "s", redirect_uri, scope });
    const returned = await new ScriptedBrowser(baseUrl).authorize(`${baseUrl()}/oauth2/authorize?${query}`, who);
    const code = returned.searchParams.get("code") ?? "";
    const grant = { client_id, client_secret, grant_type: "authorization_code", code, redirect_uri };
    return new GoogleAccount(baseUrl, await tokenFor(baseUrl(), grant));
  }
}

/** A linked house, an outlet to a simulated Google Home, and a user who has linked it. */
export async function googleWorld(t: TestContext, plan: WorldPlan & { readonly scope?: string } = {}) {
  const story = await world(t, { structures: [{ thermostats: 2, alarms: 1 }], ...plan });
  await story.link();
  await eventually(t.signal, async () => assert.equal((await story.client.linkStatus()).state, "live"));
  const graph = await HomeGraph.start();
  t.after(() => graph.stop());
  const outlet = await addOutlet(story.service.parts.administration, graph);
  const baseUrl = () => story.service.baseUrl;
  const google = await GoogleAccount.link(baseUrl, outlet, plan.scope);
  const synced = () => syncWith(google, graph, t.signal);
  return { story, graph, outlet, google, synced };
}

/** Google asks for all devices and knows them from then on; later also when it is asked to, until it has an answer. */
export async function syncWith(
  google: GoogleAccount,
  graph: HomeGraph,
  ofTest: AbortSignal,
): Promise<{ readonly user: LinkedUser; readonly devices: Json[] }> {
  const { agentUserId, devices } = await google.intent("SYNC");
  const user = graph.users.get(agentUserId) ?? graph.link(agentUserId);
  user.devices = new Map(devices.map((device: Json) => [device.id, device]));
  user.onSyncRequested = () => {
    eventually(ofTest, () => syncWith(google, graph, ofTest)).catch(() => undefined);
  };
  return { user, devices };
}

/** Google was told the present state of every device. */
export function isReported(google: GoogleAccount, user: LinkedUser, ofTest: AbortSignal): Promise<void> {
  return eventually(ofTest, async () => {
    const states = await google.query(...user.devices.keys());
    for (const [id, { status: _, errorCode: __, ...state }] of Object.entries<Json>(states)) {
      assert.deepEqual(user.states.get(id), state, id);
    }
  });
}

export async function addOutlet(
  administration: { run(command: string, input: object): Promise<object> },
  graph: HomeGraph,
  tenant = "Story",
): Promise<Json> {
  return administration.run("outlet add", { tenant, kind: "google-home", settings: settingsFor(graph) });
}

/** By the options of `breezeway outlet add google-home`. */
export function settingsFor(graph: HomeGraph): Readonly<Record<string, string>> {
  return {
    "project-id": "hearth-hollow",
    "service-account": graph.serviceAccountFile,
    "home-graph-url": graph.url,
  };
}
