import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Activity } from "./activity-log.ts";
import { readClientPlan } from "./clients/client.ts";
import { type ClientCredentials, defaultClient } from "./clients/clients.ts";
import { readPermissions } from "./clients/permissions.ts";
import { type Cancel, type Clock, systemClock } from "./clock.ts";
import { Ecosystem, type SceneOutcome } from "./ecosystem.ts";
import { readFaultPlan, type ShownFault } from "./faults/faults.ts";
import { readAccountPlan } from "./home/account-plan.ts";
import type { Json, JsonObject } from "./home/json.ts";
import { createApiServer, createFrontServer } from "./http/server.ts";
import type { LifeOptions } from "./life.ts";

export interface SimulatorOptions {
  /** 127.0.0.1 when left out. */
  readonly host?: string;
  /** 8090 when left out; 0 chooses a free port. */
  readonly port?: number;
  /** 30 seconds when left out, as the ecosystem does. */
  readonly keepAliveMs?: number;
  /** File that keeps accounts and tokens between two runs; nothing is kept when left out. */
  readonly stateFile?: string;
  /** Whether each stream begins with an `open` event; false when left out. */
  readonly openEvent?: boolean;
  /** Commands that a device or structure accepts in a rolling hour; 10 when left out. */
  readonly writesPerHour?: number;
  /** Whether the refusal of a further command has a `Retry-After` header; true when left out. */
  readonly retryAfter?: boolean;
  /** `second-host`: requests for the document get a 307 to another port, as in the ecosystem. `off` when left out. */
  readonly redirect?: "off" | "second-host";
  /** The port of the second host; a free one when left out. */
  readonly secondPort?: number;
  readonly nowMs?: Clock["nowMs"];
  readonly after?: Clock["after"];
}

/** A running simulator, with the calls of its control interface for the program that started it. */
export interface Simulator {
  readonly url: string;
  readonly port: number;
  /** The address of the document when `redirect` is on. */
  readonly secondUrl: string | undefined;
  /** Host and port of every address to which the simulator redirects. */
  readonly hosts: readonly string[];
  /** A built-in client. It may return to any loopback address, or use a PIN. */
  readonly defaultClient: ClientCredentials;
  /** Takes the body of `POST /simulator/clients`; everything has a default. */
  registerClient(plan?: Json): ClientCredentials;
  /** The owner's consent without the page: returns the code that the client exchanges for its token. */
  issueCode(accountId: string, clientId?: string): string;
  /** Changes what the owner allows a client. Returns the number of streams that ended. */
  changePermissions(accountId: string, permissions: Json, clientId?: string): number;
  /** Takes the body of `POST /simulator/faults`. */
  addFault(fault: JsonObject): ShownFault;
  /** Ends one fault or, without an id, all. Returns how many were active. */
  clearFaults(id?: string): number;
  /** The active faults. */
  faults(): readonly ShownFault[];
  /** Takes the body of `POST /simulator/accounts`; everything has a default. */
  addAccount(plan?: Json): { readonly accountId: string; readonly token: string };
  /** In the order of their creation. */
  accountIds(): readonly string[];
  /** Without a client id, a token of the default client. */
  issueToken(accountId: string, clientId?: string): string;
  /** False when there is no such token. */
  revokeToken(token: string): boolean;
  /** Ends all tokens of a client (by default the default client). Returns how many there were. */
  endAccess(accountId: string, clientId?: string): number;
  document(accountId: string): JsonObject;
  revision(accountId: string): number;
  replaceDocument(accountId: string, document: JsonObject): void;
  /** Takes the body of `POST /simulator/accounts/{id}/scene`. */
  playScene(accountId: string, played: JsonObject): Promise<SceneOutcome>;
  /** Starts a simulated everyday life in an account; the returned function ends it. */
  startLife(accountId: string, options?: LifeOptions): Cancel;
  /** Pauses the everyday life of an account (`restMs`), so that it does not disturb what a user does. */
  pauseLife(accountId: string): void;
  /** Closes the connections of the account's streams. Returns how many there were. */
  drop(accountId: string): number;
  log(after?: number): readonly Activity[];
  stop(): Promise<void>;
}

export type { Activity, ClientCredentials, LifeOptions, SceneOutcome, ShownFault };

export class AddressTaken extends Error {
  readonly code = "EADDRINUSE";

  constructor(host: string, port: number, cause: unknown) {
    super(`The simulator can't listen on ${host}, port ${port}: it is already taken.`, { cause });
    this.name = "AddressTaken";
  }
}

/** How long the simulator waits for readers to receive their last bytes when it stops. */
const drainMs = 300;

/** Starts the simulated ecosystem and resolves when it listens. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { host = "127.0.0.1" } = options;
  const clock = { nowMs: options.nowMs ?? systemClock.nowMs, after: options.after ?? systemClock.after };
  const ecosystem = new Ecosystem(clock, {
    keepAliveMs: options.keepAliveMs ?? 30_000,
    openEvent: options.openEvent ?? false,
    writesPerHour: options.writesPerHour ?? 10,
    retryAfter: options.retryAfter ?? true,
    stateFile: options.stateFile,
  });
  let secondUrl: string | undefined;
  const servers = [createFrontServer(ecosystem, () => secondUrl)];
  const port = await listen(servers[0]!, host, options.port ?? 8090);
  if (options.redirect === "second-host") {
    servers.push(createApiServer(ecosystem));
    try {
      secondUrl = urlOf(host, await listen(servers[1]!, host, options.secondPort ?? 0));
    } catch (error) {
      await stop(servers, ecosystem);
      throw error;
    }
  }
  const { accounts, clients, codes, faults, streams, log } = ecosystem;
  const url = urlOf(host, port);
  return {
    url,
    port,
    secondUrl,
    hosts: [url, ...(secondUrl === undefined ? [] : [secondUrl])].map((address) => new URL(address).host),
    defaultClient: { clientId: defaultClient.clientId, clientSecret: defaultClient.clientSecret },
    registerClient: (plan = {}) => ecosystem.access.registerClient(readClientPlan(plan)),
    issueCode: (accountId, clientId = defaultClient.clientId) => {
      const { permissions } = clients.get(clientId);
      return codes.issue("code", { account: accounts.get(accountId), clientId, permissions });
    },
    changePermissions: (accountId, permissions, clientId = defaultClient.clientId) =>
      ecosystem.access.changePermissions(accounts.get(accountId), clientId, readPermissions(permissions)),
    addFault: (fault) => ecosystem.addFault(readFaultPlan(fault)),
    clearFaults: (id) => ecosystem.clearFaults(id),
    faults: () => faults.shown,
    addAccount: (plan = {}) => {
      const { account, token } = ecosystem.addAccount(readAccountPlan(plan));
      return { accountId: account.accountId, token };
    },
    accountIds: () => accounts.all.map(({ accountId }) => accountId),
    issueToken: (accountId, clientId) => ecosystem.access.issueToken(accounts.get(accountId), clientId),
    revokeToken: (token) => ecosystem.access.revokeToken(token),
    endAccess: (accountId, clientId = defaultClient.clientId) =>
      ecosystem.access.end(accounts.get(accountId), clientId),
    document: (accountId) => accounts.get(accountId).document,
    revision: (accountId) => accounts.get(accountId).revision,
    replaceDocument: (accountId, document) => ecosystem.replaceDocument(accounts.get(accountId), document),
    playScene: async (accountId, played) => ecosystem.playScene(accounts.get(accountId), played),
    startLife: (accountId, life = {}) => ecosystem.startLife(accounts.get(accountId), life),
    pauseLife: (accountId) => {
      accounts.get(accountId).touchedMs = clock.nowMs();
    },
    drop: (accountId) => streams.drop(accounts.get(accountId)),
    log: (after) => log.entries(after),
    stop: () => stop(servers, ecosystem),
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

async function stop(servers: readonly Server[], ecosystem: Ecosystem): Promise<void> {
  ecosystem.stop();
  await Promise.all(servers.filter(({ listening }) => listening).map(close));
}

async function close(server: Server): Promise<void> {
  const closed = once(server, "close");
  server.close();
  const drainTimer = setTimeout(() => server.closeAllConnections(), drainMs);
  await closed;
  clearTimeout(drainTimer);
}

function urlOf(host: string, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
