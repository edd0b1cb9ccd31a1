import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { addUsers } from "../../bench/users.ts";
import { BadParameter, Conflict, NotFound } from "../../src/model/errors.ts";
import type { TenantId, UserId } from "../../src/model/ids.ts";
import type { OpenStore } from "../../src/store/seam.ts";
import { linkOf, node } from "../contracts/store/home.ts";
import { madeAlice, madeIdentity, password } from "./made-identity.ts";

describe("a tenant", () => {
  it("is found by its name and by its id", async (t) => {
    const { identity } = await madeIdentity(t);
    const acme = await identity.addTenant({ name: "  Acme Homes " });
    const chosen = await identity.addTenant({ name: "Räume 🏠", appId: 4711 });
    assert.deepEqual(acme, { tenantId: acme.tenantId, name: "Acme Homes" });
    assert.equal(chosen.tenantId, 4711);
    assert.deepEqual(await identity.findTenant("Acme Homes"), acme);
    assert.deepEqual(await identity.findTenant(String(acme.tenantId)), acme);
    assert.deepEqual(await identity.findTenant("Ra\u0308ume 🏠"), chosen);
    assert.deepEqual(await identity.listTenants(), [acme, chosen]);
  });

  it("has a unique name and a unique id", async (t) => {
    const { identity } = await madeIdentity(t);
    await identity.addTenant({ name: "Acme", appId: 7 });
    await assert.rejects(identity.addTenant({ name: "Acme" }), Conflict);
    await assert.rejects(identity.addTenant({ name: "Other", appId: 7 }), /app id 7 is taken/);
    assert.equal((await identity.listTenants()).length, 1);
  });

  it("gets no id that platform calls can't transport", async (t) => {
    const { identity } = await madeIdentity(t);
    await identity.addTenant({ name: "Highest", appId: 2 ** 31 - 1 });
    await assert.rejects(identity.addTenant({ name: "Next" }), Conflict);
    for (const appId of [0, -1, 1.5, 2 ** 31, Number.NaN]) {
      await assert.rejects(identity.addTenant({ name: "Other", appId }), BadParameter);
    }
  });

  it("can't have a name that can't be typed, shown or stored", async (t) => {
    const { identity } = await madeIdentity(t);
    for (const name of ["", "   ", "a\0b", "a\uD800", "line\nbreak", "12", "x".repeat(61)]) {
      await assert.rejects(identity.addTenant({ name }), BadParameter, JSON.stringify(name));
    }
    await identity.addTenant({ name: "🏠".repeat(60) });
  });

  it("that does not exist is answered with the command that lists tenants", async (t) => {
    const { identity } = await madeIdentity(t);
    const isHelpful = (error: unknown) => error instanceof NotFound && /breezeway tenant list/.test(error.message);
    await assert.rejects(identity.findTenant("Nobody"), isHelpful);
    await assert.rejects(identity.findTenant("99"), isHelpful);
    await assert.rejects(identity.findTenant("a\0"), BadParameter);
  });
});

describe("a user", () => {
  it("has a name that is unique within their tenant only", async (t) => {
    const { identity, userId } = await madeAlice(t);
    await identity.addTenant({ name: "Other" });
    const alice = { name: " alice", password, isAdmin: true };
    await assert.rejects(identity.addUser({ tenant: "7", ...alice }), Conflict);
    assert.notEqual(await identity.addUser({ tenant: "Other", ...alice }), userId);
    await assert.rejects(identity.addUser({ tenant: "Nowhere", ...alice }), NotFound);
  });

  it("can't have a password that is too short, too long or can't be stored", async (t) => {
    const { identity } = await madeAlice(t);
    const bob = { tenant: "Acme", name: "bob", isAdmin: false };
    for (const bad of ["", "seven77", "x".repeat(61), "nul nul\0", "half a pair\uD83C"]) {
      const isDiscreet = (error: unknown) =>
        error instanceof BadParameter && error.parameter === "password" && (bad === "" || !error.message.includes(bad));
      await assert.rejects(identity.addUser({ ...bob, password: bad }), isDiscreet);
    }
    await identity.addUser({ ...bob, password: "🏠".repeat(60) });
    await assert.rejects(identity.addUser({ ...bob, name: "x".repeat(61), password }), BadParameter);
  });

  it("signs in with the same letters in another Unicode form", async (t) => {
    const { identity, login } = await madeAlice(t);
    await identity.addUser({ tenant: "Acme", name: "Zoë", password: "caf\u00e9 noir", isAdmin: false });
    await login({ name: "Zoe\u0308 ", password: "cafe\u0301 noir" });
  });

  it("is found by their id, and listed with users of one tenant or of all", async (t) => {
    const { identity, userId, tenantId, clock } = await madeAlice(t);
    const other = await identity.addTenant({ name: "Other" });
    const bobId = await identity.addUser({ tenant: "Other", name: "bob", password, isAdmin: true });
    const alice = { userId, tenantId, name: "alice", isAdmin: false, createdMs: clock.nowMs, isSuspended: false };
    const bob = { ...alice, userId: bobId, tenantId: other.tenantId, name: "bob", isAdmin: true };
    assert.deepEqual(await identity.findUser(userId), alice);
    assert.deepEqual(await identity.listUsers(), [alice, bob]);
    assert.deepEqual(await identity.listUsers(other.tenantId), [bob]);
    await assert.rejects(identity.findUser(99 as UserId), isUnknown);
  });

  it("loses every secToken, sign-in, code and grant with a new password, which is audited", async (t) => {
    const { identity, login, userId, tenantId, store, told } = await madeAlice(t);
    const bobId = await identity.addUser({ tenant: "Acme", name: "bob", password, isAdmin: false });
    const { secToken } = await login();
    await giveAccess(store, { tenantId, userId });
    await giveAccess(store, { tenantId, userId: bobId });
    assert.deepEqual(await identity.setPassword(userId, "battery staple"), { grants: 2 });
    await assert.rejects(identity.authenticate(secToken), /Invalid security token/);
    assert.deepEqual(await accessOf(store, userId), nothing);
    assert.notDeepEqual(await accessOf(store, bobId), nothing);
    assert.deepEqual(told.grants, [`${userId} tenant`, `${userId} user`]);
    await assert.rejects(login(), /Invalid login/);
    await login({ password: "battery staple" });
    const changed = (await identity.audit.list({ limit: 10 })).find(({ act }) => act === "password_changed");
    assert.deepEqual([changed?.userId, changed?.tenantId, changed?.source], [userId, tenantId, "command"]);
    await assert.rejects(identity.setPassword(99 as UserId, password), isUnknown);
  });

  it("is removed with all their data, and caches are notified", async (t) => {
    const { identity, login, userId, tenantId, store, told } = await madeAlice(t);
    const { secToken } = await login();
    await giveAccess(store, { tenantId, userId });
    const lamp = await store.transaction(async (tx) => {
      const deviceId = await tx.devices.add({ userId, typeName: "Lamp", name: "Hall lamp", isVirtual: false });
      await tx.attributes.write(userId, deviceId, 1, [{ key: "power", value: "on" }]);
      await tx.log.append({ userId, deviceId, kind: "attribute", timeMs: 1, body: "{}" });
      return deviceId;
    });
    const removed = await identity.removeUser(userId);
    const grants = [`${userId} tenant`, `${userId} user`];
    assert.deepEqual(removed, {
      devices: [lamp],
      attributes: 1,
      history: 1,
      blindIntervals: 0,
      commands: 0,
      webhooks: 0,
      alerts: 0,
      grants,
    });
    assert.deepEqual(told, { devices: [lamp], grants });
    assert.deepEqual(await accessOf(store, userId), nothing);
    await assert.rejects(identity.authenticate(secToken), /Invalid security token/);
    await assert.rejects(login(), /Invalid login/);
    await assert.rejects(identity.removeUser(userId), isUnknown);
    const again = await identity.addUser({ tenant: "Acme", name: "alice", password, isAdmin: false });
    assert.ok(again > userId, "an id was given twice");
  });

  it("stays unchanged when a link appears at the moment of their removal", async (t) => {
    const { identity, login, userId, store, told } = await madeAlice(t);
    const { secToken } = await login();
    await store.transaction(async (tx) => {
      const deviceId = await tx.devices.add({ userId, typeName: "Account", name: "Nest account", isVirtual: true });
      await tx.links.add(linkOf({ userId, devices: [deviceId] } as never, node("A")));
    });
    await assert.rejects(identity.removeUser(userId), Conflict);
    assert.deepEqual(told, { devices: [], grants: [] });
    await identity.authenticate(secToken);
  });
});

const isUnknown = (error: unknown) => error instanceof NotFound && /breezeway user list/.test(error.message);

const nothing = { grants: [], code: undefined, signIn: undefined };

/** Adds a grant for the user, one for the tenant, a code and a sign-in. */
async function giveAccess(store: OpenStore, { tenantId, userId }: { tenantId: TenantId; userId: UserId }) {
  await store.transaction(async (tx) => {
    const clientId = "bwc_1";
    for (const covers of ["user", "tenant"] as const) {
      await tx.grants.add({ id: `${userId} ${covers}`, tenantId, userId, clientId, covers });
      await tx.accessTokens.add(
        { ownerId: userId, hash: `access ${userId} ${covers}` },
        `${userId} ${covers}`,
        2 ** 45,
      );
    }
    const code = { redirectUri: "https://a.example/", isRedirectUriSent: true, challenge: null, expiresMs: 2 ** 45 };
    await tx.codes.add({ hash: `code ${userId}`, clientId, userId, ...code });
    const signIn = { loginId: "login", secretHash: "secret", request: "{}", expiresMs: 2 ** 45 };
    await tx.signIns.add({ idHash: `sign-in ${userId}`, userId, clientId, ...signIn });
  });
}

async function accessOf(store: OpenStore, userId: UserId) {
  return store.read(async (tx) => ({
    grants: await tx.grants.ofUser(userId),
    code: await tx.codes.find({ ownerId: userId, hash: `code ${userId}` }),
    signIn: await tx.signIns.find({ ownerId: userId, hash: `sign-in ${userId}` }),
  }));
}

describe("a search through very many users", () => {
  it("reads a range of ids at a time, and finds those of all ranges in order", async (t) => {
    const { identity, store } = await madeIdentity(t);
    const { tenantId } = await identity.addTenant({ name: "Acme" });
    const wanted: UserId[] = [];
    await store.transaction(async (tx) => {
      const user = { tenantId, passwordHash: "no valid hash", isAdmin: false };
      const addWanted = async () => wanted.push((await tx.users.add({ ...user, name: `wanted ${wanted.length}` }))!);
      await addWanted();
      await addUsers(tx, tenantId, 6_000);
      await addWanted();
      await addUsers(tx, (await tx.tenants.add({ name: "Second" }))!, 6_000);
      await addWanted();
    });
    let reads = 0;
    const read = store.read.bind(store);
    store.read = (body) => {
      reads += 1;
      return read(body);
    };
    const find = async (filter: object) => (await identity.searchUsers({ afterId: 0, limit: 10, ...filter })).map(idOf);
    const idOf = ({ userId }: { readonly userId: UserId }) => userId;
    assert.deepEqual(await find({ text: "WANTED" }), wanted);
    assert.equal(reads, 4);
    assert.deepEqual(await find({ text: "wanted", tenantIds: [tenantId], limit: 2 }), wanted.slice(0, 2));
    assert.deepEqual(await find({ text: "wanted", afterId: wanted[0], limit: 2 }), wanted.slice(1));
    assert.deepEqual(await find({ name: "wanted 2" }), wanted.slice(2));
    assert.deepEqual(await find({ text: "nobody" }), []);
  });
});
