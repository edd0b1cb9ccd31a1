import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Account } from "./account.ts";
import { answer } from "./answers.ts";
import { Delivery } from "./delivery.ts";
import { Faults } from "./faults.ts";
import { furnish } from "./house.ts";
import { RateLimits } from "./rate-limits.ts";
import { Subscription } from "./subscription.ts";
import { Tokens } from "./tokens.ts";

export interface GoogleOptions {
  readonly port?: number;
  readonly nowMs?: () => number;
}

/** Google Device Access on loopback: consent, tokens, the interface for devices, and Pub/Sub. */
export interface Google {
  readonly url: string;
  readonly port: number;
  readonly projectId: string;
  readonly accounts: ReadonlyMap<string, Account>;
  readonly tokens: Tokens;
  readonly rates: RateLimits;
  readonly subscription: Subscription;
  readonly delivery: Delivery;
  readonly faults: Faults;
  /** Adds a person; with a furnished house unless told otherwise. */
  addAccount(person: string, options?: { readonly isFurnished?: boolean }): Account;
  /** The settings of the ecosystem in Breezeway. The file holds `serviceAccountKey()`. */
  settings(serviceAccountFile: string): Readonly<Record<string, string>>;
  serviceAccountKey(): string;
  /** Breaks all open connections. */
  hangUp(): void;
  stop(): Promise<void>;
}

const projectId = "hearth-hollow-project";
const client = { clientId: "hearth-hollow.apps.example", clientSecret: "simulated-Client-Secret" };
const subscriptionName = "projects/hearth-hollow/subscriptions/breezeway";

export async function startGoogle({ port = 0, nowMs = Date.now }: GoogleOptions = {}): Promise<Google> {
  const accounts = new Map<string, Account>();
  const tokens = new Tokens(nowMs);
  const rates = new RateLimits();
  const subscription = new Subscription(nowMs);
  const delivery = new Delivery(subscription);
  const faults = new Faults();
  const parts = { projectId, ...client, subscriptionName, accounts, tokens, rates, subscription, faults, nowMs };
  let url = "";
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    answer({ ...parts, url }, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const { port: listening } = server.address() as AddressInfo;
  url = `http://127.0.0.1:${listening}`;
  return {
    url,
    port: listening,
    projectId,
    accounts,
    tokens,
    rates,
    subscription,
    delivery,
    faults,
    addAccount(person, { isFurnished = true } = {}) {
      const account = new Account(person, { projectId, nowMs, publish: (_, event) => delivery.take(event) });
      accounts.set(account.userId, account);
      if (isFurnished) furnish(account);
      return account;
    },
    settings: (serviceAccountFile) => ({
      protocol: "google-device-access",
      projectId,
      ...client,
      subscription: subscriptionName,
      serviceAccountFile,
      apiUrl: `${url}/v1`,
      authUrl: `${url}/partnerconnections`,
      tokenUrl: `${url}/token`,
      revokeUrl: `${url}/revoke`,
      pubsubUrl: `${url}/v1`,
    }),
    serviceAccountKey: () => tokens.serviceAccountKey(`${url}/token`),
    hangUp: () => server.closeAllConnections(),
    async stop() {
      delivery.stop();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
