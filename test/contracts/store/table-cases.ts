import assert from "node:assert/strict";
import { it } from "node:test";
import type { OwnerId, TenantId, UserId } from "../../../src/model/ids.ts";
import { type AuditFilter, examinedAtOnce } from "../../../src/store/tables/audit.ts";
import { logStart } from "../../../src/store/tables/log-position.ts";
import { onStore, type StoreHarness } from "./harness.ts";
import { makeHome, node, plain } from "./home.ts";
import { addMessages, makeTenant, makeWebhook } from "./made-webhook.ts";

export function tableCases(harness: StoreHarness): void {
  it("store tenants, and refuse a name or an id that is taken", () =>
    onStore(harness, async (store) => {
      const ids = await store.transaction(async (tx) => [
        await tx.tenants.add({ name: "first" }),
        await tx.tenants.add({ name: "chosen", id: 700 as TenantId }),
        await tx.tenants.add({ name: "after the chosen one" }),
        await tx.tenants.add({ name: "first" }),
        await tx.tenants.add({ name: "other name", id: 700 as TenantId }),
      ]);
      assert.deepEqual(ids, [1, 700, 701, undefined, undefined]);
      await store.read(async (tx) => {
        const list = await tx.tenants.list();
        assert.deepEqual(
          list.map(({ name }) => name),
          ["first", "chosen", "after the chosen one"],
        );
        assert.ok(list.every(({ createdMs }) => Number.isSafeInteger(createdMs) && createdMs > 0));
        assert.deepEqual(await tx.tenants.byId(700 as TenantId), list[1]);
        assert.deepEqual(await tx.tenants.byName("first"), list[0]);
        assert.equal(await tx.tenants.byName("First"), undefined);
        assert.equal(await tx.tenants.byId(2 as TenantId), undefined);
      });
    }));

  it("generate different ids for tenants that are added at the same time", () =>
    onStore(harness, async (store) => {
      const names = Array.from({ length: 16 }, (_, i) => `tenant ${i}`);
      const ids = await Promise.all(names.map((name) => store.transaction((tx) => tx.tenants.add({ name }))));
      assert.equal(new Set(ids.filter((id) => id !== undefined)).size, names.length);
    }));

  it("store users, with unique names in each tenant", () =>
    onStore(harness, async (store) => {
      const { tenantId, userId } = await makeHome(store, { name: "Ada" });
      const other = await store.transaction((tx) => tx.tenants.add({ name: "elsewhere" }));
      const user = { name: "Ada", passwordHash: "hash", isAdmin: true };
      const [again, elsewhere] = await store.transaction(async (tx) => [
        await tx.users.add({ ...user, tenantId }),
        await tx.users.add({ ...user, tenantId: other! }),
      ]);
      assert.equal(again, undefined);
      await store.transaction((tx) => tx.users.setPasswordHash(userId, "new hash"));
      await store.read(async (tx) => {
        const ada = await tx.users.byId(userId);
        assert.deepEqual(await tx.users.byName(tenantId, "Ada"), ada);
        assert.deepEqual(
          { ...ada, createdMs: 0 },
          { ...user, id: userId, tenantId, passwordHash: "new hash", isAdmin: false, createdMs: 0, suspendedMs: null },
        );
        assert.equal((await tx.users.byId(elsewhere!))?.isAdmin, true);
        assert.equal(await tx.users.byName(tenantId, "Bob"), undefined);
      });
      const racing = await Promise.all(
        Array.from({ length: 8 }, () => store.transaction((tx) => tx.users.add({ ...user, tenantId, name: "Bob" }))),
      );
      assert.equal(racing.filter((id) => id !== undefined).length, 1);
      await store.transaction(async (tx) => {
        assert.ok((await tx.users.lock(userId))! > 1_600_000_000_000);
        assert.equal(await tx.users.lock(9_999 as UserId), undefined);
      });
    }));

  it("find a user for themselves and their tenant only", () =>
    onStore(harness, async (store) => {
      const [ada, bob] = [await makeHome(store, { name: "Ada" }), await makeHome(store, { name: "Bob" })];
      const [other, carol] = await store.transaction(async (tx) => {
        const tenantId = (await tx.tenants.add({ name: "elsewhere" }))!;
        return [
          tenantId,
          (await tx.users.add({ tenantId, name: "Carol", passwordHash: "…", isAdmin: true }))!,
        ] as const;
      });
      const user = (userId: UserId) => ({ kind: "user", userId }) as const;
      const tenant = (tenantId: TenantId) => ({ kind: "enterprise", tenantId }) as const;
      await store.read(async (tx) => {
        assert.deepEqual(await tx.users.idsWithin(user(ada.userId), 0, 9), [ada.userId]);
        assert.deepEqual(await tx.users.idsWithin(tenant(ada.tenantId), 0, 9), [ada.userId, bob.userId]);
        assert.deepEqual(await tx.users.idsWithin(tenant(ada.tenantId), 0, 1), [ada.userId]);
        assert.deepEqual(await tx.users.idsWithin(tenant(ada.tenantId), ada.userId, 9), [bob.userId]);
        assert.deepEqual(await tx.users.idsWithin(tenant(other), 0, 9), [carol]);
        assert.deepEqual(await tx.users.idsWithin(user(999 as UserId), 0, 9), []);
        assert.deepEqual(await tx.users.idsWithin(tenant(999 as TenantId), 0, 9), []);
        for (const id of [ada.userId, bob.userId, carol]) {
          const row = await tx.users.byId(id);
          for (const one of [ada.userId, bob.userId, carol]) {
            assert.deepEqual(await tx.users.within(user(one), id), one === id ? row : undefined);
          }
          assert.deepEqual(await tx.users.within(tenant(ada.tenantId), id), id === carol ? undefined : row);
          assert.deepEqual(await tx.users.within(tenant(other), id), id === carol ? row : undefined);
        }
      });
    }));

  it("store a tenant's brand and terms, each part on its own", () =>
    onStore(harness, async (store) => {
      const { tenantId } = await makeHome(store);
      const brand = async () => plain(await store.read((tx) => tx.tenants.brand(tenantId)));
      const noTerms = { terms: null, termsVersion: null, termsMs: null, requiredTermsMs: null, termsDeadlineMs: null };
      const none = { accent: null, supportUrl: null, hasLogo: false, ...noTerms };
      assert.deepEqual(await brand(), { tenantName: "home", ...none });
      await store.transaction(async (tx) => {
        await tx.tenants.setBrand(tenantId, { accent: "#0b6470", logo: "image/png;base64,AAAA" });
        await tx.tenants.setBrand(tenantId, { supportUrl: "https://help.example/" });
        await tx.tenants.setTerms(tenantId, { text: "Be kind.", version: "3" });
        await tx.tenants.add({ name: "another" });
      });
      const chosen = await brand();
      assert.ok(Number.isSafeInteger(chosen?.termsMs) && chosen!.termsMs! > 0);
      assert.deepEqual(
        { ...chosen, termsMs: 0 },
        {
          tenantName: "home",
          accent: "#0b6470",
          supportUrl: "https://help.example/",
          hasLogo: true,
          terms: "Be kind.",
          termsVersion: "3",
          termsMs: 0,
          requiredTermsMs: null,
          termsDeadlineMs: null,
        },
      );
      const required = () => store.read((tx) => tx.tenants.termsRequirement(tenantId));
      await store.transaction((tx) => tx.tenants.requireTerms(tenantId, true, 1_900_000_000_000));
      const requirement = { requiredTermsMs: chosen!.termsMs, termsDeadlineMs: 1_900_000_000_000 };
      assert.deepEqual({ ...(await required()) }, requirement);
      await store.transaction((tx) => tx.tenants.setTerms(tenantId, { text: "Be kinder.", version: "4" }));
      assert.deepEqual({ ...(await required()) }, requirement, "a later version keeps it");
      await store.transaction((tx) => tx.tenants.requireTerms(tenantId, false, null));
      assert.deepEqual({ ...(await required()) }, { requiredTermsMs: null, termsDeadlineMs: null });
      await store.transaction((tx) => tx.tenants.requireTerms(tenantId, true, 1));
      assert.equal(await store.read((tx) => tx.tenants.logo(tenantId)), "image/png;base64,AAAA");
      await store.transaction(async (tx) => {
        await tx.tenants.setBrand(tenantId, { accent: null, logo: null });
        await tx.tenants.setTerms(tenantId, null);
      });
      assert.deepEqual(await brand(), { tenantName: "home", ...none, supportUrl: "https://help.example/" });
      assert.equal(await store.read((tx) => tx.tenants.logo(tenantId)), undefined);
      assert.equal(await store.read((tx) => tx.tenants.brand(9_999 as TenantId)), undefined);
    }));

  it("list users of one tenant or of all, and remove one", () =>
    onStore(harness, async (store) => {
      const { tenantId, userId } = await makeHome(store, { devices: 0 });
      const user = { name: "Bob", passwordHash: "hash", isAdmin: true };
      const elsewhere = await store.transaction((tx) => tx.tenants.add({ name: "elsewhere" }));
      const bob = await store.transaction((tx) => tx.users.add({ ...user, tenantId: elsewhere! }));
      const listed = async (of?: TenantId) =>
        (await store.read((tx) => tx.users.list(of))).map(({ id, name, isAdmin }) => [id, name, isAdmin]);
      assert.deepEqual(await listed(), [
        [userId, "Ada", false],
        [bob, "Bob", true],
      ]);
      assert.deepEqual(await listed(tenantId), [[userId, "Ada", false]]);
      await store.transaction((tx) => tx.users.remove(bob!));
      assert.deepEqual(await listed(elsewhere), []);
      assert.equal(await store.transaction((tx) => tx.users.lock(bob!)), undefined);
      assert.ok(
        (await store.transaction((tx) => tx.users.add({ ...user, tenantId })))! > bob!,
        "an id was given twice",
      );
    }));

  it("remove all data of a user and nothing of others; revocations stay, without the user", () =>
    onStore(harness, async (store) => {
      const [ada, bob] = [await makeHome(store, { devices: 2 }), await makeHome(store, { name: "Bob" })];
      await store.transaction(async (tx) => {
        for (const { userId, devices } of [ada, bob]) {
          for (const device of devices) {
            await tx.attributes.write(userId, device, 1, [{ key: "power", value: "on" }]);
            await tx.blindIntervals.add(userId, device, { fromMs: 1, toMs: 2, cause: "closed" });
            await tx.log.append({ userId, deviceId: device, kind: "attribute", timeMs: 1, body: "{}" });
          }
        }
        await tx.log.append({
          userId: ada.userId,
          deviceId: null,
          kind: "revocation",
          timeMs: 1,
          body: '{"grant":"g"}',
        });
      });
      assert.equal(await store.read((tx) => tx.webhooks.isAny()), false);
      const webhook = await makeWebhook(store, { id: await makeTenant(store, "hearing"), name: "hearing" }, "wh_1");
      assert.equal(await store.read((tx) => tx.webhooks.isAny()), true);
      for (const { userId, devices } of [ada, bob]) await addMessages(store, webhook, devices, { userId });
      const { userId } = ada;
      await store.transaction(async (tx) => {
        assert.equal(await tx.attributes.removeOfUser(userId), 2);
        assert.equal(await tx.blindIntervals.removeOfUser(userId), 2);
        assert.equal(await tx.webhooks.removeOfUser(userId), 0);
        assert.equal(await tx.log.removeOfUser(userId), 2);
        assert.deepEqual(await tx.devices.removeOfUser(userId), ada.devices);
        await tx.users.remove(userId);
      });
      await store.read(async (tx) => {
        assert.deepEqual(await tx.devices.ofUser(userId), []);
        assert.equal((await tx.attributes.all(bob.userId, bob.devices[0]!)).length, 1);
        assert.equal((await tx.blindIntervals.ofDevice(bob.userId, bob.devices[0]!)).length, 1);
        const messages = await tx.deliveries.ofWebhook(webhook, 10);
        assert.deepEqual(
          messages.map((message) => message.userId),
          [bob.userId],
        );
        const left = (await tx.log.tail(logStart, 10)).map((entry) => [entry.userId, entry.kind]);
        assert.deepEqual(left, [
          [bob.userId, "attribute"],
          [null, "revocation"],
        ]);
      });
    }));

  it("store an audit log, list it newest first, and remove old entries", () =>
    onStore(harness, async (store, database) => {
      const { tenantId, userId } = await makeHome(store);
      const entry = { tenantId, userId, clientId: "bwc_1", source: "192.0.2.1", operator: "ada", detail: "{}" };
      const nobodys = { tenantId: null, userId: null, clientId: null, operator: null };
      await store.transaction(async (tx) => {
        await tx.audit.add({ ...entry, act: "first" });
        await tx.audit.add({ ...entry, ...nobodys, act: "second" });
      });
      await database.jumpClock(60_000);
      await store.transaction((tx) => tx.audit.add({ ...entry, act: "third" }));
      const acts = async (filter: AuditFilter) =>
        (await store.read((tx) => tx.audit.page(filter))).rows.map(({ act }) => act);
      assert.deepEqual(await acts({ limit: 10 }), ["third", "second", "first"]);
      assert.deepEqual(await acts({ limit: 2 }), ["third", "second"]);
      assert.deepEqual(await acts({ limit: 10, tenantIds: [tenantId] }), ["third", "first"]);
      assert.deepEqual(await acts({ limit: 10, tenantIds: [] }), []);
      assert.deepEqual(await acts({ limit: 10, act: "first", operator: "ada", userId, clientId: "bwc_1" }), ["first"]);
      assert.deepEqual(await acts({ limit: 10, act: "first", operator: "bob" }), []);
      const { rows: newest, nextBeforeId } = await store.read((tx) => tx.audit.page({ limit: 1 }));
      assert.deepEqual(await acts({ limit: 10, beforeId: nextBeforeId }), ["second", "first"]);
      assert.equal(nextBeforeId, newest[0]!.id);
      const all = await store.read((tx) => tx.audit.page({ limit: 3 }));
      assert.equal(all.nextBeforeId, undefined);
      const [third, second, first] = all.rows;
      assert.deepEqual({ ...third, id: 0, timeMs: 0 }, { ...entry, id: 0, timeMs: 0, act: "third" });
      assert.deepEqual([second!.tenantId, second!.userId, second!.clientId], [null, null, null]);
      assert.equal(await store.transaction((tx) => tx.audit.removeBefore(first!.timeMs)), 0);
      assert.equal(await store.transaction((tx) => tx.audit.removeBefore(third!.timeMs)), 2);
      assert.deepEqual(await acts({ limit: 10 }), ["third"]);
      assert.equal(await store.transaction((tx) => tx.audit.removeBefore(third!.timeMs + 1)), 1);
      assert.equal(await store.transaction((tx) => tx.audit.removeBefore(third!.timeMs + 1)), 0);
    }));

  it("remove old entries of the audit log also behind one that was added while the clock was ahead", () =>
    onStore(harness, async (store, database) => {
      const entry = { tenantId: null, userId: null, clientId: null, source: "command", operator: null, detail: "{}" };
      const add = (act: string) => store.transaction((tx) => tx.audit.add({ ...entry, act }));
      const page = () => store.read((tx) => tx.audit.page({ limit: 10 }));
      await database.jumpClock(3_600_000);
      await add("ahead");
      await database.jumpClock(-3_600_000);
      await add("old");
      await database.jumpClock(60_000);
      await add("new");
      const { timeMs } = (await page()).rows[0]!;
      assert.equal(await store.transaction((tx) => tx.audit.removeBefore(timeMs)), 1);
      assert.deepEqual(
        (await page()).rows.map(({ act }) => act),
        ["new", "ahead"],
      );
    }));

  it("examine a bounded number of entries of the audit log in one read", () =>
    onStore(harness, async (store, database) => {
      const { tenantId, userId } = await makeHome(store);
      const entry = { tenantId, userId, clientId: "bwc_1", source: "192.0.2.1", operator: null, detail: "{}" };
      const add = (act: string) => store.transaction((tx) => tx.audit.add({ ...entry, act }));
      await add("rare");
      await add("oldest that is examined");
      await database.sql(
        `WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ${examinedAtOnce})
         INSERT INTO audit (owner_id, tenant_id, time_ms, act, source, detail)
         SELECT ${userId}, ${tenantId}, 1, 'common', 'command', '{}' FROM n`,
      );
      const page = (filter: Omit<AuditFilter, "limit">) => store.read((tx) => tx.audit.page({ ...filter, limit: 2 }));
      for (const whose of [{}, { userId }, { tenantIds: [tenantId] }, { tenantIds: [tenantId, 77 as TenantId] }]) {
        const first = await page({ ...whose, act: "rare" });
        assert.deepEqual(first.rows, [], "it is older than the entries that were examined");
        const second = await page({ ...whose, act: "rare", beforeId: first.nextBeforeId });
        assert.deepEqual(
          [second.rows.map(({ act }) => act), second.nextBeforeId],
          [["rare"], undefined],
          JSON.stringify(whose),
        );
        const common = await page({ ...whose, act: "common" });
        assert.deepEqual([common.rows.length, common.nextBeforeId], [2, common.rows[1]!.id]);
        const last = await page({ ...whose, act: "oldest that is examined" });
        assert.equal(last.rows.length, 1);
      }
      const ofClient = await page({ clientId: "bwc_1", act: "rare" });
      assert.deepEqual([ofClient.rows.length, ofClient.nextBeforeId], [1, undefined], "entries of others do not count");
    }));

  it("store secTokens by their hash", () =>
    onStore(harness, async (store) => {
      const { userId } = await makeHome(store);
      const key = (hash: string, ownerId: OwnerId = userId) => ({ ownerId, hash });
      await store.transaction(async (tx) => {
        for (const hash of ["a", "b", "c", "d"]) await tx.secTokens.add({ userId, hash }, 1_000);
        const row = (await tx.secTokens.find(key("a")))!;
        await tx.secTokens.renew(row, 5_000);
        await tx.secTokens.renew(row, 2_000);
      });
      assert.deepEqual(plain(await store.read((tx) => tx.secTokens.find(key("a")))), {
        userId,
        hash: "a",
        issuedMs: 1_000,
        usedMs: 5_000,
      });
      await assert.rejects(store.transaction((tx) => tx.secTokens.add({ userId, hash: "a" }, 9_000)));
      await store.transaction(async (tx) => {
        assert.equal(await tx.secTokens.remove(key("b", (userId + 1) as OwnerId)), false);
        assert.equal(await tx.secTokens.remove(key("b")), true);
        assert.equal(await tx.secTokens.remove(key("b")), false);
        assert.equal(await tx.secTokens.removeUnusedSince(4_000, 1_000), 2);
        assert.ok(await tx.secTokens.find(key("a")));
        assert.equal(await tx.secTokens.find(key("a", (userId + 1) as OwnerId)), undefined);
        await tx.secTokens.removeOfUser(userId);
        assert.equal(await tx.secTokens.find(key("a")), undefined);
      });
    }));

  it("list nodes with a heartbeat within the lease, by the store's clock", () =>
    onStore(harness, async (store, database) => {
      await store.transaction((tx) => tx.nodes.beat(node("early")));
      await database.jumpClock(10_000);
      await store.transaction((tx) => tx.nodes.beat(node("late"), ["new", "old"]));
      assert.deepEqual(await store.read((tx) => tx.nodes.alive(6_000)), ["late"]);
      const keys = await store.read((tx) => tx.nodes.keys());
      assert.deepEqual(
        keys.map(({ id, keyIds, silentMs }) => [id, keyIds, silentMs >= 10_000]),
        [
          ["early", undefined, true],
          ["late", ["new", "old"], false],
        ],
      );
      assert.deepEqual(await store.read((tx) => tx.nodes.alive(60_000)), ["early", "late"]);
      // A clock that was set back must not keep a dead node alive until it is right again.
      await database.jumpClock(-3_600_000);
      assert.deepEqual(await store.read((tx) => tx.nodes.alive(60_000)), []);
      assert.deepEqual(await store.read((tx) => tx.nodes.alive(Number.POSITIVE_INFINITY)), ["early", "late"]);
      const shown = await store.read(async (tx) => [...(await tx.nodes.list()), ...(await tx.nodes.keys())]);
      assert.ok(shown.length === 4 && shown.every(({ silentMs }) => silentMs > 3_000_000), JSON.stringify(shown));
      await store.transaction((tx) => tx.nodes.beat(node("back")));
      assert.equal(await store.transaction((tx) => tx.nodes.forget(3_595_000)), 1, "early was 10 s behind late");
      assert.deepEqual(await store.read((tx) => tx.nodes.alive(Number.POSITIVE_INFINITY)), ["back", "early"]);
      await store.transaction((tx) => tx.nodes.leave(node("back")));
      await database.jumpClock(3_600_000);
      await store.transaction((tx) => tx.nodes.beat(node("late")));
      assert.equal(await store.transaction((tx) => tx.nodes.forget(6_000)), 1);
      await store.transaction((tx) => tx.nodes.leave(node("late")));
      assert.deepEqual(await store.read((tx) => tx.nodes.alive(60_000)), []);
    }));

  it("keep the first value of a setting", () =>
    onStore(harness, async (store) => {
      const racing = Array.from({ length: 8 }, (_, i) =>
        store.transaction((tx) => tx.settings.getOrKeep("key", `${i}`)),
      );
      const answers = new Set(await Promise.all(racing));
      assert.equal(answers.size, 1);
      assert.equal(await store.transaction((tx) => tx.settings.getOrKeep("key", "late")), [...answers][0]);
      assert.equal(await store.read((tx) => tx.settings.get("absent")), undefined);
    }));

  it("let one transaction at a time change a setting that they lock", () =>
    onStore(harness, async (store) => {
      const add = (i: number) =>
        store.transaction(async (tx) => {
          const list: number[] = JSON.parse(await tx.settings.lock("list", "[]"));
          await tx.settings.set("list", JSON.stringify([...list, i]));
        });
      await Promise.all(Array.from({ length: 8 }, (_, i) => add(i)));
      const list: number[] = JSON.parse((await store.read((tx) => tx.settings.get("list")))!);
      assert.deepEqual(list.sort(), [0, 1, 2, 3, 4, 5, 6, 7]);
    }));

  it("never reuse an id, even after its row was removed", () =>
    onStore(harness, async (store, database) => {
      const ada = await makeHome(store, { name: "Ada" });
      await database.sql("DELETE FROM devices");
      await database.sql("DELETE FROM users");
      const bob = await makeHome(store, { name: "Bob" });
      assert.ok(bob.userId > ada.userId && bob.devices[0]! > ada.devices[0]!);
    }));
}
