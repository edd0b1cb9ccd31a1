import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import type { TestContext } from "node:test";
import pg from "pg";
import { type Config, readConfig } from "../../src/config/config.ts";
import { hashOf } from "../../src/identity/secrets.ts";
import type { DeviceId, TenantId, UserId } from "../../src/model/ids.ts";
import { startLogging } from "../../src/runtime/process/log.ts";
import { processRuntime } from "../../src/runtime/process/process-runtime.ts";
import { type Service, startService } from "../../src/service/service.ts";
import { cheapPasswords } from "../set-up/cheap-passwords.ts";
import { type Deployment, databaseFor, runDeployment } from "../set-up/deployment.ts";
import { newDataFolder } from "../set-up/sqlite-template.ts";
import { ScriptedBrowser } from "./scripted-browser.ts";

export const ada = { name: "ada", password: "correct horse" };
export const admin = { name: "root", password: "battery staple" };
export const callback = "http://127.0.0.1:9/callback";

export interface MadeClient {
  readonly id: string;
  readonly secret: string;
}

export function idAndSecret({ id, secret }: MadeClient) {
  return { client_id: id, client_secret: secret };
}

export interface Tokens {
  readonly access_token: string;
  readonly token_type: string;
  readonly expires_in: number;
  readonly refresh_token: string;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests look at
  readonly body: any;
}

export interface OAuthWorldPlan {
  readonly database?: Deployment;
  readonly environment?: Readonly<Record<string, string>>;
  /** Both clocks move only when the test moves them: for steps that must follow within a second on any machine. */
  readonly isClockStill?: boolean;
  /** The factor by which all timers fire earlier. */
  readonly clockSpeed?: number;
  /** Passwords are hashed at the cost of production. */
  readonly hasSlowPasswords?: boolean;
}

/** The real service with two tenants, their people and clients, and a clock that can be moved on. */
export async function oauthWorld(test: TestContext, plan: OAuthWorldPlan = {}) {
  const folder = await newDataFolder("breezeway-oauth-");
  const databaseUrl = await databaseFor(plan.database);
  const environment = {
    BREEZEWAY_DATA: folder,
    BREEZEWAY_PORT: "0",
    BREEZEWAY_DATABASE_URL: databaseUrl,
    ...plan.environment,
  };
  const config: Config = readConfig({ flags: {}, environment });
  const logged: string[] = [];
  const report = startLogging("debug", { write: (line) => void logged.push(line) });
  const real = processRuntime(report);
  const startMs = real.nowMs();
  // A whole number, so that sums with it are exact.
  const startElapsedMs = Math.floor(real.elapsedMs());
  let shiftMs = 0;
  let sleptMs = 0;
  const runtime = {
    ...real,
    nowMs: () => (plan.isClockStill ? startMs : real.nowMs()) + shiftMs + sleptMs,
    elapsedMs: () => (plan.isClockStill ? startElapsedMs : real.elapsedMs()) + shiftMs,
    after: (delayMs: number, act: () => void) => real.after(delayMs / (plan.clockSpeed ?? 1), act),
  };
  const start = (nodeConfig: Config) =>
    startService(nodeConfig, report, runtime, plan.hasSlowPasswords ? {} : cheapPasswords);
  const deployment = await runDeployment(test, plan.database, config, start);
  const others: Service[] = [];
  test.after(async () => {
    await deployment.end();
    for (const one of others) await one.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const { identity, oauth, administration } = deployment.service.parts;
  const { tenantId } = await identity.addTenant({ name: "Acme" });
  const other = await identity.addTenant({ name: "Other" });
  const userId = await identity.addUser({ tenant: "Acme", ...ada, isAdmin: false });
  const bobId = await identity.addUser({ tenant: "Acme", name: "bob", password: "another word", isAdmin: false });
  const adminId = await identity.addUser({ tenant: "Acme", ...admin, isAdmin: true });
  const strangerId = await identity.addUser({ tenant: "Other", ...ada, isAdmin: false });
  const addClient = async (change: Partial<Parameters<typeof oauth.addClient>[0]> = {}): Promise<MadeClient> => {
    const made = await deployment.service.parts.oauth.addClient({
      tenant: "Acme",
      name: "Voice",
      kind: "user",
      redirectUris: [callback],
      requiresPkce: false,
      ...change,
    });
    return { id: made.client.id, secret: made.secret };
  };
  /** A client as versions with other rules for scopes have registered it. */
  const addOlderClient = async (kind: "user" | "enterprise" = "user"): Promise<MadeClient> => {
    const [id, secret] = [`bwc_${randomUUID()}`, "older secret"];
    const registered = { id, tenantId, name: "Older", kind, redirectUris: [callback], requiresPkce: false };
    const secrets = [{ hash: hashOf(secret), endsMs: null }];
    await deployment.service.parts.store.transaction((tx) => tx.clients.add({ ...registered, secrets }));
    return { id, secret };
  };
  const addDevice = async (user: UserId, name: string, type = "Lamp"): Promise<DeviceId> => {
    const added = await administration.run("device add", { user: String(user), name, type });
    return (added as { deviceId: DeviceId }).deviceId;
  };
  const client = await addClient();
  const baseUrl = () => deployment.service.baseUrl;

  const authorizeUrl = (change: Readonly<Record<string, string | undefined>> = {}): string => {
    const url = new URL("/oauth2/authorize", baseUrl());
    const parameters = { response_type: "code", client_id: client.id, state: "s-1", ...change };
    for (const [name, value] of Object.entries(parameters)) if (value !== undefined) url.searchParams.set(name, value);
    return String(url);
  };
  const post = async (path: string, form: Readonly<Record<string, string | undefined>>, init: RequestInit = {}) => {
    const body = new URLSearchParams();
    for (const [name, value] of Object.entries(form)) if (value !== undefined) body.set(name, value);
    return answered(await fetch(`${baseUrl()}${path}`, { method: "POST", body, ...init }));
  };
  /** Signs ada in with a new browser and returns the code. */
  const code = async (change: Readonly<Record<string, string | undefined>> = {}, person = ada): Promise<string> => {
    const address = await new ScriptedBrowser(baseUrl).authorize(authorizeUrl(change), person);
    return address.searchParams.get("code") ?? "";
  };
  const exchange = (
    authorizationCode: string,
    by: MadeClient = client,
    change: Readonly<Record<string, string | undefined>> = {},
  ) =>
    post("/oauth2/access_token", {
      grant_type: "authorization_code",
      code: authorizationCode,
      ...idAndSecret(by),
      ...change,
    });
  const refresh = (token: string, by: MadeClient = client) =>
    post("/oauth2/access_token", { grant_type: "refresh_token", refresh_token: token, ...idAndSecret(by) });
  const revoke = (token: string, by: MadeClient = client, hint = "") =>
    post("/oauth2/revoke_token", { token, token_type_hint: hint, ...idAndSecret(by) });
  const tokens = async (by: MadeClient = client, person = ada): Promise<Tokens> => {
    const answer = await exchange(await code({ client_id: by.id }, person), by);
    if (answer.status !== 200) throw new Error(`no tokens: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const get = async (path: string, token?: string): Promise<Answered> =>
    answered(await fetch(`${baseUrl()}${path}`, { headers: token ? { authorization: `Bearer ${token}` } : {} }));
  const statusAt = async (url: string, token: string): Promise<number> =>
    (await answered(await fetch(`${url}/v3/users`, { headers: { authorization: `Bearer ${token}` } }))).status;
  /**
   * The status of a call with that access token: 200 or 401. With several nodes, all must agree; for one second
   * some may not have read another node's revocation yet.
   */
  const statusWith = async (token: string): Promise<number> => {
    for (let differMs = Number.POSITIVE_INFINITY; ; ) {
      const askedMs = performance.now();
      const statuses = await Promise.all(deployment.nodes.map(({ url }) => statusAt(url, token)));
      const [status, ...others] = new Set(statuses);
      if (others.length === 0) return status!;
      assert.ok(askedMs < differMs + 1_000, `a second later the nodes answer ${statuses.join(", ")}`);
      differMs = Math.min(differMs, performance.now());
    }
  };

  return {
    folder,
    databaseUrl,
    config,
    logged,
    get service() {
      return deployment.service;
    },
    get nodes() {
      return deployment.nodes;
    },
    get baseUrl() {
      return deployment.service.baseUrl;
    },
    tenantId: tenantId as TenantId,
    otherTenantId: other.tenantId as TenantId,
    userId,
    bobId,
    adminId,
    strangerId,
    client,
    addClient,
    addOlderClient,
    addDevice,
    browser: () => new ScriptedBrowser(baseUrl),
    authorizeUrl,
    post,
    get,
    code,
    exchange,
    refresh,
    revoke,
    tokens,
    statusWith,
    restart: () => deployment.restart(),
    /** Another node on the same PostgreSQL. */
    async secondNode(): Promise<Service> {
      const second = await start(config);
      others.push(second);
      return second;
    },
    /** Moves the service's clock; on PostgreSQL all stored times are moved back instead. */
    async timePasses(ms: number): Promise<void> {
      shiftMs += ms;
      if (databaseUrl) await makeOlder(databaseUrl, ms);
    },
    /** As `timePasses`, while the machine of the service sleeps: its monotonic clock and its timers stand still. */
    async machineSleeps(ms: number): Promise<void> {
      sleptMs += ms;
      if (databaseUrl) await makeOlder(databaseUrl, ms);
    },
  };
}

export type OAuthWorld = Awaited<ReturnType<typeof oauthWorld>>;

async function answered(answer: Response): Promise<Answered> {
  const text = await answer.text();
  const isJson = (answer.headers.get("content-type") ?? "").startsWith("application/json");
  return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text };
}

/** PostgreSQL's own clock can't be moved by a test, so the stored times are moved. */
async function makeOlder(url: string, ms: number): Promise<void> {
  const database = new pg.Client({ connectionString: url });
  await database.connect();
  const { rows } = await database.query<{ table: string; column: string }>(
    `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
     WHERE table_schema = 'public' AND column_name LIKE '%\\_ms' AND table_name <> 'nodes'`,
  );
  for (const { table, column } of rows) {
    // The lock of the table comes first: the service may update the same rows in another order.
    const lock = `LOCK TABLE ${table} IN SHARE ROW EXCLUSIVE MODE`;
    await database.query(`BEGIN; ${lock}; UPDATE ${table} SET ${column} = ${column} - ${ms}; COMMIT`);
  }
  await database.end();
}
