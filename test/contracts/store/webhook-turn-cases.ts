import assert from "node:assert/strict";
import { it } from "node:test";
import type { Post } from "../../../src/events/webhooks/post.ts";
import { WebhookSender } from "../../../src/events/webhooks/sender.ts";
import { type LimitName, limits } from "../../../src/model/limits.ts";
import type { OpenStore } from "../../../src/store/seam.ts";
import { manualRuntime } from "../../federation/manual-runtime.ts";
import { eventually } from "../../stories/world.ts";
import { onStore, type StoreHarness } from "./harness.ts";
import { gate } from "./home.ts";
import { addMessages, makeTenant, makeWebhook, range } from "./made-webhook.ts";

const look = { after: "", webhooks: 3, perWebhook: 5 };

export function webhookTurnCases(harness: StoreHarness): void {
  it("are found for each webhook in turn, however many are due for another", { timeout: 60_000 }, () =>
    onStore(harness, async (store) => {
      const tenant = { id: await makeTenant(store, "a"), name: "a" };
      const loud = await makeWebhook(store, tenant, "wh_a");
      await addMessages(store, loud, range(300));
      for (const id of ["wh_b", "wh_c", "wh_d", "wh_e"]) {
        await addMessages(store, await makeWebhook(store, tenant, id), [1]);
      }
      const nowMs = await store.read((tx) => tx.clock.nowMs());
      const first = await dueAt(store, nowMs, look);
      assert.equal(first.lastWebhook, "wh_c");
      assert.equal(first.of("wh_b"), 1);
      const second = await dueAt(store, nowMs, { ...look, after: "wh_c" });
      assert.deepEqual([second.lastWebhook, second.of("wh_d"), second.of("wh_e")], [undefined, 1, 1]);
      const all = await dueAt(store, nowMs, { ...look, webhooks: 100 });
      assert.deepEqual([all.of("wh_a"), all.of("wh_b"), all.of("wh_e")], [5, 1, 1]);
      assert.deepEqual((await dueAt(store, nowMs - 3_600_000, { ...look, webhooks: 100 })).count, 0);
    }),
  );

  it("are found before their turn when they are urgent", { timeout: 60_000 }, () =>
    onStore(harness, async (store) => {
      const tenant = { id: await makeTenant(store, "a"), name: "a" };
      for (const id of ["wh_a", "wh_b", "wh_c", "wh_d"]) {
        await addMessages(store, await makeWebhook(store, tenant, id), range(40));
      }
      await addMessages(store, await makeWebhook(store, tenant, "wh_z"), [1], { isUrgent: true });
      const nowMs = await store.read((tx) => tx.clock.nowMs());
      assert.equal((await dueAt(store, nowMs, look)).of("wh_z"), 1);
    }),
  );

  it("are due when a clock that was ahead has set their next attempt", { timeout: 60_000 }, () =>
    onStore(harness, async (store) => {
      const tenant = { id: await makeTenant(store, "a"), name: "a" };
      const webhook = await makeWebhook(store, tenant, "wh_a");
      await addMessages(store, webhook, range(3));
      const nowMs = await store.read((tx) => tx.clock.nowMs());
      const [ahead, retried] = (await store.read((tx) => tx.deliveries.due(nowMs, look))).deliveries;
      await store.transaction(async (tx) => {
        await tx.deliveries.claim(ahead!, nowMs + 365 * 86_400_000);
        await tx.deliveries.claim(retried!, nowMs + 3_600_000);
      });
      const { deliveries } = await store.read((tx) => tx.deliveries.due(nowMs, look));
      assert.deepEqual(deliveries.map(({ deviceId }) => deviceId).sort(), [1, 3]);
    }),
  );

  if (harness.kind === "postgres") {
    it("are not held by a sender that read its webhook before an operator resumed it", { timeout: 60_000 }, (t) =>
      onStore(harness, async (store, database) => {
        const tenant = { id: await makeTenant(store, "a"), name: "a" };
        const webhook = await makeWebhook(store, tenant, "wh_a");
        await addMessages(store, webhook, [1]);
        await store.transaction((tx) => tx.webhooks.setPaused(webhook, 1));
        const [resumed, end] = [gate(), gate()];
        const resuming = store.transaction(async (tx) => {
          await tx.webhooks.lock(webhook);
          await tx.webhooks.setPaused(webhook, null);
          await tx.deliveries.makeDue(webhook, await tx.clock.nowMs());
          resumed.open();
          await end.opened;
        });
        await resumed.opened;
        let calls = 0;
        const post: Post = async () => {
          calls += 1;
          return { status: 204, text: null };
        };
        const parts = { secretOf: () => "whsec_", addressOf: () => "https://a.example/" };
        const sender = new WebhookSender({ store, runtime: manualRuntime(), post, ...parts });
        try {
          await eventually(t.signal, async () => {
            sender.wake();
            const held = "SELECT 1 FROM webhook_deliveries WHERE next_ms > created_ms + 300000";
            const waiting =
              "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
            assert.equal((await database.sql(`${held} UNION ALL ${waiting}`)).length > 0, true);
          });
          end.open();
          await resuming;
          await eventually(t.signal, async () => {
            sender.wake();
            assert.equal(calls, 1);
          });
        } finally {
          end.open();
          await sender.stop();
        }
      }),
    );
  }

  it("of an owner whose receivers don't answer leave slots for others", { timeout: 60_000 }, (t) =>
    onStore(harness, async (store) => {
      const slow = { id: await makeTenant(store, "slow"), name: "slow" };
      const other = { id: await makeTenant(store, "other"), name: "other" };
      for (const n of range(10)) await addMessages(store, await makeWebhook(store, slow, `wh_slow_${n}`), range(20));
      const calls = { slow: 0, other: 0 };
      const post: Post = (url, _headers, _body, signal) => {
        if (!url.includes("slow")) {
          calls.other += 1;
          return Promise.resolve({ status: 204, text: null });
        }
        calls.slow += 1;
        return new Promise((resolve) => {
          const giveUp = () => resolve({ status: null, text: "no answer in time" });
          if (signal.aborted) giveUp();
          else signal.addEventListener("abort", giveUp);
        });
      };
      const reached = new Set<LimitName>();
      const sender = new WebhookSender({
        store,
        runtime: manualRuntime(),
        post,
        secretOf: () => "whsec_",
        addressOf: ({ url }) => url,
        onLimitReached: (limit) => reached.add(limit),
      });
      // The clock does not move: the test wakes the sender, as its own timer would.
      const calledUntil = (slow: number, others: number) =>
        eventually(t.signal, async () => {
          sender.wake();
          assert.deepEqual(calls, { slow, other: others });
        });
      try {
        await calledUntil(limits.webhookSendsPerOwner, 0);
        await addMessages(store, await makeWebhook(store, other, "wh_other"), [1]);
        await calledUntil(limits.webhookSendsPerOwner, 1);
        assert.ok(reached.has("webhookSendsPerOwner"));
      } finally {
        await sender.stop();
      }
    }),
  );
}

async function dueAt(store: OpenStore, nowMs: number, options: typeof look) {
  const { deliveries, lastWebhook } = await store.read((tx) => tx.deliveries.due(nowMs, options));
  return {
    lastWebhook,
    count: deliveries.length,
    of: (id: string) => deliveries.filter(({ webhookId }) => webhookId === id).length,
  };
}
