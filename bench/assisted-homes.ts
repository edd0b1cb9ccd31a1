import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Amazon, skillSettings, startAmazon } from "../simulator/alexa/simulator.ts";
import { HomeGraph } from "../simulator/google-home/home-graph.ts";
import type { LinkedUser } from "../simulator/google-home/home-graph-answers.ts";
import type { TenantId, UserId } from "../src/model/ids.ts";
import type { Parts } from "../src/service/parts.ts";
import { addGrant, type GrantedClient } from "./granted-client.ts";

/** Google and Amazon in this process, with an outlet of the tenant for each. */
export interface SimulatedMakers extends AsyncDisposable {
  readonly graph: HomeGraph;
  readonly amazon: Amazon;
}

export async function simulatedMakers(): Promise<SimulatedMakers> {
  const [graph, amazon] = [await HomeGraph.start(), await startAmazon()];
  return {
    graph,
    amazon,
    async [Symbol.asyncDispose]() {
      await graph.stop();
      await amazon.stop();
    },
  };
}

export async function addGoogleOutlet(
  { administration }: Pick<Parts, "administration">,
  tenantId: TenantId,
  { graph }: Pick<SimulatedMakers, "graph">,
): Promise<GrantedClient> {
  const addresses = { homeGraphUrl: graph.url, serviceAccount: graph.serviceAccountFile };
  return addGoogleOutletAt({ administration }, { tenantId }, addresses);
}

/** The same with other addresses; the key file of the service account names the token endpoint. */
export async function addGoogleOutletAt(
  { administration }: Pick<Parts, "administration">,
  { tenantId }: { readonly tenantId: TenantId },
  { homeGraphUrl, serviceAccount }: { readonly homeGraphUrl: string; readonly serviceAccount: string },
): Promise<GrantedClient> {
  const settings = { "project-id": "bench-homes", "service-account": serviceAccount, "home-graph-url": homeGraphUrl };
  const outlet = { tenant: String(tenantId), kind: "google-home", settings };
  return clientOf(await administration.run("outlet add", outlet), tenantId);
}

export async function addAlexaOutlet(
  { administration }: Pick<Parts, "administration">,
  tenantId: TenantId,
  { amazon: { url } }: Pick<SimulatedMakers, "amazon">,
): Promise<GrantedClient> {
  return addAlexaOutletAt({ administration }, { tenantId }, url);
}

/** The same with Login with Amazon and the gateways below another address. */
export async function addAlexaOutletAt(
  { administration }: Pick<Parts, "administration">,
  { tenantId }: { readonly tenantId: TenantId },
  url: string,
): Promise<GrantedClient> {
  const addresses = { "login-url": `${url}/auth/o2/token`, "event-urls": `${url}/na,${url}/eu,${url}/fe` };
  const settings = { ...skillSettings, ...addresses, alarms: "contact" };
  const outlet = { tenant: String(tenantId), kind: "alexa", settings };
  return clientOf(await administration.run("outlet add", outlet), tenantId);
}

function clientOf(added: object, tenantId: TenantId): GrantedClient {
  const { client_id, client_secret } = added as { readonly client_id: string; readonly client_secret: string };
  return { tenantId, credentials: { client_id, client_secret } };
}

/** The access tokens of these users at a client. */
export function tokensOf(
  { store }: Pick<Parts, "store">,
  client: GrantedClient,
  users: readonly UserId[],
  scope?: string,
): Promise<readonly string[]> {
  return store.transaction(async (tx) => {
    const tokens: string[] = [];
    for (const userId of users) tokens.push((await addGrant(tx, client, userId, scope)).accessToken);
    return tokens;
  });
}

/** A JSON request of a maker as raw HTTP. */
export function jsonRequest(path: string, body: object, accessToken?: string): string {
  const text = JSON.stringify(body);
  const authorization = accessToken === undefined ? "" : `authorization: Bearer ${accessToken}\r\n`;
  const headers = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n`;
  return `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: application/json\r\n${authorization}${headers}\r\n${text}`;
}

/** A request of Google for one intent. */
export function intentBody(intent: string, payload?: object): object {
  return { requestId: randomUUID(), inputs: [{ intent: `action.devices.${intent}`, ...(payload && { payload }) }] };
}

/** A directive of Alexa. `named`: its interface and name. */
export function directiveBody(named: string, accessToken: string, endpointId?: string, payload: object = {}): object {
  const [namespace, name] = named.split(" ");
  const scope = { type: "BearerToken", token: accessToken };
  const header = { namespace, name, payloadVersion: "3", messageId: randomUUID(), correlationToken: randomUUID() };
  if (endpointId !== undefined) return { directive: { header, endpoint: { endpointId, scope, cookie: {} }, payload } };
  const { correlationToken: _, ...without } = header;
  return { directive: { header: without, payload: { scope, grantee: scope, ...payload } } };
}

/** Google links a user and asks for all devices; from then on they are reported to it. */
export async function syncGoogle(
  url: string,
  { graph }: Pick<SimulatedMakers, "graph">,
  token: string,
): Promise<LinkedUser> {
  const { payload } = await call(url, "/google-home/fulfilment", intentBody("SYNC"), token);
  const user = graph.link(payload.agentUserId);
  user.devices = new Map(payload.devices.map((device: { readonly id: string }) => [device.id, device]));
  return user;
}

/** Alexa gives the grant for messages about a user. */
export async function grantAlexa(url: string, { amazon }: Pick<SimulatedMakers, "amazon">, token: string) {
  const customer = amazon.addCustomer("bench");
  const grant = { type: "OAuth2.AuthorizationCode", code: amazon.login.issueCode(customer) };
  const body = directiveBody("Alexa.Authorization AcceptGrant", token, undefined, { grant });
  const { event } = await call(url, "/alexa/v3/directives?region=us-east-1", body);
  if (event.header.name !== "AcceptGrant.Response") throw new Error(JSON.stringify(event));
  return customer;
}

// biome-ignore lint/suspicious/noExplicitAny: members are read one by one
export async function call(url: string, path: string, body: object, token?: string): Promise<any> {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const headers = { "content-type": "application/json", ...authorization };
  const answer = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  if (answer.status > 299) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

/** A server that counts webhook messages. */
export async function countingReceiver() {
  let received = 0;
  const server = createServer((request, response) => {
    request.resume().once("end", () => {
      received += 1;
      response.writeHead(204).end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received: () => received,
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
