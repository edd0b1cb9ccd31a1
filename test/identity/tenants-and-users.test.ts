import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BadParameter, Conflict, NotFound } from "../../src/model/errors.ts";
import type { UserId } from "../../src/model/ids.ts";
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

  it("keeps its name and its id to itself", async (t) => {
    const { identity } = await madeIdentity(t);
    await identity.addTenant({ name: "Acme", appId: 7 });
    await assert.rejects(identity.addTenant({ name: "Acme" }), Conflict);
    await assert.rejects(identity.addTenant({ name: "Other", appId: 7 }), /app id 7 is taken/);
    assert.equal((await identity.listTenants()).length, 1);
  });

  it("gets no id that the platform calls could not carry", async (t) => {
    const { identity } = await madeIdentity(t);
    await identity.addTenant({ name: "Highest", appId: 2 ** 31 - 1 });
    await assert.rejects(identity.addTenant({ name: "Next" }), Conflict);
    for (const appId of [0, -1, 1.5, 2 ** 31, Number.NaN]) {
      await assert.rejects(identity.addTenant({ name: "Other", appId }), BadParameter);
    }
  });

  it("can't have a name that nobody could type, show or keep", async (t) => {
    const { identity } = await madeIdentity(t);
    for (const name of ["", "   ", "a\0b", "a\uD800", "line\nbreak", "12", "x".repeat(61)]) {
      await assert.rejects(identity.addTenant({ name }), BadParameter, JSON.stringify(name));
    }
    await identity.addTenant({ name: "🏠".repeat(60) });
  });

  it("that isn't there leads to the command that lists them", async (t) => {
    const { identity } = await madeIdentity(t);
    const isHelpful = (error: unknown) => error instanceof NotFound && /breezeway tenant list/.test(error.message);
    await assert.rejects(identity.findTenant("Nobody"), isHelpful);
    await assert.rejects(identity.findTenant("99"), isHelpful);
    await assert.rejects(identity.findTenant("a\0"), BadParameter);
  });
});

describe("a user", () => {
  it("has a name of their own within their tenant only", async (t) => {
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

  it("signs in with the same letters typed on another machine", async (t) => {
    const { identity, login } = await madeAlice(t);
    await identity.addUser({ tenant: "Acme", name: "Zoë", password: "caf\u00e9 noir", isAdmin: false });
    await login({ name: "Zoe\u0308 ", password: "cafe\u0301 noir" });
  });

  it("ends every secToken with a new password", async (t) => {
    const { identity, login, userId } = await madeAlice(t);
    const { secToken } = await login();
    await identity.setPassword(userId, "battery staple");
    await assert.rejects(identity.authenticate(secToken), /Invalid security token/);
    await assert.rejects(login(), /Invalid login/);
    await login({ password: "battery staple" });
    await assert.rejects(identity.setPassword(99 as UserId, password), NotFound);
  });
});
