import assert from "node:assert/strict";
import { it } from "node:test";
import type { NodeId, TenantId } from "../../../src/model/ids.ts";
import { grantOf } from "./assistant-table-cases.ts";
import { onStore, type StoreHarness } from "./harness.ts";
import { linkOf, makeHome } from "./home.ts";
import { addMessages, makeTenant, makeWebhook } from "./made-webhook.ts";

const hour = 3_600_000;

/** What operators read on the overview. */
export function figureCases(harness: StoreHarness): void {
  it("count acts of the audit log by hour, of some tenants or of all, and the newest of them alone", () =>
    onStore(harness, async (store) => {
      const acme = await makeTenant(store, "Acme");
      const other = await makeTenant(store, "Other");
      const nowMs = await store.transaction(async (tx) => {
        const entry = { userId: null, clientId: null, source: "command", operator: null, detail: "{}" };
        for (const act of ["sign_in", "sign_in", "admin"]) await tx.audit.add({ ...entry, tenantId: acme, act });
        await tx.audit.add({ ...entry, tenantId: other, act: "sign_in" });
        return tx.clock.nowMs();
      });
      const hours = async (...given: Parameters<Parameters<Parameters<typeof store.read>[0]>[0]["audit"]["hours"]>) =>
        (await store.read((tx) => tx.audit.hours(...given)))
          .map(({ hour: at, act, count }) => `${at} ${act} ${count}`)
          .sort();
      assert.deepEqual(await hours(nowMs - 2.5 * hour, undefined, 100), ["2 admin 1", "2 sign_in 3"]);
      assert.deepEqual(await hours(nowMs - 2.5 * hour, [acme], 100), ["2 admin 1", "2 sign_in 2"]);
      assert.deepEqual(await hours(nowMs - 0.5 * hour, undefined, 1), ["0 sign_in 1"]);
      assert.deepEqual(await hours(nowMs - hour, [], 100), []);
      assert.deepEqual(await hours(nowMs + hour, undefined, 100), []);
    }));

  it("count deliveries by hour, and find webhooks that fail or are paused", () =>
    onStore(harness, async (store) => {
      const acme = { id: await makeTenant(store, "Acme"), name: "Acme" };
      const other = { id: await makeTenant(store, "Other"), name: "Other" };
      const [failing, paused, retried, well] = await Promise.all([
        makeWebhook(store, acme, "wh_a"),
        makeWebhook(store, acme, "wh_b"),
        makeWebhook(store, other, "wh_c"),
        makeWebhook(store, other, "wh_d"),
      ]);
      for (const webhook of [failing, retried, well]) await addMessages(store, webhook, [1]);
      const nowMs = await store.transaction(async (tx) => {
        const now = await tx.clock.nowMs();
        const headOf = async (key: typeof failing) => (await tx.deliveries.listed(key, { limit: 1 }))[0]!;
        const attempt = { status: 500, text: "answered 500" };
        await tx.deliveries.settle(await headOf(failing), "failed", now, attempt);
        await tx.deliveries.settle(await headOf(well), "delivered", now, { status: 200, text: null });
        for (let times = 0; times < 3; times++) await tx.deliveries.claim(await headOf(retried), now + times);
        await tx.webhooks.setPaused(paused, now);
        return now;
      });
      const listed = (only: "paused" | "failing", tenantIds?: readonly TenantId[]) =>
        store.read(async (tx) =>
          (await tx.webhooks.listed({ only, tenantIds, afterId: "", limit: 10 })).map(({ id }) => id),
        );
      assert.deepEqual(await listed("failing"), ["wh_a", "wh_c"]);
      assert.deepEqual(await listed("failing", [acme.id]), ["wh_a"]);
      assert.deepEqual(await listed("paused"), ["wh_b"]);
      const ofClient = async (clientId: string) =>
        (await store.read((tx) => tx.webhooks.listed({ clientId, afterId: "", limit: 10 }))).map(({ id }) => id);
      assert.deepEqual(await ofClient("client of Acme"), ["wh_a", "wh_b"]);
      assert.deepEqual(await ofClient("another"), []);
      await store.transaction((tx) => tx.webhooks.setPaused(failing, nowMs));
      assert.deepEqual(await listed("failing"), ["wh_c"], "what is paused is not failing");
      const hours = async (tenantIds?: readonly TenantId[]) =>
        (await store.read((tx) => tx.deliveries.hours(nowMs - 1.5 * hour, tenantIds, 100)))
          .map(({ hour: at, state, count }) => `${at} ${state} ${count}`)
          .sort();
      assert.deepEqual(await hours(), ["1 delivered 1", "1 failed 1"]);
      assert.deepEqual(await hours([other.id]), ["1 delivered 1"]);
      const failure = (attempt: number, hoursAgo: number) => {
        return { attempt, timeMs: nowMs - hoursAgo * hour, tookMs: 9, status: 500, text: "answered 500" };
      };
      await store.transaction(async (tx) => {
        const [waiting] = await tx.deliveries.listed(retried, { limit: 1 });
        const tries = [failure(1, 2), failure(2, 1), failure(3, 0)];
        const history = { isResend: false, tries };
        await tx.deliveries.postpone(waiting!, nowMs + hour, { status: 500, text: "answered 500", history });
        await tx.deliveries.claim({ ...waiting!, nextMs: nowMs + hour }, nowMs + 2 * hour);
        const [arrived] = await tx.deliveries.listed(well, { limit: 1 });
        const last = { ...failure(2, 0), status: 200, text: null };
        const recovered = { isResend: false, tries: [failure(1, 0), last] };
        await tx.deliveries.claim(arrived!, 0);
        await tx.deliveries.settle({ ...arrived! }, "delivered", nowMs, { ...last, history: recovered });
      });
      assert.deepEqual(await hours([other.id]), ["0 failed 1", "1 delivered 1", "1 failed 1"], "one was before");
    }));

  it("name outlets with users whose reports fail, and hold reports of a suspended user", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const key = await grantOf(store, home);
      const failing = () => store.read((tx) => tx.assistantGrants.failing());
      assert.deepEqual(await failing(), []);
      const nowMs = await store.transaction(async (tx) => {
        const now = await tx.clock.nowMs();
        await tx.assistantGrants.wakeAt(key, now);
        const claimed = (await tx.assistantGrants.claim(key, now, now + 1_000))!;
        const after = { retryMs: now, attempts: 1, problem: "refused", reportedMs: null, staleDevices: [] };
        await tx.assistantGrants.release(claimed, after);
        await tx.users.setSuspended(home.userId, now);
        return now;
      });
      const [found, ...others] = await failing();
      assert.deepEqual([found?.outletId, Number(found?.users), found?.problem], [key.outletId, 1, "refused"]);
      assert.deepEqual(others, []);
      await store.transaction(async (tx) => {
        assert.equal(await tx.assistantGrants.claim(key, nowMs, nowMs + 1_000), undefined);
        assert.ok((await tx.assistantGrants.find(key))!.dueMs! > nowMs + 60_000, "it is looked at again later");
        await tx.users.setSuspended(home.userId, null);
        await tx.assistantGrants.wakeOfClient("client", nowMs);
        const claimed = await tx.assistantGrants.claim(key, nowMs, nowMs + 1_000);
        assert.ok(claimed && (await tx.assistantGrants.holds(claimed)));
        await tx.clients.setSuspended("client", nowMs);
        assert.equal(await tx.assistantGrants.holds(claimed), false, "nothing more is told");
      });
    }));

  it("list nodes with their heartbeats, schema and links", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      await store.transaction(async (tx) => {
        await tx.nodes.beat("n1" as NodeId);
        await tx.nodes.beat("n2" as NodeId);
        await tx.links.add(linkOf(home, "n2" as NodeId));
      });
      const listed = await store.read((tx) => tx.nodes.list());
      assert.deepEqual(
        listed.map(({ id, links }) => [id, links]),
        [
          ["n1", 0],
          ["n2", 1],
        ],
      );
      assert.ok(listed.every(({ silentMs, schemaVersion }) => silentMs < 60_000 && schemaVersion! > 40));
    }));
}
