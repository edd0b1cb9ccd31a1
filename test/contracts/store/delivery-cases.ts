import assert from "node:assert/strict";
import { it } from "node:test";
import { ownerIdOf } from "../../../src/model/ids.ts";
import type { OpenStore } from "../../../src/store/seam.ts";
import { noLinkedDevice } from "../../../src/store/tables/delivery-bounds.ts";
import { withTry } from "../../../src/store/tables/delivery-history.ts";
import { logStart } from "../../../src/store/tables/log-position.ts";
import { onStore, type StoreHarness } from "./harness.ts";
import { gate, type Home, keep, makeHome } from "./home.ts";

export function deliveryCases(harness: StoreHarness): void {
  it("are postponed only by the sender that holds the claim", { timeout: 30_000 }, () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const delivery = await addDelivery(store, home);
      const failed = { status: 500, text: "answered 500" };
      const [first, second] = [
        { ...delivery, nextMs: 1_000 },
        { ...delivery, nextMs: 2_000 },
      ];
      await store.transaction(async (tx) => {
        assert.ok(await tx.deliveries.claim(delivery, first.nextMs));
        assert.ok(!(await tx.deliveries.claim(delivery, 9_000)));
        assert.ok(await tx.deliveries.claim(first, second.nextMs));
        await tx.deliveries.postpone(first, 9_000, failed);
      });
      assert.equal((await deliveriesOf(store, home))[0]?.nextMs, second.nextMs);
      await store.transaction((tx) => tx.deliveries.postpone(second, 3_000, failed));
      const { nextMs, text, attempts } = (await deliveriesOf(store, home))[0]!;
      assert.deepEqual([nextMs, text, attempts], [3_000, failed.text, 2]);
    }),
  );

  it("are added together in their order, and only the oldest of a device is due", { timeout: 30_000 }, () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store, { devices: 3 });
      const [first, second, third] = home.devices;
      await addDelivery(store, home);
      const added = [
        { deviceId: second!, isUrgent: true },
        { deviceId: first!, isUrgent: true },
        { deviceId: second! },
        { deviceId: third!, body: `{"text":"it's \\u0000 \\"a\\""}` },
      ];
      await store.transaction((tx) =>
        tx.deliveries.addAll(added.map((one, n) => ({ ...deliveryOf(home), messageId: `msg_${n + 2}`, ...one }))),
      );
      const stored = (await deliveriesOf(store, home)).toSorted((a, b) => a.id - b.id);
      const due = stored.map(({ messageId, deviceId, nextMs }) => [
        messageId,
        deviceId,
        nextMs === null ? null : nextMs > 0,
      ]);
      assert.deepEqual(due, [
        ["msg_1", first, true],
        ["msg_2", second, false],
        ["msg_3", first, null],
        ["msg_4", second, null],
        ["msg_5", third, true],
      ]);
      assert.equal(stored.at(-1)?.body, added[3]?.body);
    }),
  );

  it("tell which message is retried next and which ended last, however many newer ones wait", { timeout: 30_000 }, () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const key = { ownerId: home.userId, id: webhookId };
      const delivered = await addDelivery(store, home);
      const ended = { status: 200, text: "answered 200" };
      await store.transaction((tx) => tx.deliveries.settle(delivered, "delivered", 500, ended));
      const message = (n: number) => ({ ...deliveryOf(home), messageId: `msg_${n}` });
      await store.transaction(async (tx) => {
        for (let n = 2; n < 40; n++) await tx.deliveries.add(message(n));
      });
      const first = (await store.read((tx) => tx.deliveries.listed(key, { limit: 100 }))).at(-2)!;
      const look = () =>
        store.read(async ({ deliveries }) => {
          const [retried, settled] = [await deliveries.nextRetry(key), await deliveries.lastSettled(key)];
          return [retried && [retried.messageId, retried.nextMs, retried.status], settled?.messageId];
        });
      assert.deepEqual(await look(), [undefined, "msg_1"]);
      await store.transaction((tx) => tx.deliveries.claim(first, 1_000));
      assert.deepEqual(await look(), [undefined, "msg_1"], "a first attempt that is under way is no retry");
      const attempt = { status: 500, text: "answered 500" };
      await store.transaction((tx) => tx.deliveries.postpone({ ...first, nextMs: 1_000 }, 9_000, attempt));
      assert.deepEqual(await look(), [["msg_2", 9_000, 500], "msg_1"]);
      const gaveUp = { ...first, nextMs: 9_000 };
      await store.transaction((tx) => tx.deliveries.settle(gaveUp, "failed", 10_000, attempt));
      assert.deepEqual(await look(), [undefined, "msg_2"]);
    }),
  );

  it("keep the newest attempts, also when a node that records none makes one in between", { timeout: 30_000 }, () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const key = { ownerId: home.userId, id: webhookId };
      const delivery = await addDelivery(store, home);
      const row = () => store.read(async (tx) => (await tx.deliveries.find(key, delivery.id))!);
      assert.equal((await row()).history, null);
      const failed = { status: null, text: `no "answer" in time, ${"'"} and \u202e` };
      const made = (attempt: number) => ({ attempt, timeMs: 1_000 * attempt, tookMs: 15_000, ...failed });
      const claimed = { ...delivery, nextMs: 1_000 };
      await store.transaction(async (tx) => {
        await tx.deliveries.claim(delivery, 1_000);
        for (let attempt = 1; attempt <= 12; attempt++) {
          const history = withTry((await tx.deliveries.find(key, delivery.id))!.history, made(attempt));
          await tx.deliveries.postpone(claimed, 1_000, { ...failed, history });
        }
        await tx.deliveries.postpone(claimed, 1_000, { status: 500, text: "answered 500" });
      });
      const kept = Array.from({ length: 10 }, (_, at) => made(at + 3));
      assert.deepEqual((await row()).history, { isResend: false, tries: kept });
      assert.equal((await row()).text, "answered 500");
      const last = { attempt: 13, timeMs: 20_000, tookMs: 3, status: 204, text: null };
      const delivered = { status: 204, text: null, history: withTry((await row()).history, last) };
      await store.transaction((tx) => tx.deliveries.settle(claimed, "delivered", 20_003, delivered));
      const [listed] = await store.read((tx) => tx.deliveries.listed(key, { limit: 1 }));
      assert.deepEqual(listed?.history, { isResend: false, tries: [...kept.slice(1), last] });
    }),
  );

  it("know that they are resends, also after their first attempt", { timeout: 30_000 }, () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const key = { ownerId: home.userId, id: webhookId };
      const made = { attempt: 1, timeMs: 5, tookMs: 3, status: 200, text: null };
      const histories = await store.transaction(async (tx) => {
        const id = await tx.deliveries.add({ ...deliveryOf(home), isResend: true });
        const added = (await tx.deliveries.find(key, id))!;
        const history = withTry(added.history, made);
        await tx.deliveries.settle(added, "delivered", 8, { status: 200, text: null, history });
        return [added.history, (await tx.deliveries.find(key, id))!.history];
      });
      assert.deepEqual(histories, [
        { isResend: true, tries: [] },
        { isResend: true, tries: [made] },
      ]);
    }),
  );

  it("about no device wait for no message about a device", { timeout: 30_000 }, () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      assert.deepEqual(home.devices, [1], "the first device");
      await addDelivery(store, home);
      await store.transaction((tx) =>
        tx.deliveries.add({ ...deliveryOf(home), deviceId: noLinkedDevice, type: "linkSession", messageId: "msg_2" }),
      );
      const due = (await deliveriesOf(store, home)).map(({ nextMs }) => nextMs !== null);
      assert.deepEqual(due, [true, true]);
    }),
  );

  it("are removed with their webhook, and those of another one stay", { timeout: 30_000 }, () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const other = { ownerId: home.userId, id: "wh_2" };
      await addDelivery(store, home);
      await store.transaction(async (tx) => {
        await tx.deliveries.add({ ...deliveryOf(home), webhookId: other.id, messageId: "msg_2" });
        await tx.webhooks.remove({ ownerId: home.userId, id: webhookId });
      });
      assert.deepEqual(await deliveriesOf(store, home), []);
      assert.equal((await store.read((tx) => tx.deliveries.ofWebhook(other, 10))).length, 1);
    }),
  );

  it("are removed some at a time when they have ended long ago, the oldest first", { timeout: 30_000 }, () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store, { devices: 4 });
      await store.transaction((tx) =>
        tx.deliveries.addAll(
          home.devices.map((deviceId, n) => ({ ...deliveryOf(home), deviceId, messageId: `msg_${n}` })),
        ),
      );
      const attempt = { status: 200, text: null };
      const stored = new Map((await deliveriesOf(store, home)).map((delivery) => [delivery.messageId, delivery]));
      await store.transaction(async (tx) => {
        for (const [messageId, state, settledMs] of [
          ["msg_0", "delivered", 30],
          ["msg_1", "failed", 10],
          ["msg_2", "delivered", 20],
        ] as const) {
          await tx.deliveries.settle(stored.get(messageId)!, state, settledMs, attempt);
        }
      });
      const left = async () => (await deliveriesOf(store, home)).map(({ messageId }) => messageId).toSorted();
      const remove = (beforeMs: number, limit: number) =>
        store.transaction((tx) => tx.deliveries.removeSettled(beforeMs, limit));
      assert.equal(await remove(30, 1), 1);
      assert.deepEqual(await left(), ["msg_0", "msg_2", "msg_3"]);
      assert.equal(await remove(30, 9), 1);
      assert.equal(await remove(31, 9), 1);
      assert.equal(await remove(9e12, 9), 0);
      assert.deepEqual(await left(), ["msg_3"], "it still waits");
    }),
  );

  it("of other users go on when one of them is removed whose message came first", { timeout: 30_000 }, () =>
    onStore(harness, async (store) => {
      const [ada, bob] = [await makeHome(store), await makeHome(store, { name: "Bob" })];
      const ownerId = ownerIdOf({ userId: null, tenantId: ada.tenantId });
      const key = { ownerId, id: webhookId };
      const session = { ownerId, webhookId, deviceId: noLinkedDevice, type: "linkSession", body: "{}" };
      const nowMs = await store.transaction(async (tx) => {
        for (const { userId } of [ada, bob, bob]) {
          await tx.deliveries.add({ ...session, userId, messageId: `msg_${userId}` });
        }
        return tx.clock.nowMs();
      });
      // In slices first, as a user with many is removed.
      await store.transaction((tx) => tx.log.removeDeliveriesOfUser(ada.userId, 10));
      await store.transaction((tx) => tx.log.removeOfUser(ada.userId));
      const left = await store.read((tx) => tx.deliveries.ofWebhook(key, 10));
      assert.deepEqual(
        left.map(({ userId, nextMs }) => [userId, nextMs !== null && nextMs >= nowMs]),
        [
          [bob.userId, false],
          [bob.userId, true],
        ],
      );
    }),
  );

  if (harness.kind === "postgres") {
    it("of other users go on when a sender settles a message while a user is removed", { timeout: 30_000 }, () =>
      onStore(harness, async (store, database) => {
        const homes: Home[] = [];
        for (const name of ["Ada", "Bob", "Cleo"]) homes.push(await makeHome(store, { name }));
        const [ada, bob] = homes as [Home, Home, Home];
        const { tenantId } = ada;
        const key = await store.transaction(async (tx) => {
          const filter = { deviceIds: [], attributes: [], from: logStart };
          const sealed = { url: "", sealedUrl: "…", sealedSecret: "…" };
          return tx.webhooks.add({ id: webhookId, tenantId, userId: null, clientId: "c", ...sealed, ...filter });
        });
        const session = { ownerId: key.ownerId, webhookId, deviceId: noLinkedDevice, type: "linkSession", body: "{}" };
        await store.transaction(async (tx) => {
          for (const { userId } of homes) await tx.deliveries.add({ ...session, userId, messageId: `msg_${userId}` });
        });
        const first = (await store.read((tx) => tx.deliveries.ofWebhook(key, 10))).at(-1)!;
        const [removed, end] = [gate(), gate()];
        const removal = store.transaction(async (tx) => {
          await tx.log.removeOfUser(bob.userId);
          removed.open();
          await end.opened;
        });
        await removed.opened;
        const settling = store.transaction(async (tx) => {
          await tx.webhooks.lock(key);
          await tx.deliveries.settle(first, "delivered", 9, { status: 204, text: null });
        });
        const blocked =
          "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        while ((await database.sql(blocked)).length === 0) await store.transaction(keep("meanwhile"));
        end.open();
        await Promise.all([settling, removal]);
        const waiting = await database.sql("SELECT 1 FROM webhook_deliveries WHERE state = 'waiting' AND next_ms > 0");
        assert.equal(waiting.length, 1, "Cleo's message is due");
      }),
    );

    it("of a device are removed with it, also those that are created at the same time", { timeout: 30_000 }, () =>
      onStore(harness, async (store) => {
        const home = await makeHome(store);
        await addDelivery(store, home);
        const [made, end] = [gate(), gate()];
        const feeding = store.transaction(async (tx) => {
          await tx.webhooks.lockFeed();
          await tx.deliveries.add({ ...deliveryOf(home), messageId: "msg_2" });
          made.open();
          await end.opened;
        });
        await made.opened;
        const removal = store.transaction((tx) => tx.log.removeOfDevice(home.userId, home.devices[0]!));
        // Enough time for a removal that would not wait for the lock.
        for (let i = 0; i < 10; i++) await store.transaction(keep(`meanwhile ${i}`));
        end.open();
        await Promise.all([feeding, removal]);
        assert.deepEqual(await deliveriesOf(store, home), []);
      }),
    );
  }
}

const webhookId = "wh_1";

function deliveryOf({ userId, devices }: Home) {
  return { ownerId: userId, webhookId, userId, deviceId: devices[0]!, messageId: "msg_1", type: "device", body: "{}" };
}

async function addDelivery(store: OpenStore, home: Home) {
  await store.transaction((tx) => tx.deliveries.add(deliveryOf(home)));
  return (await deliveriesOf(store, home))[0]!;
}

function deliveriesOf(store: OpenStore, { userId }: Home) {
  return store.read((tx) => tx.deliveries.ofWebhook({ ownerId: userId, id: webhookId }, 10));
}
