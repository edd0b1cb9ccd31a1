import assert from "node:assert/strict";
import { it } from "node:test";
import { alertEntry, attributeEntry, thingCommandEntry, thingEntry } from "../../../src/devices/log-entries.ts";
import type { ThingChange } from "../../../src/devices/thing-writes.ts";
import { Backlog } from "../../../src/events/webhooks/backlog.ts";
import { CompiledFilters } from "../../../src/events/webhooks/compiled-filters.ts";
import { feedWebhooks } from "../../../src/events/webhooks/feeder.ts";
import { WebhookSender } from "../../../src/events/webhooks/sender.ts";
import type { OpenStore, Store, Transaction } from "../../../src/store/seam.ts";
import type { ThingCommandRow } from "../../../src/store/tables/thing-commands.ts";
import type { WebhookKey } from "../../../src/store/tables/webhooks.ts";
import { manualRuntime } from "../../federation/manual-runtime.ts";
import { eventually } from "../../stories/world.ts";
import { onStore, type StoreHarness, type TestDatabase } from "./harness.ts";
import { type Home, makeHome } from "./home.ts";
import { makeWebhook } from "./made-webhook.ts";

const byEcosystem = { by: "ecosystem" } as const;
const smoke: ThingChange = {
  thingId: "t_hall",
  what: "state",
  fields: [{ trait: "smoke", field: "state", value: "alarm" }],
};
const renamed: ThingChange = { thingId: "t_hall", what: "changed", fields: [] };

export function webhookThingCases(harness: StoreHarness): void {
  it("follow those about attributes of the same commit, for webhooks that asked for them", { timeout: 60_000 }, () =>
    onStore(harness, async (store) => {
      const { home, hearing, other } = await made(store);
      await append(store, home, { attributes: true, things: [renamed] }, { attributes: true }, { things: [renamed] });
      await feed(store);
      assert.deepEqual(await types(store, other), ["attribute", "attribute"]);
      assert.deepEqual(await types(store, hearing), ["attribute", "thing", "attribute", "thing"]);
      const ids = (await messages(store, hearing)).map(({ messageId }) => messageId);
      assert.equal(new Set(ids).size, 4);
    }),
  );

  it(
    "are urgent when an alarm sounds, also after the message about attributes of the same commit",
    { timeout: 60_000 },
    () =>
      onStore(harness, async (store) => {
        const { home, hearing, other } = await made(store);
        await append(store, home, { attributes: true, things: [smoke] });
        await feed(store);
        const isUrgent = async (webhook: WebhookKey) =>
          (await messages(store, webhook)).map(({ nextMs }) => nextMs === 0);
        assert.deepEqual(await isUrgent(other), [false], "the attributes of this commit are not urgent");
        assert.deepEqual(await isUrgent(hearing), [true, false]);
        const [first, second] = await messages(store, hearing);
        const done = { status: 204, text: null };
        await store.transaction((tx) => tx.deliveries.settle(first!, "delivered", 5, done, second!.messageId));
        assert.deepEqual(await isUrgent(hearing), [false, true]);
        // Another message than the named one becomes due in its turn.
        await append(store, home, { things: [renamed] });
        await feed(store);
        await store.transaction((tx) => tx.deliveries.settle(second!, "delivered", 7, done, first!.messageId));
        assert.equal((await messages(store, hearing))[2]?.nextMs, 7);
      }),
  );

  it("do not wait for changes that no webhook hears", { timeout: 60_000 }, () =>
    onStore(harness, async (store) => {
      const { home, other } = await made(store);
      const { userId, deviceId } = await homeElsewhere(store);
      const change = attributeEntry(userId, deviceId, 1, byEcosystem, [{ key: "level", value: "7" }]);
      await store.transaction((tx) => tx.log.appendAll(Array(1_600).fill(change)));
      await append(store, home, { attributes: true }, { attributes: true });
      assert.equal(await feed(store), "there is more");
      assert.deepEqual(await types(store, other), [], "they become messages in the next step, with what they need");
      assert.equal(await feed(store), "done");
      assert.deepEqual(await types(store, other), ["attribute", "attribute"]);
    }),
  );

  it("are sent with priority by the sender after an urgent message about attributes", { timeout: 60_000 }, (t) =>
    onStore(harness, async (store) => {
      const { home, hearing, other } = await made(store);
      await store.transaction((tx) => tx.webhooks.remove(other));
      await append(store, home, { attributes: true, things: [smoke] });
      let urgent = 0;
      const counting: Store<Transaction> = {
        isShared: store.isShared,
        read: (body, priority) => store.read(body, priority),
        transaction: (body, priority) => {
          if (priority?.urgent) urgent += 1;
          return store.transaction(body, priority);
        },
      };
      const sender = new WebhookSender({
        store: counting,
        runtime: manualRuntime(),
        post: async () => ({ status: 204, text: null }),
        secretOf: () => "whsec_",
        addressOf: ({ url }) => url,
      });
      try {
        sender.wake();
        await eventually(t.signal, async () =>
          assert.deepEqual(
            (await messages(store, hearing)).map(({ state }) => state),
            ["delivered", "delivered"],
          ),
        );
      } finally {
        await sender.stop();
      }
      assert.equal(urgent, 4, "each message is claimed and settled in an urgent transaction");
    }),
  );

  it(
    "that a node without things has passed by are made up for once, and nothing else is repeated",
    { timeout: 60_000 },
    () =>
      onStore(harness, async (store, database) => {
        const { home, hearing, other } = await made(store);
        await append(store, home, { attributes: true, things: [renamed] });
        await feed(store);
        await append(store, home, { attributes: true, things: [smoke] }, { things: [renamed] }, { command: true });
        await feedAsBefore(store, database);
        await append(store, home, { attributes: true, things: [smoke] }, { command: true });
        await feed(store);
        await feed(store);
        // The old node's own messages are not stored here: its entries lack their attributes.
        assert.deepEqual(await types(store, hearing), [
          ...["attribute", "thing", "thing", "thing", "thingCommand"],
          ...["attribute", "thing", "thingCommand"],
        ]);
        assert.deepEqual(await types(store, other), ["attribute", "attribute"]);
        const { things, epoch: _, ...position } = await store.transaction((tx) => tx.webhooks.lockFeed());
        assert.deepEqual({ ...position }, things);
      }),
  );

  it("about firings of alerts on things are urgent, and made up for in the same way", { timeout: 60_000 }, () =>
    onStore(harness, async (store, database) => {
      const { home, hearing, other } = await made(store);
      await append(store, home, { isFiring: true });
      await feed(store);
      await append(store, home, { attributes: true }, { isFiring: true });
      await feedAsBefore(store, database);
      await append(store, home, { attributes: true });
      await feed(store);
      await feed(store);
      assert.deepEqual(await types(store, hearing), ["alert", "alert", "attribute"]);
      assert.deepEqual(await types(store, other), ["attribute"]);
      const [firing] = await messages(store, hearing);
      assert.equal(firing?.nextMs, 0);
      const { data } = JSON.parse(firing!.body);
      assert.deepEqual([data.thingId, data.field, data.value], ["t_hall", "smoke.state", "alarm"]);
    }),
  );

  it("wait for nobody without a webhook that asked for them", { timeout: 60_000 }, () =>
    onStore(harness, async (store, database) => {
      const { home, hearing, other } = await made(store);
      await store.transaction((tx) => tx.webhooks.remove(hearing));
      await append(store, home, { attributes: true, things: [renamed] });
      await feedAsBefore(store, database);
      await append(store, home, { attributes: true });
      await feed(store);
      assert.deepEqual(await types(store, other), ["attribute"]);
      const { things, epoch: _, ...position } = await store.transaction((tx) => tx.webhooks.lockFeed());
      assert.deepEqual({ ...position }, things);
    }),
  );
}

async function made(store: OpenStore) {
  const home = await makeHome(store);
  const tenant = { id: home.tenantId, name: "home" };
  const client = {
    id: "client of home",
    tenantId: tenant.id,
    name: "a",
    kind: "enterprise",
    requiresPkce: false,
  } as const;
  await store.transaction((tx) => tx.clients.add({ ...client, redirectUris: [], secrets: [] }));
  const hearing = await makeWebhook(store, tenant, "wh_hearing", undefined, true);
  const other = await makeWebhook(store, tenant, "wh_other");
  return { home, hearing, other };
}

/** A device of another tenant, which has no webhooks. */
function homeElsewhere(store: OpenStore) {
  return store.transaction(async (tx) => {
    const tenantId = (await tx.tenants.add({ name: "elsewhere" }))!;
    const userId = (await tx.users.add({ tenantId, name: "Eve", passwordHash: "…", isAdmin: false }))!;
    return { userId, deviceId: await tx.devices.add({ userId, typeName: "lamp", name: "lamp", isVirtual: false }) };
  });
}

interface Happening {
  readonly attributes?: true;
  readonly things?: readonly ThingChange[];
  readonly isFiring?: true;
  /** A command to a thing was stored. */
  readonly command?: true;
}

const firing = {
  alert: 7,
  action: "email",
  thingId: "t_hall",
  field: "smoke.state",
  value: "alarm",
  address: "",
  message: "",
  writes: [],
};

async function append(store: OpenStore, home: Home, ...happenings: readonly Happening[]): Promise<void> {
  const deviceId = home.devices[0]!;
  const { userId } = home;
  const stored: ThingCommandRow = {
    ...{ id: 1, userId, deviceId, thingId: "t_hall", key: "thermostat/a", state: "queued", step: 0, requestedMs: 1 },
    ...{ command: '{"trait":"fanTimer","command":"start","params":{}}', plan: null, error: null, clientId: null },
    ...{ sentMs: null, settledMs: null, blockedUntilMs: null, alertId: null, dueMs: null },
  };
  for (const { attributes, things, command, isFiring } of happenings) {
    const entry = isFiring
      ? alertEntry(userId, deviceId, 1, firing)
      : command
        ? thingCommandEntry(stored, 1)
        : attributes
          ? attributeEntry(userId, deviceId, 1, byEcosystem, [{ key: "level", value: "7" }], things)
          : thingEntry(userId, deviceId, 1, things ?? [], byEcosystem);
    await store.transaction((tx) => tx.log.append(entry));
  }
}

function feed(store: OpenStore): Promise<string> {
  const unreadable = () => assert.fail("an entry or a webhook could not be read");
  const parts = { filters: new CompiledFilters(unreadable), backlog: new Backlog(() => undefined), unreadable };
  return feedWebhooks(store, { soon: true }, parts);
}

/** Moves the feed as a node does that does not know things: to the end, without the position of things. */
async function feedAsBefore(store: OpenStore, database: TestDatabase): Promise<void> {
  const { transaction, id } = await store.read((tx) => tx.log.end());
  await database.sql(`UPDATE webhook_feed SET transaction_id = ${transaction}, entry_id = ${id}`);
}

async function messages(store: OpenStore, webhook: WebhookKey) {
  return (await store.read((tx) => tx.deliveries.ofWebhook(webhook, 10))).toReversed();
}

async function types(store: OpenStore, webhook: WebhookKey): Promise<readonly string[]> {
  return (await messages(store, webhook)).map(({ type }) => type);
}
