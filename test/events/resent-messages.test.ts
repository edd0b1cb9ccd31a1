import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ActParts } from "../../src/cli/administration/admin-command.ts";
import { isAdmin } from "../../src/cli/noun.ts";
import { hook } from "../../src/cli/nouns/hook.ts";
import { webhookAdministrationOn } from "../../src/events/webhooks/webhook-administration.ts";
import { OutcomeUnknown, StoreUnavailable } from "../../src/model/errors.ts";
import type { OpenStore } from "../../src/store/seam.ts";
import { onStore } from "../contracts/store/harness.ts";
import { addMessages, makeTenant, makeWebhook, range } from "../contracts/store/made-webhook.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";

/** A webhook of which this many messages have failed. */
async function failedWebhook(store: OpenStore, messages: number) {
  const key = await makeWebhook(store, { id: await makeTenant(store, "Acme"), name: "Acme" }, "wh_1");
  await addMessages(store, key, range(messages));
  const settle = (state: "failed" | "delivered") =>
    store.transaction(async (tx) => {
      for (const one of await tx.deliveries.listed(key, { state: "waiting", limit: 1_000 })) {
        await tx.deliveries.settle(one, state, 1_000, { status: 500, text: null });
      }
    });
  await settle("failed");
  const webhook = (await store.read((tx) => tx.webhooks.byKey(key)))!;
  return { webhook, settle };
}

describe("messages that are resent because they have failed", () => {
  it("are those that neither wait nor have arrived", () =>
    onStore(sqliteHarness, async (store) => {
      const { webhook, settle } = await failedWebhook(store, 3);
      const parts = { store, seal: (text: string) => text, addressOf: () => "", wake: () => undefined };
      const { resendSince } = webhookAdministrationOn(parts);
      assert.equal(await resendSince(webhook, 0), 3);
      assert.equal(await resendSince(webhook, 0), 0, "they wait");
      await settle("failed");
      assert.equal(await resendSince(webhook, 0), 3);
      await settle("delivered");
      assert.equal(await resendSince(webhook, 0), 0, "they have arrived");
    }));

  it("are tried now while they wait, and keep their order", () =>
    onStore(sqliteHarness, async (store) => {
      const key = await makeWebhook(store, { id: await makeTenant(store, "Acme"), name: "Acme" }, "wh_1");
      // Two messages of one device.
      await addMessages(store, key, [1, 1]);
      const webhook = (await store.read((tx) => tx.webhooks.byKey(key)))!;
      const hooks = webhookAdministrationOn({ store, seal: String, addressOf: () => "", wake: () => undefined });
      const waiting = async () =>
        (await store.read((tx) => tx.deliveries.listed(key, { limit: 9 }))).toSorted((a, b) => a.id - b.id);
      const backOff = async () => {
        const [head] = await waiting();
        const nowMs = await store.read((tx) => tx.clock.nowMs());
        await store.transaction((tx) => tx.deliveries.postpone(head!, nowMs + 3_600_000, { status: 500, text: "no" }));
        return nowMs;
      };
      const beforeMs = await backOff();
      const second = (await waiting())[1]!;
      const tried = await hooks.resend(webhook, second.id);
      const isDue = (nextMs: number | null | undefined) => typeof nextMs === "number" && nextMs < beforeMs + 60_000;
      assert.deepEqual([tried.id, tried.nextMs], [second.id, null], "it follows the first one");
      assert.ok(isDue((await waiting())[0]?.nextMs));
      await backOff();
      assert.equal(await hooks.tryWaiting(webhook), 1);
      assert.ok(isDue((await waiting())[0]?.nextMs));
      assert.equal((await waiting()).length, 2, "no message was added");

      await backOff();
      const { webhook: paused } = await hooks.pause(webhook);
      assert.equal(await hooks.tryWaiting(paused), 0);
      await assert.rejects(hooks.resend(paused, second.id), /The webhook is paused\. Resume it/);
      assert.ok(!isDue((await waiting())[0]?.nextMs));
    }));

  it("are sent once, also when they fail at once while others are resent", () =>
    onStore(sqliteHarness, async (store) => {
      const { webhook, settle } = await failedWebhook(store, 150);
      const settling: Promise<void>[] = [];
      const wake = () => void settling.push(settle("failed"));
      const parts = { store, seal: (text: string) => text, addressOf: () => "", wake };
      const counts: number[] = [];
      const resent = await webhookAdministrationOn(parts).resendSince(webhook, 0, (count) => counts.push(count));
      await Promise.all(settling);
      assert.deepEqual([resent, counts], [150, [100, 150]]);
    }));

  for (const [when, resentBefore, error, expected] of [
    ["after a part of them", 100, StoreUnavailable, OutcomeUnknown],
    ["before the first", 0, StoreUnavailable, StoreUnavailable],
  ] as const) {
    it(`are audited when the store fails ${when}`, async () => {
      const { run, audited } = failingHook(resentBefore, new error("gone"));
      await assert.rejects(run(), (thrown) => thrown instanceof Error && thrown.constructor === expected);
      assert.deepEqual(audited, resentBefore > 0 ? [resentBefore] : []);
    });
  }
});

/** The command on a service whose store fails after this many messages. */
function failingHook(resentBefore: number, error: Error) {
  const command = hook.commands.filter(isAdmin).find(({ name }) => name === "hook resend-since")!;
  const audited: unknown[] = [];
  const parts = {
    webhooks: {
      tryWaiting: async () => 0,
      list: async () => [{ webhook: { id: "wh_1", tenantId: 1, userId: null, clientId: "c" } }],
      async resendSince(_webhook: unknown, _sinceMs: number, onResent: (count: number) => void) {
        if (resentBefore > 0) onResent(resentBefore);
        throw error;
      },
    },
    recordUnfinished: async ({ detail }: { detail: { resent: number } }) => void audited.push(detail.resent),
  } as unknown as ActParts;
  const run = async () => command.act(parts, { webhook: "wh_1", since: "2026-03-01T09:00:00Z" }, undefined, () => {});
  return { run, audited };
}
