import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { alertsOn } from "../../src/alerts/alerts.ts";
import { type AttributeChange, commitOn } from "../../src/devices/commit.ts";
import { deviceReading } from "../../src/devices/read.ts";
import { DeviceStates } from "../../src/devices/states.ts";
import { deviceWriting } from "../../src/devices/write.ts";
import type { Federation } from "../../src/federation/federation.ts";
import type { Freshness } from "../../src/federation/freshness.ts";
import { appOn } from "../../src/http/app.ts";
import { Exchanges } from "../../src/http/open-exchanges.ts";
import type { Callers } from "../../src/http/request/caller.ts";
import { addRoutes } from "../../src/http/routes.ts";
import { defaultHttpLimits } from "../../src/http/server.ts";
import { IdempotentWrites } from "../../src/idempotency/idempotent-writes.ts";
import type { Principal } from "../../src/identity/principal.ts";
import { userReadingOn } from "../../src/identity/user-reading.ts";
import { InvalidToken } from "../../src/model/errors.ts";
import type { DeviceId, TenantId, UserId } from "../../src/model/ids.ts";
import { alertRoutes } from "../../src/outlets/v3/alert-routes.ts";
import { cursorsWith } from "../../src/outlets/v3/cursor.ts";
import { deviceRoutes } from "../../src/outlets/v3/device-routes.ts";
import { userRoutes } from "../../src/outlets/v3/user-routes.ts";
import { processRuntime } from "../../src/runtime/process/process-runtime.ts";
import { sealingWith } from "../../src/store/keys/sealing.ts";
import type { Transaction } from "../../src/store/seam.ts";
import { openSqlite } from "../../src/store/sqlite/store.ts";
import { collecting, type Reported } from "../platform/made-platform.ts";
import { newDataFolder } from "../set-up/sqlite-template.ts";

export const noonMs = Date.UTC(2026, 0, 1, 12);

/** The callers: alice and bob of the tenant Acme, carol of Other, and an enterprise client of each tenant. */
export type Token = "alice" | "bob" | "carol" | "acme" | "other";

/** The /v3 routes on their own store. Only the federation is replaced, and a token is its holder's name. */
export async function madeV3(t: TestContext) {
  const folder = await newDataFolder("breezeway-v3-");
  const clock = { nowMs: noonMs };
  const store = await openSqlite({ folder, nowMs: () => clock.nowMs });
  const reported: Reported[] = [];
  const report = collecting(reported);
  const states = new DeviceStates(store);
  const alerts = alertsOn({ store });
  const commit = commitOn({
    store,
    reactions: [alerts.react],
    committed: (commits) => {
      states.apply(commits);
      alerts.afterCommit(commits);
    },
    report,
  });
  const { ids, principals } = await store.transaction(people);

  /** Freshness of devices; others are present. Undefined stands for a link that has just ended. */
  const freshness = new Map<DeviceId, Freshness | undefined>();
  const freshnessOfEach: Federation["freshnessOfEach"] = async (devices) => {
    const known = devices.map(({ id }) => [id, freshness.has(id) ? freshness.get(id) : present] as const);
    return new Map(known.flatMap(([id, one]) => (one ? [[id, one]] : [])));
  };
  const freshnessHere: Federation["freshnessHere"] = ({ id }) => (freshness.has(id) ? freshness.get(id) : present);
  const exchanges = new Exchanges(report);
  // More than any route allows, so that each route applies its own limit.
  const limits = { ...defaultHttpLimits, bodyBytes: 1_000_000 };
  const app = appOn({ exchanges, onLimitReached: () => undefined, trustedProxies: [], ...limits });
  const devices = { ...deviceReading(store, states), ...deviceWriting(store, commit) };
  const runtime = processRuntime(report);
  const idempotency = new IdempotentWrites({ store, sealer: sealingWith(randomBytes(32)), runtime });
  // One client for each holder of a token.
  const keys = { idempotency, tokens: { clientOf: async (token: string) => `client of ${token}` } };
  const freshnessBeside: Federation["freshnessBeside"] = () => ({
    read: async () => undefined,
    of: async (device) => (await freshnessOfEach([device])).get(device.id),
  });
  const federation = { freshnessOfEach, freshnessBeside, freshnessHere };
  const users = userReadingOn(store);
  const v3 = { users, devices, federation, cursors: cursorsWith("a key of this test"), ...keys };
  const routes = [...userRoutes(v3), ...deviceRoutes(v3), ...alertRoutes({ alerts, ...keys })];
  const nobody = () => Promise.reject(new InvalidToken());
  const callers: Callers = {
    bySecToken: nobody,
    byClientSecret: nobody,
    byAccessToken: async (token) => {
      const principal = principals.get(token);
      return principal ? { ...principal, scopes: null } : nobody();
    },
  };
  addRoutes(app, routes, callers, exchanges);
  await app.listen({ host: "127.0.0.1", port: 0 });
  t.after(async () => {
    app.server.closeAllConnections();
    await app.close();
    await store.close();
    rmSync(folder, { recursive: true });
  });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;

  const call = (token: Token | undefined, path: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
    return fetch(`${url}${path}`, { ...init, headers });
  };
  const get = async (token: Token, path: string): Promise<Answered> => answered(await call(token, path));
  const put = async (token: Token, deviceId: DeviceId | string, body: unknown): Promise<Answered> =>
    answered(
      await call(token, `/v3/devices/${deviceId}`, {
        method: "PUT",
        headers: { "content-type": "application/json" },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    );
  const addDevice = (userId: UserId, typeName = "Lamp", name = `${typeName} of ${userId}`) =>
    store.transaction((tx) => tx.devices.add({ userId, name, typeName, isVirtual: typeName === "EcosystemAccount" }));
  /** Commits as the mirror does. */
  const mirror = (userId: UserId, deviceId: DeviceId, changes: readonly AttributeChange[]) =>
    commit({ userId, cause: { by: "ecosystem" }, updates: [{ deviceId, changes }] });
  /** Stores attributes without checking limits, as a version without limits may have done. */
  const fill = async (userId: UserId, deviceId: DeviceId, changes: readonly AttributeChange[]) => {
    await store.transaction((tx) => tx.attributes.write(userId, deviceId, 1, changes));
    states.forget(deviceId);
  };
  /** Reads a device from the store, without the code under test. */
  const stored = (userId: UserId, deviceId: DeviceId) =>
    store.read(async (tx) => ({
      device: await tx.devices.find(userId, deviceId),
      attributes: await tx.attributes.all(userId, deviceId),
      log: await tx.log.ofDevice(userId, deviceId),
    }));
  return {
    store,
    states,
    commit,
    devices,
    v3,
    callers,
    alerts,
    clock,
    reported,
    freshness,
    ...ids,
    url,
    call,
    get,
    put,
    addDevice,
    mirror,
    fill,
    stored,
  };
}

const present: Freshness = { isPresent: true, isStale: false, confirmedTimeMs: null };

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests look at
  readonly body: any;
}

async function answered(response: Response): Promise<Answered> {
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** Asserts one error object, whose sentence is complete and repeats nothing of what was sent. */
export function assertRefused({ status, headers, body }: Answered, expected: number, code: string, sent = ""): void {
  assert.deepEqual([status, body.error], [expected, code], body.error_description);
  assert.deepEqual(Object.keys(body), ["error", "error_description", "request_id"]);
  assert.match(body.error_description, /^[A-Z][^\n]*\.$/);
  assert.equal(body.request_id, headers.get("x-request-id"));
  if (sent !== "") assert.ok(!JSON.stringify(body).includes(sent), body.error_description);
}

async function people(tx: Transaction) {
  const user = async (tenantId: TenantId, name: string) =>
    (await tx.users.add({ tenantId, name, passwordHash: "…", isAdmin: false }))!;
  const acme = (await tx.tenants.add({ name: "Acme" }))!;
  const other = (await tx.tenants.add({ name: "Other" }))!;
  const [alice, bob, carol] = [await user(acme, "alice"), await user(acme, "bob"), await user(other, "carol")];
  const principals = new Map<string, Principal>([
    ["alice", { kind: "user", userId: alice, tenantId: acme }],
    ["bob", { kind: "user", userId: bob, tenantId: acme }],
    ["carol", { kind: "user", userId: carol, tenantId: other }],
    ["acme", { kind: "enterprise", tenantId: acme }],
    ["other", { kind: "enterprise", tenantId: other }],
  ]);
  return { ids: { acme, other, alice, bob, carol }, principals };
}
