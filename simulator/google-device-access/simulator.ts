import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ActivityLog } from "../activity-log.ts";
import { type Cancel, systemClock } from "../clock.ts";
import { opaqueId } from "../home/random.ts";
import { Secrets } from "../secrets.ts";
import { Account, type AccountEvent, randomId } from "./account.ts";
import { answer } from "./answers.ts";
import { Delivery } from "./delivery.ts";
import { Faults } from "./faults.ts";
import { furnish } from "./house.ts";
import { type LifeOptions, startLife } from "./life.ts";
import { RateLimits } from "./rate-limits.ts";
import { playScene as playNamed } from "./scenes.ts";
import { Subscription } from "./subscription.ts";
import { Tokens } from "./tokens.ts";

export interface GoogleOptions {
  readonly port?: number;
  readonly nowMs?: () => number;
  /** The ids of accounts and devices are those of this seed; random ones when left out. */
  readonly seed?: string;
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
  addAccount(person: string, options?: { readonly isFurnished?: boolean; readonly homeName?: string }): Account;
  /** The settings of the ecosystem in Breezeway. The file holds `serviceAccountKey()`. */
  settings(serviceAccountFile: string): Readonly<Record<string, string>>;
  serviceAccountKey(): string;
  /** Plays a scene in an account. The simulated life pauses. Throws a refusal for an unknown scene. */
  playScene(account: Account, name: string): void;
  /** Starts the everyday life of an account. */
  startLife(account: Account, options: Pick<LifeOptions, "everyMs" | "random">): void;
  /** Pauses the everyday life, so that it does not disturb what a person does. */
  pauseLife(): void;
  /** Breaks all open connections. */
  hangUp(): void;
  stop(): Promise<void>;
}

const projectId = "hearth-hollow-project";
const client = { clientId: "hearth-hollow.apps.example", clientSecret: "simulated-Client-Secret" };
const subscriptionName = "projects/hearth-hollow/subscriptions/breezeway";

const keptActivities = 500;
/** How long life pauses after a person or a client has changed something. */
const restMs = 120_000;

export async function startGoogle({ port = 0, nowMs = Date.now, seed }: GoogleOptions = {}): Promise<Google> {
  const accounts = new Map<string, Account>();
  const tokens = new Tokens(nowMs);
  const rates = new RateLimits();
  const subscription = new Subscription(nowMs);
  const delivery = new Delivery(subscription);
  const faults = new Faults();
  const log = new ActivityLog(keptActivities, nowMs, new Secrets());
  const newId = seed === undefined ? randomId : idsOf(seed);
  const lives: Cancel[] = [];
  let touchedMs = Number.NEGATIVE_INFINITY;
  const pauseLife = () => {
    touchedMs = nowMs();
  };
  const playScene = (account: Account, name: string) => {
    pauseLife();
    playNamed({ account, tokens, delivery, faults, nowMs }, name);
    log.record("scene", account.userId, { scene: name });
  };
  const publish = ({ userId }: Account, event: AccountEvent) => {
    log.record("put", userId, { event: JSON.stringify(event.resourceUpdate ?? event.relationUpdate) });
    delivery.take(event);
  };
  const api = { subscriptionName, accounts, tokens, rates, subscription, faults, nowMs };
  const parts = { projectId, ...client, ...api, log, playScene };
  let url = "";
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    answer({ ...parts, url }, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", resolve));
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
    addAccount(person, { isFurnished = true, homeName } = {}) {
      const account = new Account(person, { projectId, newId, nowMs, publish });
      accounts.set(account.userId, account);
      if (isFurnished) furnish(account, homeName);
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
    playScene,
    startLife(account, { everyMs, random }) {
      const isPaused = () => nowMs() - touchedMs < restMs;
      lives.push(startLife(account, systemClock, { everyMs, random, isPaused }));
    },
    pauseLife,
    hangUp: () => server.closeAllConnections(),
    async stop() {
      for (const cancel of lives) cancel();
      delivery.stop();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function idsOf(seed: string): () => string {
  let count = 0;
  return () => {
    count += 1;
    return opaqueId(`${seed} ${count}`, 32);
  };
}
