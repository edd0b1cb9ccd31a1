import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { TenantId } from "../../src/model/ids.ts";
import { mayDo, type Need, type OperatorAccess, reaches, type Subject } from "../../src/operators/operator.ts";
import { operatorWorld, password } from "./operator-world.ts";

const everyNeed: readonly Need[] = ["read", "change", "secret"];
const everySubject: readonly Subject[] = ["tenants", "deployment", "self"];

/** `read tenants` and so on: everything that an operator may do. */
function allowed(access: OperatorAccess): readonly string[] {
  return everyNeed.flatMap((need) =>
    everySubject.filter((subject) => mayDo(access, need, subject)).map((subject) => `${need} ${subject}`),
  );
}

describe("an operator's role", () => {
  const [one, two] = [1 as TenantId, 2 as TenantId];
  const owner: OperatorAccess = { role: "owner", reachesAll: true, tenantIds: [] };
  const admin: OperatorAccess = { role: "tenantAdmin", reachesAll: false, tenantIds: [one] };
  const viewer: OperatorAccess = { role: "viewer", reachesAll: true, tenantIds: [] };
  const guest: OperatorAccess = { role: "viewer", reachesAll: false, tenantIds: [one] };
  const own = everyNeed.map((need) => `${need} self`);

  it("allows an owner everything, a tenant admin everything of tenants, and a viewer nothing but to look", () => {
    assert.equal(allowed(owner).length, everyNeed.length * everySubject.length);
    assert.deepEqual(
      allowed(admin).toSorted(),
      [...own, "read tenants", "change tenants", "secret tenants"].toSorted(),
    );
    assert.deepEqual(allowed(viewer).toSorted(), [...own, "read tenants", "read deployment"].toSorted());
    assert.deepEqual(allowed(guest).toSorted(), [...own, "read tenants"].toSorted());
  });

  it("reaches all tenants, or the named ones", () => {
    const reached = [owner, admin, viewer, guest].map((access) => [one, two].filter((id) => reaches(access, id)));
    assert.deepEqual(reached, [[one, two], [one], [one, two], [one]]);
  });
});

describe("a tenant admin", () => {
  it("sees nothing of other tenants: what is foreign is as if it did not exist", async (t) => {
    const { run, owner, invited } = await operatorWorld(t);
    await owner();
    const other = await run("tenant add", { name: "Other" });
    const foreignUser = (await run("user add", { tenant: "Other", name: "bob", password })).userId;
    const { client_id: foreignClient } = await run("client add", {
      tenant: "Other",
      name: "Voice",
      "redirect-uri": ["https://voice.example/back"],
    });
    await run("user add", { tenant: "Acme", name: "grace", password });
    const grace = await invited("grace", { role: "tenantAdmin", tenant: ["Acme"] });

    const names = async (path: string, list: string) =>
      (await grace.call("GET", path)).body[list].map((entry: { name: string }) => entry.name);
    assert.deepEqual(await names("/tenants", "tenants"), ["Acme"]);
    assert.deepEqual(await names("/users", "users"), ["grace"]);
    assert.deepEqual(await names("/clients", "clients"), []);
    const { entries } = (await grace.call("GET", "/audit")).body;
    assert.ok(entries.length > 0);
    assert.ok(entries.every(({ tenantId }: { tenantId: number }) => tenantId !== other.tenantId && tenantId !== null));
    for (const [method, path, json] of [
      ["GET", `/tenants/${other.tenantId}`],
      ["GET", "/tenants/Other"],
      ["GET", `/users/${foreignUser}`],
      ["GET", `/users/2147483647`],
      ["DELETE", `/users/${foreignUser}`],
      ["PUT", `/users/${foreignUser}/password`, { password }],
      ["GET", `/clients/${foreignClient}`],
      ["DELETE", `/clients/${foreignClient}`],
      ["POST", `/clients/${foreignClient}/secret`, {}],
      ["GET", "/users?tenant=Other"],
      ["GET", "/audit?tenant=Other"],
      ["GET", "/links?tenant=Other"],
      ["GET", "/operators/ada"],
      ["GET", "/operators/nobody"],
    ] as const) {
      const answer = await grace.call(method, path, json);
      assert.deepEqual([answer.status, answer.body.error], [404, "not_found"], `${method} ${path}`);
    }
    for (const [method, path, json] of [
      ["GET", "/operators"],
      ["POST", "/tenants", { name: "Third" }],
      ["GET", "/status"],
    ] as const) {
      const answer = await grace.call(method, path, json);
      assert.deepEqual([answer.status, answer.body.error], [403, "operator_forbidden"], `${method} ${path}`);
    }
    assert.equal((await grace.call("POST", "/users", { tenant: "Acme", name: "eve", password })).status, 201);
    const foreign = await grace.call("POST", "/users", { tenant: "Other", name: "eve", password });
    assert.equal(foreign.status, 404);
  });

  it("loses a tenant that is taken away, and one that is removed, at the next call", async (t) => {
    const { run, owner, invited } = await operatorWorld(t);
    await owner();
    await run("tenant add", { name: "Other" });
    const grace = await invited("grace", { role: "tenantAdmin", tenant: ["Acme", "Other"] });
    const count = async () => (await grace.call("GET", "/tenants")).body.tenants.length;
    assert.equal(await count(), 2);
    await run("tenant remove", { tenant: "Other" });
    assert.equal(await count(), 1);
    await run("tenant add", { name: "Third" });
    await run("operator role", { operator: "grace", role: "tenantAdmin", tenant: ["Third"] });
    assert.equal((await grace.call("GET", "/tenants/Acme")).status, 404);
    assert.deepEqual((await run("operator show", { operator: "grace" })).tenants.length, 1);
  });
});

describe("a viewer", () => {
  it("changes nothing and gets no secret, and sees the tenants", async (t) => {
    const { owner, invited, service } = await operatorWorld(t);
    await owner();
    const viewer = await invited("vera", { role: "viewer" });
    for (const call of service.parts.administration.calls) {
      const path = call.path.replace(/:\w+/g, "1");
      if (call.subject === "self") continue;
      const { status, body } = await viewer.call(call.method, path, call.method === "GET" ? undefined : {});
      if (call.need === "read") assert.ok([200, 400, 404].includes(status), `${call.act}: ${status}`);
      else assert.deepEqual([status, body.error], [403, "operator_forbidden"], call.act);
    }
  });
});
