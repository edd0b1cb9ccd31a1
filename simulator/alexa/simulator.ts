import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Customer, type Region } from "./customer.ts";
import { answerEvent, type GatewayAnswer } from "./event-gateway.ts";
import { Faults } from "./faults.ts";
import { LoginWithAmazon, messagingClient } from "./login-with-amazon.ts";

export interface AmazonOptions {
  readonly nowMs?: () => number;
  /** How many events of a customer are kept; all by default. */
  readonly keptEvents?: number;
}

/** Amazon on loopback, as a skill sees it: Login with Amazon, and the event gateway of each region. */
export interface Amazon {
  readonly url: string;
  readonly login: LoginWithAmazon;
  readonly faults: Faults;
  /** How many calls came to the event gateway, refused ones included. */
  readonly gatewayCalls: () => number;
  /** How many calls have had no answer because of a fault. */
  readonly unanswered: () => number;
  addCustomer(name: string, region?: Region): Customer;
  /** The customer disables the skill in the Alexa app. */
  disableSkill(customer: Customer): void;
  stop(): Promise<void>;
}

/** The skill's settings, by the options of `breezeway outlet add alexa`. */
export const skillSettings = {
  "skill-id": "amzn1.ask.skill.00000000-0000-4000-8000-000000000001",
  "vendor-id": "M1HEARTHHOLLOW",
  "messaging-client-id": messagingClient.clientId,
  "messaging-client-secret": messagingClient.clientSecret,
};

export async function startAmazon({ nowMs = Date.now, keptEvents }: AmazonOptions = {}): Promise<Amazon> {
  const login = new LoginWithAmazon(nowMs);
  const faults = new Faults();
  let gatewayCalls = 0;
  let unanswered = 0;
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await readBody(request);
    const [, region] = /^\/(na|eu|fe)\/v3\/events$/.exec(request.url ?? "") ?? [];
    const area = region === undefined ? "tokens" : "gateway";
    if (region !== undefined) gatewayCalls += 1;
    const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
    const fault = faults.consume(area, bearer === undefined ? undefined : login.customerOf(bearer));
    const act = () => {
      if (region === undefined) return login.answer(new URLSearchParams(body));
      return asHttp(answerEvent(login, region as Region, bearer, parsed(body)));
    };
    if (fault && fault.kind !== "refuses") {
      if (fault.kind === "loses") act();
      if (fault.kind === "isDown") response.destroy();
      unanswered += 1;
      return;
    }
    const refused = fault && (region === undefined ? { ...fault, body: { error: fault.code } } : asHttp(fault));
    const { status, body: answered } = refused ?? act();
    send(response, status, answered, fault?.kind === "refuses" ? fault.retryAfterSeconds : undefined);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    login,
    faults,
    gatewayCalls: () => gatewayCalls,
    unanswered: () => unanswered,
    addCustomer: (name, region = "na") => new Customer(name, region, keptEvents),
    disableSkill(customer) {
      customer.isEnabled = false;
      login.endGrantsOf(customer);
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function asHttp({ status, code }: GatewayAnswer): { readonly status: number; readonly body?: object } {
  if (code === undefined) return { status };
  return { status, body: { header: { namespace: "System", name: "Exception" }, payload: { code, description: code } } };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function send(response: ServerResponse, status: number, body?: object, retryAfterSeconds?: number): void {
  const wait = retryAfterSeconds === undefined ? {} : { "Retry-After": String(retryAfterSeconds) };
  response.writeHead(status, { "Content-Type": "application/json", ...wait });
  response.end(body && JSON.stringify(body));
}
