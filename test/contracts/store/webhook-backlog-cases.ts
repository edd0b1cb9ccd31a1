import assert from "node:assert/strict";
import { it } from "node:test";
import { shownWebhook } from "../../../src/cli/nouns/hook-view.ts";
import { Backlog } from "../../../src/events/webhooks/backlog.ts";
import { addResync, noDevice, tooManyWaiting } from "../../../src/events/webhooks/resync.ts";
import { webhookAdministrationOn } from "../../../src/events/webhooks/webhook-administration.ts";
import { webhooksOn } from "../../../src/events/webhooks/webhooks.ts";
import { type LimitName, limits } from "../../../src/model/limits.ts";
import { OutgoingCalls } from "../../../src/runtime/network/outgoing-calls.ts";
import { deliveryBacklog } from "../../../src/service/delivery-backlog.ts";
import type { OpenStore } from "../../../src/store/seam.ts";
import { claimMs } from "../../../src/store/tables/delivery-bounds.ts";
import type { WebhookKey } from "../../../src/store/tables/webhooks.ts";
import { onStore, type StoreHarness } from "./harness.ts";
import { plain } from "./home.ts";
import { addMessages, makeTenant, makeWebhook, range } from "./made-webhook.ts";

const megabyte = 1_048_576;

export function webhookBacklogCases(harness: StoreHarness): void {
  it("are followed by a resync when some are dropped, also while a message of a test waits", { timeout: 60_000 }, () =>
    onStore(harness, async (store) => {
      const { webhook: key } = await twoWebhooks(store);
      const webhook = (await store.read((tx) => tx.webhooks.byKey(key)))!;
      const administration = webhookAdministrationOn({
        store,
        seal: (secret) => secret,
        addressOf: ({ url }) => url,
        wake: () => undefined,
      });
      await administration.test(webhook);
      const resync = (id: string) =>
        store.transaction((tx) => addResync(tx, webhook, tooManyWaiting(webhook.id, id, 1_000)));
      await resync("first");
      await resync("second");
      assert.deepEqual(
        (await waiting(store, webhook)).map(({ type }) => type),
        ["test", "resync"],
      );
    }),
  );

  it("are late by their age when they are urgent", { timeout: 60_000 }, () =>
    onStore(harness, async (store) => {
      const { webhook } = await twoWebhooks(store);
      const { waiting: none, lagMs: noLagMs } = await deliveryBacklog(store);
      assert.deepEqual([none, noLagMs], [0, 0]);
      await addMessages(store, webhook, [1], { isUrgent: true });
      const urgent = await deliveryBacklog(store);
      assert.equal(urgent.waiting, 1);
      assert.ok(urgent.lagMs < 60_000, `${urgent.lagMs}`);
      await addMessages(store, webhook, [2]);
      assert.ok((await deliveryBacklog(store)).lagMs < 60_000);
    }),
  );

  it("belong to at most 20 webhooks of an owner, also when several are added at once", { timeout: 60_000 }, () =>
    onStore(harness, async (store) => {
      const tenantId = await makeTenant(store, "a");
      let made = 0;
      const webhooks = webhooksOn({
        store,
        seal: (secret) => secret,
        addressOf: ({ url }) => url,
        sealsAddresses: () => false,
        newId: () => `wh_${made++}`,
        wake: () => undefined,
        resolve: async () => [],
        allowsPrivate: true,
        outgoing: new OutgoingCalls({ timers: { after: () => () => undefined } }),
      });
      const owner = { kind: "enterprise", tenantId, clientId: "client of a" } as const;
      const add = () => webhooks.add(owner, { url: "https://a.example/", deviceIds: [], attributes: [] });
      for (let i = 0; i < limits.webhooksPerOwner - 1; i++) await add();
      const outcomes = await Promise.allSettled([add(), add(), add(), add()]);
      assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
      assert.equal((await webhooks.list(owner)).length, limits.webhooksPerOwner);
    }),
  );

  it("do not hide from operators that a webhook fails, however many wait", { timeout: 60_000 }, () =>
    onStore(harness, async (store) => {
      const { webhook } = await twoWebhooks(store);
      const administration = webhookAdministrationOn({
        store,
        seal: (secret) => secret,
        addressOf: ({ url }) => url,
        wake: () => undefined,
      });
      const shown = async () => {
        const [record] = await administration.list({ id: webhook.id, afterId: "", limit: 1 });
        const { state, nextTry, lastTime } = shownWebhook(record!, { tenants: new Map(), clients: new Map() });
        return [state, nextTry, lastTime];
      };
      const none = { status: null, text: "no answer" };
      assert.deepEqual(await shown(), ["unused", null, null]);
      await addMessages(store, webhook, range(2));
      const [delivered, failing] = await waiting(store, webhook);
      await store.transaction((tx) =>
        tx.deliveries.settle(delivered!, "delivered", 1_000, { status: 204, text: null }),
      );
      await addMessages(store, webhook, Array(30).fill(2));
      assert.deepEqual(await shown(), ["working", null, "1970-01-01T00:00:01.000Z"]);
      await store.transaction((tx) => tx.deliveries.postpone(failing!, 60_000, none));
      assert.deepEqual(await shown(), ["retrying", "1970-01-01T00:01:00.000Z", null]);
      const last = { ...failing!, nextMs: 60_000 };
      await store.transaction((tx) => tx.deliveries.settle(last, "failed", 61_000, none));
      assert.deepEqual(await shown(), ["failing", null, "1970-01-01T00:01:01.000Z"]);
    }),
  );

  it("are removed from the oldest on, and the next of each device becomes due", { timeout: 60_000 }, () =>
    onStore(harness, async (store) => {
      const { webhook, others } = await twoWebhooks(store);
      for (let i = 0; i < 4; i++) await addMessages(store, webhook, [1, 2, 3]);
      await addMessages(store, others, [1, 2, 3]);
      const nowMs = await store.read((tx) => tx.clock.nowMs());
      // The oldest of device 1 is in flight.
      const [underWay] = (await waiting(store, webhook)).filter(({ deviceId }) => deviceId === 1);
      await store.transaction((tx) => tx.deliveries.claim(underWay!, nowMs + claimMs));
      const kept = { messages: 5, bytes: megabyte };
      assert.equal(await store.transaction((tx) => tx.deliveries.removeOldest(webhook, kept, nowMs)), 6);
      assert.deepEqual(
        (await waiting(store, webhook)).map(({ deviceId, nextMs }) => [deviceId, nextMs !== null]),
        [
          [1, true],
          [2, true],
          [3, true],
          [1, false],
          [2, false],
          [3, false],
        ],
      );
      assert.equal((await waiting(store, others)).length, 3);
      const left = await store.read((tx) => tx.deliveries.waitingOf(webhook, 100));
      assert.deepEqual(plain(left), { messages: 6, bytes: 12 });
    }),
  );

  it("beyond the limit are replaced by one resync, which is sent first", { timeout: 60_000 }, () =>
    onStore(harness, async (store) => {
      const { webhook } = await twoWebhooks(store);
      const reached: LimitName[] = [];
      const backlog = new Backlog((limit) => reached.push(limit));
      const most = limits.webhookBytesWaiting / megabyte;
      const addOne = async (n: number) => {
        await addMessages(store, webhook, [n], { body: "x".repeat(megabyte) });
        await store.transaction(async (tx) => {
          const row = (await tx.webhooks.byKey(webhook))!;
          await backlog.added(tx, row, { messages: 1, bytes: megabyte }, `${n}`);
        });
      };
      for (const n of range(most)) await addOne(n);
      assert.deepEqual([(await waiting(store, webhook)).length, reached], [most, []]);
      await addOne(most + 1);
      const left = await waiting(store, webhook);
      assert.deepEqual(reached, ["webhookBytesWaiting"]);
      assert.equal(left.length, 0.75 * most + 1);
      const { type, deviceId, nextMs, messageId, body } = left.at(-1)!;
      assert.deepEqual([type, deviceId, nextMs], ["resync", noDevice, 0]);
      assert.equal(messageId, `msg_wh_1_resync_${most + 1}`);
      assert.deepEqual(JSON.parse(body).data, { reason: "too_many_waiting" });
      assert.deepEqual(
        left.slice(0, -1).map((one) => one.deviceId),
        range(0.75 * most, 1 + most - 0.75 * most + 1),
      );

      // Until it is sent, it stands for all removed messages.
      for (const n of range(most, 100)) await addOne(n);
      const resyncs = (await waiting(store, webhook)).filter((one) => one.type === "resync");
      assert.equal(reached.length > 1 ? resyncs.length : 0, 1);
    }),
  );

  it("are kept after they were settled: the newest of each webhook", { timeout: 60_000 }, () =>
    onStore(harness, async (store) => {
      const { webhook, others } = await twoWebhooks(store);
      for (const one of [webhook, others]) {
        await addMessages(store, one, range(10));
        await store.transaction(async (tx) => {
          const rows = (await tx.deliveries.ofWebhook(one, 100)).filter(({ deviceId }) => deviceId > 1);
          for (const row of rows) await tx.deliveries.settle(row, "delivered", 1, { status: 200, text: null });
        });
      }
      assert.equal(await store.transaction((tx) => tx.deliveries.keepSettled(webhook, 4)), 5);
      const left = await store.read((tx) => tx.deliveries.ofWebhook(webhook, 100));
      assert.deepEqual(
        left.map(({ deviceId, state }) => [deviceId, state]),
        [
          ...range(4, 7)
            .toReversed()
            .map((n) => [n, "delivered"]),
          [1, "waiting"],
        ],
      );
      assert.equal((await store.read((tx) => tx.deliveries.ofWebhook(others, 100))).length, 10);
    }),
  );
}

async function twoWebhooks(store: OpenStore) {
  const tenant = { id: await makeTenant(store, "a"), name: "a" };
  return { webhook: await makeWebhook(store, tenant, "wh_1"), others: await makeWebhook(store, tenant, "wh_2") };
}

/** The oldest first. */
async function waiting(store: OpenStore, webhook: WebhookKey) {
  const all = await store.read((tx) => tx.deliveries.ofWebhook(webhook, 1_000));
  return all.filter(({ state }) => state === "waiting").toReversed();
}
