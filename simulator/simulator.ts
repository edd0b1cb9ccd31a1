import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Activity } from "./activity-log.ts";
import { type Cancel, type Clock, systemClock } from "./clock.ts";
import { Ecosystem, type SceneOutcome } from "./ecosystem.ts";
import { readAccountPlan } from "./home/account-plan.ts";
import type { Json, JsonObject } from "./home/json.ts";
import { createEcosystemServer } from "./http/server.ts";
import type { LifeOptions } from "./life.ts";

export interface SimulatorOptions {
  /** 127.0.0.1 when left out. */
  readonly host?: string;
  /** 8090 when left out; 0 takes a free one. */
  readonly port?: number;
  /** 30 seconds when left out, as the ecosystem does. */
  readonly keepAliveMs?: number;
  /** Where accounts and tokens are kept between two runs; nowhere when left out. */
  readonly stateFile?: string;
  readonly nowMs?: Clock["nowMs"];
  readonly after?: Clock["after"];
}

/** A running simulator. What it does over HTTP for its users, it does here for the program that started it. */
export interface Simulator {
  readonly url: string;
  readonly port: number;
  /** Takes what `POST /simulator/accounts` takes; everything has a default. */
  addAccount(plan?: Json): { readonly accountId: string; readonly token: string };
  /** In the order in which they were made. */
  accountIds(): readonly string[];
  issueToken(accountId: string): string;
  /** False when there is no such token. */
  revokeToken(token: string): boolean;
  document(accountId: string): JsonObject;
  revision(accountId: string): number;
  replaceDocument(accountId: string, document: JsonObject): void;
  /** Takes what `POST /simulator/accounts/{id}/scene` takes. */
  playScene(accountId: string, played: JsonObject): Promise<SceneOutcome>;
  /** Lets a slow everyday life go on in an account; the returned function ends it. */
  startLife(accountId: string, options?: LifeOptions): Cancel;
  /** Breaks off the account's streams; the number of broken ones. */
  drop(accountId: string): number;
  log(after?: number): readonly Activity[];
  stop(): Promise<void>;
}

export type { Activity, LifeOptions, SceneOutcome };

/** The port is somebody else's. */
export class AddressTaken extends Error {
  readonly code = "EADDRINUSE";

  constructor(host: string, port: number, cause: unknown) {
    super(`The simulator can't listen on ${host}, port ${port}: it is already taken.`, { cause });
    this.name = "AddressTaken";
  }
}

/** How long readers have to take their last bytes when the simulator stops. */
const farewellMs = 300;

/** Starts the simulated ecosystem and resolves when it listens. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { host = "127.0.0.1", keepAliveMs = 30_000 } = options;
  const clock = { nowMs: options.nowMs ?? systemClock.nowMs, after: options.after ?? systemClock.after };
  const ecosystem = new Ecosystem(clock, keepAliveMs, options.stateFile);
  const server = createEcosystemServer(ecosystem);
  const port = await listen(server, host, options.port ?? 8090);
  const { accounts, streams, log } = ecosystem;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    port,
    addAccount: (plan = {}) => {
      const { account, token } = ecosystem.addAccount(readAccountPlan(plan));
      return { accountId: account.accountId, token };
    },
    accountIds: () => accounts.all.map(({ accountId }) => accountId),
    issueToken: (accountId) => ecosystem.issueToken(accounts.get(accountId)),
    revokeToken: (token) => ecosystem.revokeToken(token),
    document: (accountId) => accounts.get(accountId).document,
    revision: (accountId) => accounts.get(accountId).revision,
    replaceDocument: (accountId, document) => ecosystem.replaceDocument(accounts.get(accountId), document),
    playScene: async (accountId, played) => ecosystem.playScene(accounts.get(accountId), played),
    startLife: (accountId, life = {}) => ecosystem.startLife(accounts.get(accountId), life),
    drop: (accountId) => streams.drop(accounts.get(accountId)),
    log: (after) => log.entries(after),
    stop: () => stop(server, ecosystem),
  };
}

async function listen(server: Server, host: string, port: number): Promise<number> {
  try {
    server.listen(port, host);
    await once(server, "listening");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") throw new AddressTaken(host, port, error);
    throw error;
  }
  return (server.address() as AddressInfo).port;
}

async function stop(server: Server, ecosystem: Ecosystem): Promise<void> {
  ecosystem.stop();
  if (!server.listening) return;
  const closed = once(server, "close");
  server.close();
  const impatience = setTimeout(() => server.closeAllConnections(), farewellMs);
  await closed;
  clearTimeout(impatience);
}
