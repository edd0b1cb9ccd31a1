import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { inTurns, SendingSlots, type SlotUse } from "../../src/events/webhooks/sending-slots.ts";
import type { OwnerId, TenantId } from "../../src/model/ids.ts";
import { type LimitName, limits } from "../../src/model/limits.ts";

/** Each use has its own webhook, owner, receiver and tenant, unless the test says otherwise. */
function use(n: number, same: Partial<SlotUse> = {}): SlotUse {
  const own = { webhookId: `wh_${n}`, ownerId: n as OwnerId, tenantId: n as TenantId, receiver: `r${n}.example` };
  return { ...own, isUrgent: false, ...same };
}

describe("the slots for sending to webhooks", () => {
  const cases: readonly [LimitName, Partial<SlotUse>][] = [
    ["webhookSendsPerWebhook", { webhookId: "wh_same" }],
    ["webhookSendsPerOwner", { ownerId: 7 as OwnerId }],
    ["webhookSendsPerReceiver", { receiver: "same.example" }],
    ["webhookSendsPerReceiverAndTenant", { receiver: "same.example", tenantId: 7 as TenantId }],
    ["webhookSendsPerTenant", { tenantId: 7 as TenantId }],
    ["webhookSends", {}],
  ];
  for (const [limit, same] of cases) {
    it(`delay what exceeds ${limit}, and nothing of others`, () => {
      const slots = new SendingSlots();
      const taken = Array.from({ length: limits[limit] }, (_, i) => use(i + 100, same));
      for (const one of taken) {
        assert.equal(slots.limitFor(one), undefined);
        slots.take(one);
      }
      assert.equal(slots.limitFor(use(1, same)), limit);
      if (limit !== "webhookSends") assert.equal(slots.limitFor(use(1)), undefined);
      slots.release(taken[0]!);
      assert.equal(slots.limitFor(use(1, same)), undefined);
    });
  }

  it("at a receiver that tenants share are not all of one tenant", () => {
    const slots = new SendingSlots();
    const shared = { receiver: "same.example" };
    const [a, b] = [7 as TenantId, 8 as TenantId];
    for (let i = 0; i < limits.webhookSendsPerReceiverAndTenant; i++) slots.take(use(i, { ...shared, tenantId: a }));
    assert.equal(slots.limitFor(use(90, { ...shared, tenantId: a })), "webhookSendsPerReceiverAndTenant");
    for (const isUrgent of [false, true]) {
      assert.equal(slots.limitFor(use(91, { ...shared, tenantId: b, isUrgent })), undefined);
    }
  });

  it("have a reserve for urgent messages, also at a receiver", () => {
    const shared = { receiver: "same.example" };
    const busy = new SendingSlots();
    for (let i = 0; i < limits.webhookSendsPerReceiver; i++) busy.take(use(i + 100, shared));
    assert.equal(busy.limitFor(use(1, shared)), "webhookSendsPerReceiver");
    assert.equal(busy.limitFor(use(1, { ...shared, isUrgent: true })), undefined);
  });

  it("have a reserve for urgent messages", () => {
    const slots = new SendingSlots();
    for (let i = 0; i < limits.webhookSends; i++) slots.take(use(i + 100));
    const urgent = (n: number) => use(n, { isUrgent: true });
    for (let i = 0; i < limits.webhookSendsUrgent; i++) {
      assert.equal(slots.limitFor(urgent(i)), undefined);
      slots.take(urgent(i));
    }
    assert.equal(slots.limitFor(urgent(99)), "webhookSends");
  });
});

describe("the order in which due messages are sent", () => {
  it("gives each owner a turn, after urgent messages", () => {
    const [ada, bob] = [1 as OwnerId, 2 as OwnerId];
    const slots = new SendingSlots();
    slots.take(use(1, { ownerId: ada }));
    const messages = [
      ...["ada 1", "ada 2", "ada 3"].map((name) => ({ name, use: use(1, { ownerId: ada }) })),
      ...["bob 1", "bob 2", "bob 3"].map((name) => ({ name, use: use(2, { ownerId: bob }) })),
      { name: "bob's alarm", use: use(2, { ownerId: bob, isUrgent: true }) },
    ];
    assert.deepEqual(
      inTurns(messages, slots).map(({ name }) => name),
      ["bob's alarm", "bob 1", "ada 1", "bob 2", "ada 2", "bob 3", "ada 3"],
    );
  });
});
