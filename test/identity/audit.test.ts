import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { auditEntry, auditKeptMs, auditOn } from "../../src/identity/audit.ts";
import { identityOn } from "../../src/identity/identity.ts";
import { InvalidLogin, StoreUnavailable } from "../../src/model/errors.ts";
import type { OpenStore } from "../../src/store/seam.ts";
import { madeAlice, madeIdentity } from "./made-identity.ts";

describe("the audit log", () => {
  it("lists acts with time, user and source, newest first", async (t) => {
    const { identity, clock, tenantId, userId } = await madeAlice(t);
    const detail = { command: "user add", admin: true, clear: ["logo"] };
    await identity.audit.record({ act: "admin", tenantId, userId, source: "command", operator: "local", detail });
    clock.nowMs += 5;
    await identity.audit.record({ act: "revocation", tenantId, clientId: "bwc_1", source: "192.0.2.9" });
    assert.deepEqual(await identity.audit.list({ limit: 10 }), [
      {
        timeMs: clock.nowMs,
        act: "revocation",
        tenantId,
        userId: null,
        clientId: "bwc_1",
        source: "192.0.2.9",
        operator: null,
        detail: {},
        id: 2,
      },
      {
        timeMs: clock.nowMs - 5,
        act: "admin",
        tenantId,
        userId,
        clientId: null,
        source: "command",
        operator: "local",
        detail,
        id: 1,
      },
    ]);
    assert.equal((await identity.audit.list({ limit: 1 })).length, 1);
  });

  it("can be filtered by tenant", async (t) => {
    const { identity, tenantId } = await madeAlice(t);
    const other = await identity.addTenant({ name: "Other" });
    await identity.audit.record({ act: "grant", tenantId: other.tenantId, source: "192.0.2.9" });
    await identity.audit.record({ act: "sign_in_failed", source: "192.0.2.9" });
    await identity.audit.record({ act: "declined", tenantId, source: "192.0.2.9" });
    const acts = (await identity.audit.list({ tenantIds: [tenantId], limit: 10 })).map(({ act }) => act);
    assert.deepEqual(acts, ["declined"]);
  });

  it("is listed with as many reads as it takes", async () => {
    const row = { timeMs: 1, act: "grant", detail: "{}" };
    const reads: unknown[] = [];
    const page = async (filter: { readonly beforeId?: number; readonly limit: number }) => {
      reads.push([filter.beforeId, filter.limit]);
      const id = filter.beforeId ?? 9;
      return { rows: id === 6 ? [] : [{ ...row, id: id - 1 }], nextBeforeId: id > 3 ? id - 3 : undefined };
    };
    const store = { read: (work: (tx: unknown) => unknown) => work({ audit: { page } }) };
    const audit = auditOn(store as unknown as OpenStore, undefined as never);
    const ids = async (limit: number) => (await audit.list({ act: "grant", limit })).map(({ id }) => id);
    assert.deepEqual(await ids(5), [8, 2]);
    assert.deepEqual(reads.splice(0), [
      [undefined, 5],
      [6, 4],
      [3, 4],
    ]);
    assert.deepEqual(await ids(1), [8]);
    assert.equal(reads.length, 1);
  });

  it("is written in the transaction of the act", async (t) => {
    const { identity, store } = await madeIdentity(t);
    const failed = store.transaction(async (tx) => {
      await tx.audit.add(auditEntry({ act: "grant", source: "192.0.2.9" }));
      throw new Error("the grant failed");
    });
    await assert.rejects(failed, /the grant failed/);
    assert.deepEqual(await identity.audit.list({ limit: 10 }), []);
  });

  it("shows the first 100 failures of a source one by one, and then every hundredth", async (t) => {
    const argon2 = { hash: async () => "hash", verify: async () => false };
    const { identity, login } = await madeAlice(t, { passwords: { argon2 } });
    const fail = (name: string, source: string) => assert.rejects(login({ name, source }), InvalidLogin);
    for (let failure = 0; failure < 320; failure++) await fail(`guess ${failure}`, "192.0.2.66");
    await fail("alice", "192.0.2.1");
    const failed = (await identity.audit.list({ limit: 1_000 })).filter(({ act }) => act === "sign_in_failed");
    const counted = failed.flatMap(({ detail }) =>
      detail.failuresOfSource === undefined ? [] : detail.failuresOfSource,
    );
    assert.deepEqual(counted, [300, 200]);
    assert.equal(failed.filter(({ source }) => source === "192.0.2.66").length, 102);
    assert.equal(failed[0]?.source, "192.0.2.1", "another source is written down as ever");
  });

  it("keeps an entry for a year", async (t) => {
    const { identity, clock } = await madeIdentity(t);
    await identity.audit.record({ act: "grant", source: "old" });
    clock.nowMs += 1;
    await identity.audit.record({ act: "grant", source: "young" });
    clock.nowMs += auditKeptMs - 1;
    assert.equal(await identity.sweep(), 0);
    clock.nowMs += 1;
    assert.equal(await identity.sweep(), 1);
    assert.deepEqual(
      (await identity.audit.list({ limit: 10 })).map(({ source }) => source),
      ["young"],
    );
  });
});

describe("a sign-in", () => {
  it("is audited with the tenant, the user, the client and the source", async (t) => {
    const { identity, login, tenantId, userId } = await madeAlice(t);
    await login();
    const attempt = { tenantId: "7", name: "alice", password: "correct horse", source: "192.0.2.2", clientId: "bwc_1" };
    await identity.signIn(attempt, async () => "in");
    const entries = (await identity.audit.list({ limit: 10 })).map(({ id: _id, timeMs: _, ...entry }) => entry);
    const signIn = { act: "sign_in", tenantId, userId, operator: null, detail: {} };
    assert.deepEqual(entries, [
      { ...signIn, clientId: "bwc_1", source: "192.0.2.2" },
      { ...signIn, clientId: null, source: "192.0.2.1" },
    ]);
  });

  it("that fails is audited without any text that was typed", async (t) => {
    const { identity, login, tenantId, userId, store } = await madeAlice(t);
    const typed = ["wrong password", "hunter2 in the name field", "4711"];
    await assert.rejects(login({ password: typed[0]! }), InvalidLogin);
    await assert.rejects(login({ name: typed[1]! }), InvalidLogin);
    await assert.rejects(login({ appId: typed[2]! }), InvalidLogin);
    await assert.rejects(login({ appId: "seven" }), InvalidLogin);
    const entries = await identity.audit.list({ limit: 10 });
    assert.deepEqual(
      entries.map((entry) => [entry.act, entry.tenantId, entry.userId, entry.source]),
      [
        ["sign_in_failed", null, null, "192.0.2.1"],
        ["sign_in_failed", null, null, "192.0.2.1"],
        ["sign_in_failed", tenantId, null, "192.0.2.1"],
        ["sign_in_failed", tenantId, userId, "192.0.2.1"],
      ],
    );
    const rows = JSON.stringify(await store.read((tx) => tx.audit.page({ limit: 10 })));
    for (const text of typed) assert.ok(!rows.includes(text), text);
  });

  it("leaves nothing when the transaction fails after the right password", async (t) => {
    const { identity } = await madeAlice(t);
    const attempt = { tenantId: "7", name: "alice", password: "correct horse", source: "192.0.2.1" };
    const broken = identity.signIn(attempt, async () => {
      throw new Error("the door is broken");
    });
    await assert.rejects(broken, /the door is broken/);
    assert.deepEqual(await identity.audit.list({ limit: 10 }), []);
  });

  it("that fails still fails when it can't be audited, and that is logged", async (t) => {
    const { store } = await madeAlice(t);
    const sentences: string[] = [];
    const full: OpenStore = {
      isShared: store.isShared,
      nodeBus: store.nodeBus,
      read: (body) => store.read(body),
      transaction: () => Promise.reject(new StoreUnavailable("The disk is full.")),
      health: () => store.health(),
      size: () => store.size(),
      pools: () => store.pools(),
      close: () => store.close(),
    };
    const identity = identityOn({
      store: full,
      elapsedMs: () => 0,
      report: { debug() {}, info() {}, error() {}, warn: (_, sentence) => void sentences.push(sentence) },
      grantsEnded: () => undefined,
      devicesRemoved: () => undefined,
      suspended: () => undefined,
    });
    const attempt = { name: "alice", password: "wrong password", appId: "7", source: "192.0.2.1" };
    await assert.rejects(identity.login(attempt), InvalidLogin);
    await assert.rejects(identity.login({ ...attempt, password: "correct horse" }), StoreUnavailable);
    assert.deepEqual(sentences, ["an entry of the audit log could not be written"]);
  });
});
