import assert from "node:assert/strict";
import { it } from "node:test";
import type { OpenStore } from "../../../src/store/seam.ts";
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

  if (harness.kind === "postgres") {
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
