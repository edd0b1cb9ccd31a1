import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BadParameter, Conflict, InvalidLogin, LimitReached, NotFound, NotSignedIn } from "../../src/model/errors.ts";
import type { OperatorId, TenantId } from "../../src/model/ids.ts";
import { limits } from "../../src/model/limits.ts";
import { linkLifetime } from "../../src/operators/one-time-links.ts";
import { password } from "../identity/made-identity.ts";

import { madeOperators, origin } from "./made-operators.ts";

describe("operators", () => {
  it("are found by name and id, and hidden secrets stay hidden", async (t) => {
    const { operators, join, tenantId, clock } = await madeOperators(t);
    assert.equal(await operators.hasOperators(), false);
    const { operator } = await join("vera", "viewer", [tenantId, tenantId]);
    assert.equal(await operators.hasOperators(), true);
    const expected = {
      operatorId: operator.operatorId,
      name: "vera",
      role: "viewer",
      reachesAll: false,
      tenantIds: [tenantId],
      hasPassword: true,
      isSuspended: false,
      signedInMs: clock.nowMs,
    };
    for (const text of ["vera", String(operator.operatorId)]) {
      const { createdMs, ...found } = await operators.find(text);
      assert.deepEqual(found, expected);
      assert.equal(typeof createdMs, "number");
    }
    for (const text of ["nobody", "999"]) await assert.rejects(operators.find(text), NotFound);
    await assert.rejects(operators.suspend(999 as OperatorId), NotFound);
    assert.deepEqual(
      (await operators.list()).map(({ name }) => name),
      ["vera"],
    );
  });

  it("have a role with tenants that fit it", async (t) => {
    const { operators, tenantId, join } = await madeOperators(t);
    const many = Array.from({ length: limits.tenantsPerOperator + 1 }, (_, i) => (i + 1) as TenantId);
    for (const [role, tenantIds] of [
      ["owner", [tenantId]],
      ["tenantAdmin", []],
      ["viewer", many],
      ["king", []],
    ] as const) {
      await assert.rejects(operators.invite({ role, tenantIds }), BadParameter, role);
    }
    const viewer = await join("vera", "viewer");
    assert.deepEqual([viewer.operator.reachesAll, viewer.operator.tenantIds], [true, []]);
    const changed = await operators.setAccess(viewer.operator.operatorId, {
      role: "tenantAdmin",
      tenantIds: [tenantId],
    });
    assert.deepEqual([changed.role, changed.reachesAll, changed.tenantIds], ["tenantAdmin", false, [tenantId]]);
    assert.equal((await operators.bySession(viewer.session)).role, "tenantAdmin");
  });

  it("do not get a tenant that was removed: a later one can have its id", async (t) => {
    const { operators, identity, tenantId, join } = await madeOperators(t);
    const { operator, session } = await join("vera", "viewer", [tenantId]);
    const gone = { role: "viewer", tenantIds: [tenantId, 77 as TenantId] };
    await assert.rejects(operators.setAccess(operator.operatorId, gone), /^NotFound: There is no tenant 77/);
    await assert.rejects(operators.invite(gone), NotFound);
    await identity.addTenant({ name: "Newcomer", appId: 77 });
    assert.deepEqual((await operators.bySession(session)).tenantIds, [tenantId]);
  });

  it("are viewers when their role is that of a later version", async (t) => {
    const { operators, store, join } = await madeOperators(t);
    const { operator, session } = await join("ada");
    const access = { role: "emperor", reachesAll: true, tenantIds: [] };
    await store.transaction((tx) => tx.operators.setAccess(operator.operatorId, access));
    assert.equal((await operators.bySession(session)).role, "viewer");
  });

  it("need a name that is no number and not the one of the machine", async (t) => {
    const { operators, join } = await madeOperators(t);
    for (const name of ["17", "local", "Local", "", "a\nb"]) {
      await assert.rejects(operators.invite({ name, role: "owner", tenantIds: [] }), BadParameter, name);
    }
    for (const name of ["17a", "a17", "locals"]) await join(name);
    await assert.rejects(operators.invite({ name: "17a", role: "owner", tenantIds: [] }), Conflict);
  });

  it("can't be left without an owner who can sign in", async (t) => {
    const { operators, join } = await madeOperators(t);
    const { operator: ada } = await join("ada");
    const { operator: grace } = await join("grace");
    const { operator: vera } = await join("vera", "viewer");
    assert.equal((await operators.suspend(grace.operatorId)).isSuspended, true);
    await assert.rejects(operators.suspend(ada.operatorId), Conflict);
    await assert.rejects(operators.remove(ada.operatorId), Conflict);
    assert.equal((await operators.remove(vera.operatorId)).name, "vera");
    assert.equal((await operators.remove(grace.operatorId)).name, "grace");
    assert.equal((await operators.list()).length, 1);
    assert.equal((await operators.find("ada")).isSuspended, false);
  });

  it("are at most as many as the limit says", async (t) => {
    const { operators, store, join } = await madeOperators(t);
    const link = await operators.invite({ role: "viewer", tenantIds: [] });
    await store.transaction(async (tx) => {
      for (let n = 1; n < limits.operators; n++) {
        await tx.operators.add({ name: `o${n}`, passwordHash: null, role: "viewer", reachesAll: true, tenantIds: [] });
      }
    });
    await join("last");
    const taken = { name: "one more", password, tenant: "", ...origin };
    await assert.rejects(operators.takeLink("invitation", link, taken), LimitReached);
    assert.equal((await operators.openLink("invitation", link)).name, null, "a refused link can be used later");
  });
});

describe("a one-time link", () => {
  it("is valid for its time, for one use, and for its own page", async (t) => {
    const { operators, clock } = await madeOperators(t);
    const taken = { name: "ada", password, tenant: "", ...origin };
    const invitation = await operators.invite({ role: "owner", tenantIds: [] });
    const claim = await operators.claimLink();
    await assert.rejects(operators.openLink("claim", invitation), NotFound);
    await assert.rejects(operators.takeLink("invitation", claim, taken), NotFound);
    await assert.rejects(operators.openLink("claim", "bwol_guess"), NotFound);
    const owner = { role: "owner", reachesAll: true, tenantIds: [], name: null, needsTenant: false };
    assert.deepEqual(await operators.openLink("invitation", invitation), { kind: "invitation", ...owner });
    clock.nowMs += linkLifetime.claimMs - 1;
    assert.deepEqual(await operators.openLink("claim", claim), { kind: "claim", ...owner });
    clock.nowMs += 1;
    await assert.rejects(operators.openLink("claim", claim), /breezeway operator claim/);
    clock.nowMs += linkLifetime.invitationMs - linkLifetime.claimMs - 1;
    await operators.takeLink("invitation", invitation, taken);
    await assert.rejects(operators.takeLink("invitation", invitation, taken), NotFound);
    const late = await operators.invite({ role: "owner", tenantIds: [] });
    clock.nowMs += linkLifetime.invitationMs;
    await assert.rejects(operators.openLink("invitation", late), /Ask the person who invited you/);
  });

  it("makes one operator, also when two people use it at the same moment", async (t) => {
    const { operators } = await madeOperators(t);
    const link = await operators.invite({ role: "owner", tenantIds: [] });
    const outcomes = await Promise.allSettled(
      ["ada", "eve"].map((name) => operators.takeLink("invitation", link, { name, password, tenant: "", ...origin })),
    );
    assert.deepEqual(outcomes.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
    assert.equal((await operators.list()).length, 1);
  });

  it("does not wait beside more than the limit, and gives way when it has expired", async (t) => {
    const { operators, store, clock } = await madeOperators(t);
    await store.transaction(async (tx) => {
      const times = { createdMs: clock.nowMs, expiresMs: clock.nowMs + 5_000 };
      for (let n = 1; n < limits.operatorLinksWaiting; n++) {
        const access = { role: "viewer", reachesAll: true, tenantIds: [] };
        await tx.operatorLinks.add({ kind: "invitation", name: null, ...access, hash: `hash ${n}`, ...times });
      }
    });
    const invite = () => operators.invite({ role: "viewer", tenantIds: [] });
    await invite();
    await assert.rejects(invite(), LimitReached);
    clock.nowMs += 5_000;
    await invite();
  });

  it("of a claim is made also when too many invitations wait", async (t) => {
    const { operators, store, clock } = await madeOperators(t);
    await store.transaction(async (tx) => {
      const times = { createdMs: clock.nowMs, expiresMs: clock.nowMs + linkLifetime.invitationMs };
      for (let n = 0; n < limits.operatorLinksWaiting; n++) {
        const access = { role: "viewer", reachesAll: true, tenantIds: [] };
        await tx.operatorLinks.add({ kind: "invitation", name: null, ...access, hash: `hash ${n}`, ...times });
      }
    });
    await assert.rejects(operators.invite({ role: "viewer", tenantIds: [] }), LimitReached);
    for (let times = 0; times < 2; times++) await operators.openLink("claim", await operators.claimLink());
  });

  it("of a claim leaves an entry for the tenant that it makes", async (t) => {
    const { operators, store, identity, tenantId } = await madeOperators(t);
    await store.transaction((tx) => tx.tenants.remove(tenantId));
    const taken = { name: "ada", password, tenant: "First", ...origin };
    await operators.takeLink("claim", await operators.claimLink(), taken);
    const [tenant] = await identity.listTenants();
    const entries = (await identity.audit.list({ limit: 10 })).map(
      ({ act, operator, source, tenantId: of, detail }) => {
        return [act, operator, source, of, detail];
      },
    );
    assert.deepEqual(entries, [
      ["admin", "ada", origin.source, tenant?.tenantId, { command: "tenant add", name: "First" }],
      ["operator_claimed", "ada", origin.source, null, { role: "owner" }],
    ]);
  });

  it("of a claim brings a suspended owner back, with what is stored of it in the audit log", async (t) => {
    const { operators, join, identity } = await madeOperators(t);
    const { operator, session } = await join("ada", "viewer");
    await operators.suspend(operator.operatorId);
    await assert.rejects(operators.bySession(session), NotSignedIn);
    const taken = { name: "ada", password: "battery staple", tenant: "ignored", ...origin };
    const again = await operators.takeLink("claim", await operators.claimLink(), taken);
    const back = await operators.bySession(again);
    assert.deepEqual([back.operatorId, back.role, back.reachesAll], [operator.operatorId, "owner", true]);
    await assert.rejects(operators.signIn({ name: "ada", password, ...origin }), InvalidLogin);
    await operators.signIn({ name: "ada", password: "battery staple", ...origin });
    const acts = (await identity.audit.list({ limit: 10 })).map(({ act, operator: name, source, detail }) => {
      return [act, name, source, detail.role];
    });
    assert.deepEqual(acts.slice(0, 4), [
      ["operator_sign_in", "ada", origin.source, undefined],
      ["operator_sign_in_failed", "ada", origin.source, undefined],
      ["operator_claimed", "ada", origin.source, "owner"],
      ["operator_joined", "ada", origin.source, "viewer"],
    ]);
  });
});

describe("a waiting invitation", () => {
  const viewer = { role: "viewer", tenantIds: [] };

  it("is listed without its secret, and ended by its id, or with all others for its name", async (t) => {
    const { operators, clock, tenantId } = await madeOperators(t);
    const expired = await operators.invite(viewer);
    clock.nowMs += linkLifetime.invitationMs;
    const named = await operators.invite({ role: "tenantAdmin", tenantIds: [tenantId], name: "grace" });
    clock.nowMs += 1;
    await operators.invite({ ...viewer, name: "grace" });
    clock.nowMs += 1;
    const open = await operators.invite(viewer);
    await operators.claimLink();
    const listed = await operators.listInvitations();
    const [first, , last] = listed;
    assert.deepEqual(first, {
      id: first?.id,
      name: "grace",
      role: "tenantAdmin",
      reachesAll: false,
      tenantIds: [tenantId],
      createdMs: clock.nowMs - 2,
      expiresMs: clock.nowMs - 2 + linkLifetime.invitationMs,
    });
    assert.deepEqual(
      listed.map(({ name }) => name),
      ["grace", "grace", null],
    );
    for (const secret of [expired, named, open]) assert.ok(!JSON.stringify(listed).includes(secret));
    await assert.rejects(operators.endInvitations("nobody"), NotFound);
    assert.deepEqual(await operators.endInvitations(last!.id), [last]);
    await assert.rejects(operators.openLink("invitation", open), NotFound);
    await assert.rejects(operators.endInvitations(last!.id), NotFound);
    assert.equal((await operators.endInvitations("grace")).length, 2);
    await assert.rejects(operators.openLink("invitation", named), NotFound);
    assert.deepEqual(await operators.listInvitations(), []);
  });

  it("ends with its tenant, and never reaches a later tenant of the same id", async (t) => {
    const { operators, identity, store, clock, tenantId: kept } = await madeOperators(t);
    const taken = { name: "", password, tenant: "", ...origin };
    const { tenantId } = await identity.addTenant({ name: "Leaving", appId: 77 });
    const only = await operators.invite({ role: "tenantAdmin", tenantIds: [tenantId], name: "eve" });
    const both = await operators.invite({ role: "tenantAdmin", tenantIds: [tenantId, kept], name: "grace" });
    const links = await store.read((tx) => tx.operatorLinks.list("invitation"));
    const missed = links.find(({ name }) => name === "eve");
    await identity.removeTenant(tenantId);
    assert.deepEqual(
      (await operators.listInvitations()).map(({ name, tenantIds }) => [name, tenantIds]),
      [["grace", [kept]]],
    );
    await assert.rejects(operators.takeLink("invitation", only, taken), NotFound);
    // As if the removal had not seen it.
    await store.transaction((tx) => tx.operatorLinks.add(missed!));
    await assert.rejects(operators.takeLink("invitation", only, taken), NotFound);
    clock.nowMs += 1;
    await identity.addTenant({ name: "Newcomer", appId: 77 });
    await assert.rejects(operators.takeLink("invitation", only, taken), NotFound);
    const grace = await operators.bySession(await operators.takeLink("invitation", both, taken));
    assert.deepEqual(grace.tenantIds, [kept]);
  });

  it("ends when an owner, who may have made it, is suspended, removed or gets another role", async (t) => {
    const { operators, join } = await madeOperators(t);
    await join("ada");
    const { operator: grace } = await join("grace");
    const { operator: vera } = await join("vera", "viewer");
    const invitation = await operators.invite(viewer);
    const claim = await operators.claimLink();
    assert.equal((await operators.suspend(vera.operatorId)).invitationsEnded, 0);
    assert.equal((await operators.remove(vera.operatorId)).invitationsEnded, 0);
    await operators.openLink("invitation", invitation);

    assert.equal((await operators.suspend(grace.operatorId)).invitationsEnded, 1);
    await assert.rejects(operators.openLink("invitation", invitation), NotFound);
    await operators.invite(viewer);
    assert.equal((await operators.resume(grace.operatorId)).invitationsEnded, 0);
    assert.equal((await operators.setAccess(grace.operatorId, viewer)).invitationsEnded, 1);
    await operators.invite(viewer);
    assert.equal((await operators.setAccess(grace.operatorId, { role: "owner", tenantIds: [] })).invitationsEnded, 0);
    assert.equal((await operators.remove(grace.operatorId)).invitationsEnded, 1);
    await operators.openLink("claim", claim);
  });

  it("stays when the only owner can't be suspended", async (t) => {
    const { operators, join } = await madeOperators(t);
    const { operator: ada } = await join("ada");
    const invitation = await operators.invite(viewer);
    await assert.rejects(operators.suspend(ada.operatorId), Conflict);
    await operators.openLink("invitation", invitation);
  });
});
