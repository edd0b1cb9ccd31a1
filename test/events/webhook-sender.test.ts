import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type SenderTables, WebhookSender, webhookTimes } from "../../src/events/webhooks/sender.ts";
import { StoreUnavailable } from "../../src/model/errors.ts";
import type { Store } from "../../src/store/seam.ts";
import type { DeliveryRow } from "../../src/store/tables/webhook-deliveries.ts";
import { movedSurroundings, noonMs, settled } from "../federation/moved-surroundings.ts";

const unsealed = { secretOf: () => "whsec_", addressOf: () => "https://receiver.example/" };

describe("a node that stood still while it claimed a webhook's message", () => {
  for (const { stoodStillMs, sent, what } of [
    { stoodStillMs: webhookTimes.usedMs - 1, sent: 1, what: "sends it while it is surely its own" },
    { stoodStillMs: webhookTimes.usedMs, sent: 0, what: "leaves it to whoever has it by now" },
  ]) {
    it(what, async () => {
      const surroundings = movedSurroundings();
      let posts = 0;
      const post = async () => {
        posts += 1;
        return { status: 200, text: null };
      };
      const store = storeWithOneDue(() => surroundings.advance(stoodStillMs));
      const sender = new WebhookSender({ store, surroundings, post, ...unsealed });
      sender.wake();
      await settled();
      await settled();
      assert.equal(posts, sent);
      await sender.stop();
    });
  }
});

describe("a message that can't be claimed, since the store can't write", () => {
  it("is looked at again a second later, not at once and for ever", async () => {
    const surroundings = movedSurroundings();
    let tries = 0;
    const store = storeWithOneDue(async () => {
      tries += 1;
      throw new StoreUnavailable("The disk is full.");
    });
    const post = async () => ({ status: 200, text: null });
    const sender = new WebhookSender({ store, surroundings, post, ...unsealed });
    sender.start();
    sender.wake();
    await settled();
    assert.equal(tries, 1);
    await surroundings.advance(1_000);
    await settled();
    assert.equal(tries, 2);
    await sender.stop();
  });
});

/** A store in which one delivery is due until it is claimed, which takes as long as it is told. */
function storeWithOneDue(whileClaiming: () => Promise<void>): Store<SenderTables> {
  const delivery = { id: 1, webhookId: "wh_1", messageId: "msg_1", body: "{}", nextMs: noonMs } as DeliveryRow;
  let isDue = true;
  const tables = {
    clock: { nowMs: async () => noonMs },
    log: { tail: async () => [] },
    logEpoch: { current: async () => ({ name: "first", takesOldIds: false }) },
    webhooks: {
      isAny: async () => true,
      lockFeed: async () => ({ transaction: 0, id: 0, epoch: "first" }),
      byKey: async () => ({ id: "wh_1", url: "https://receiver.example/" }),
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
    },
  } as unknown as SenderTables;
  return { isShared: true, transaction: (body) => body(tables), read: (body) => body(tables) };
}
