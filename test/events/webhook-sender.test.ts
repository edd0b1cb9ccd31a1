import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type SenderTables, WebhookSender, webhookTimes } from "../../src/events/webhooks/sender.ts";
import { StoreUnavailable } from "../../src/model/errors.ts";
import type { Store } from "../../src/store/seam.ts";
import type { DeliveryRow, EndedAttempt } from "../../src/store/tables/webhook-deliveries.ts";
import { flushPromises, manualRuntime, noonMs } from "../federation/manual-runtime.ts";

const unsealed = { secretOf: () => "whsec_", addressOf: () => "https://receiver.example/" };

describe("a node that was suspended while it claimed a webhook's message", () => {
  for (const { stoodStillMs, sent, what } of [
    { stoodStillMs: webhookTimes.usedMs - 1, sent: 1, what: "sends it while it is surely its own" },
    { stoodStillMs: webhookTimes.usedMs, sent: 0, what: "leaves it to the node that may have claimed it since" },
  ]) {
    it(what, async () => {
      const runtime = manualRuntime();
      let posts = 0;
      const post = async () => {
        posts += 1;
        return { status: 200, text: null };
      };
      const store = storeWithOneDue(() => runtime.advance(stoodStillMs));
      const sender = new WebhookSender({ store, runtime, post, ...unsealed });
      sender.wake();
      await flushPromises();
      await flushPromises();
      assert.equal(posts, sent);
      await sender.stop();
    });
  }
});

describe("an attempt to deliver a webhook's message", () => {
  it("is recorded with its number, time, length and answer", async () => {
    const runtime = manualRuntime();
    const ended: EndedAttempt[] = [];
    const before = { attempt: 1, timeMs: noonMs - 5_000, tookMs: 15_000, status: null, text: "no answer in time" };
    const history = { isResend: true, tries: [before] };
    const delivery = { ...oneDelivery, attempts: 1, history } as unknown as DeliveryRow;
    const store = storeWithOneDue(async () => undefined, {
      find: async () => delivery,
      postpone: async (_delivery, _untilMs, attempt) => void ended.push(attempt),
    });
    const post = async () => {
      await runtime.advance(70);
      return { status: 500, text: "answered 500" };
    };
    const sender = new WebhookSender({ store, runtime, post, ...unsealed });
    sender.wake();
    await flushPromises();
    await flushPromises();
    const made = { attempt: 2, timeMs: noonMs, tookMs: 70, status: 500, text: "answered 500" };
    assert.deepEqual(ended, [
      { status: 500, text: "answered 500", history: { isResend: true, tries: [before, made] } },
    ]);
    await sender.stop();
  });
});

describe("a message that can't be claimed, since the store can't write", () => {
  it("is tried again a second later, not at once in a loop", async () => {
    const runtime = manualRuntime();
    let tries = 0;
    const store = storeWithOneDue(async () => {
      tries += 1;
      throw new StoreUnavailable("The disk is full.");
    });
    const post = async () => ({ status: 200, text: null });
    const sender = new WebhookSender({ store, runtime, post, ...unsealed });
    sender.start();
    sender.wake();
    await flushPromises();
    assert.equal(tries, 1);
    await runtime.advance(1_000);
    await flushPromises();
    assert.equal(tries, 2);
    await sender.stop();
  });
});

describe("a webhook whose secret can't be unsealed", () => {
  it("has its message postponed with a reason, never sent, and reported once", async () => {
    const runtime = manualRuntime();
    const postponed: (string | null)[] = [];
    const store = storeWithOneDue(async () => undefined, {
      postpone: async (_delivery, _untilMs, { text }) => void postponed.push(text),
    });
    let posts = 0;
    const post = async () => {
      posts += 1;
      return { status: 200, text: null };
    };
    const secretOf = () => {
      throw new Error("no key");
    };
    const sender = new WebhookSender({ store, runtime, post, ...unsealed, secretOf });
    for (let attempts = 1; attempts <= 2; attempts++) {
      store.becomesDue();
      sender.wake();
      await flushPromises();
      await flushPromises();
      assert.equal(postponed.length, attempts);
    }
    assert.match(postponed[0]!, /can't be unsealed/);
    assert.equal(posts, 0);
    assert.equal(runtime.logLines.filter(({ level }) => level === "error").length, 1);
    await sender.stop();
  });
});

const made = { id: 1, webhookId: "wh_1", messageId: "msg_1", body: "{}", attempts: 0, history: null };
const oneDelivery = { ...made, nextMs: noonMs, createdMs: noonMs } as DeliveryRow;

/** A store with one due delivery until it is claimed; claiming takes as long as the test says. */
function storeWithOneDue(
  whileClaiming: () => Promise<void>,
  more: Partial<SenderTables["deliveries"]> = {},
): Store<SenderTables> & { becomesDue(): void } {
  const delivery = oneDelivery;
  let isDue = true;
  const tables = {
    clock: { nowMs: async () => noonMs },
    log: { tail: async () => [] },
    logEpoch: { current: async () => ({ name: "first", takesOldIds: false }) },
    webhooks: {
      isAny: async () => true,
      lockFeed: async () => ({ transaction: 0, id: 0, things: { transaction: 0, id: 0 }, epoch: "first" }),
      byKey: async () => ({ id: "wh_1", url: "https://receiver.example/", pausedMs: null, suspended: null }),
      lock: async () => undefined,
    },
    deliveries: {
      due: async () => ({ deliveries: isDue ? [delivery] : [], lastWebhook: undefined }),
      find: async () => delivery,
      claim: async () => {
        await whileClaiming();
        isDue = false;
        return true;
      },
      settle: async () => undefined,
      ...more,
    },
  } as unknown as SenderTables;
  return {
    isShared: true,
    transaction: (body) => body(tables),
    read: (body) => body(tables),
    becomesDue: () => {
      isDue = true;
    },
  };
}
