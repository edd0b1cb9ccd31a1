import assert from "node:assert/strict";
import { it } from "node:test";
import type { DeviceId, OwnerId, UserId } from "../../../src/model/ids.ts";
import { onStore, type StoreHarness } from "./harness.ts";
import { addMessages, makeTenant, makeWebhook } from "./made-webhook.ts";

export function failedDeliveryCases(harness: StoreHarness): void {
  it("are due at once if they are tried now, except one that may be in flight, and are listed as failed", () =>
    onStore(harness, async (store) => {
      const webhook = await makeWebhook(store, { id: await makeTenant(store, "Acme"), name: "Acme" }, "wh_1");
      await addMessages(store, webhook, [1, 2, 3]);
      const nowMs = await store.read((tx) => tx.clock.nowMs());
      const [soonMs, laterMs] = [nowMs + 5_000, nowMs + 3_600_000];
      const attempt = { status: 500, text: "answered 500" };
      const history = { isResend: false, tries: [{ attempt: 1, timeMs: nowMs, tookMs: 9, ...attempt }] };
      const nextOf = async () =>
        (await store.read((tx) => tx.deliveries.listed(webhook, { limit: 9 })))
          .toSorted((a, b) => a.deviceId - b.deviceId)
          .map(({ nextMs }) => nextMs);
      await store.transaction(async (tx) => {
        const heads = (await tx.deliveries.listed(webhook, { limit: 9 })).toSorted((a, b) => a.deviceId - b.deviceId);
        for (const [index, head] of heads.entries()) {
          await tx.deliveries.claim(head, soonMs);
          if (index === 2) continue;
          const nextMs = index === 0 ? soonMs : laterMs;
          await tx.deliveries.postpone({ ...head, nextMs: soonMs }, nextMs, { ...attempt, history });
        }
      });
      assert.deepEqual(await nextOf(), [soonMs, laterMs, soonMs]);
      const failed = await store.read((tx) => tx.deliveries.listed(webhook, { state: "failed", limit: 9 }));
      assert.deepEqual(
        failed.map(({ deviceId }) => deviceId).toSorted(),
        [1, 2],
        "no attempt of the third one has ended",
      );
      const ofDevice = 2 as DeviceId;
      assert.equal(await store.transaction((tx) => tx.deliveries.makeDue(webhook, nowMs, ofDevice)), 1);
      assert.deepEqual(await nextOf(), [soonMs, nowMs, soonMs]);
      assert.equal(await store.transaction((tx) => tx.deliveries.makeDue(webhook, nowMs)), 1);
      assert.deepEqual(await nextOf(), [nowMs, nowMs, soonMs]);
    }));

  it("are found by the time of the failure, once a message, unless it waits or has arrived", { timeout: 30_000 }, () =>
    onStore(harness, async (store) => {
      const webhook = await makeWebhook(store, { id: await makeTenant(store, "Acme"), name: "Acme" }, "wh_1");
      const other = await makeWebhook(store, { id: await makeTenant(store, "Other"), name: "Other" }, "wh_2");
      const nowMs = await store.read((tx) => tx.clock.nowMs());
      const later = (hours: number) => nowMs + hours * 3_600_000;
      /** Ends all that waits. */
      const settle = (key: typeof webhook, state: "failed" | "delivered", atMs: number) =>
        store.transaction(async (tx) => {
          for (const one of await tx.deliveries.listed(key, { state: "waiting", limit: 100 })) {
            await tx.deliveries.settle(one, state, atMs, { status: 500, text: null });
          }
        });
      const resend = (n: number) =>
        store.transaction((tx) => {
          const message = { messageId: `msg_wh_1_${n}`, type: "attribute", body: "{}", deviceId: n as never };
          const to = { ownerId: webhook.ownerId as OwnerId, webhookId: "wh_1", userId: 1 as UserId };
          return tx.deliveries.add({ ...to, ...message, isResend: true });
        });
      const found = async (sinceMs: number, page = {}) => {
        const whole = { afterId: 0, limit: 10 };
        return store.read((tx) => tx.deliveries.failedSince(webhook, sinceMs, { ...whole, ...page }));
      };
      await addMessages(store, webhook, [0, 1, 2, 3]);
      await addMessages(store, other, [0]);
      await settle(webhook, "failed", later(24));
      await settle(other, "failed", later(24));
      const first = await found(later(1));
      assert.deepEqual(
        first.map(({ messageId }) => messageId),
        [0, 1, 2, 3].map((n) => `msg_wh_1_${n}`),
      );
      assert.deepEqual(await found(later(25)), []);

      await resend(1);
      await settle(webhook, "delivered", later(26));
      const failedTwice = await resend(2);
      await settle(webhook, "failed", later(30));
      await resend(3);
      const left = [first[0]!.id, failedTwice];
      assert.deepEqual(
        (await found(later(1))).map(({ id }) => id),
        left,
      );
      assert.deepEqual(
        (await found(later(25))).map(({ id }) => id),
        [failedTwice],
      );
      const page = { afterId: first[0]!.id, beforeId: failedTwice };
      assert.deepEqual(await found(later(1), page), []);
      assert.deepEqual(
        (await found(later(1), { limit: 1 })).map(({ id }) => id),
        left.slice(0, 1),
      );
    }),
  );
}
