import assert from "node:assert/strict";
import { it } from "node:test";
import type { NodeId } from "../../../src/model/ids.ts";
import type { FedLink } from "../../../src/store/tables/feed-accounts.ts";
import { onStore, type StoreHarness } from "./harness.ts";
import { makeHome, plain } from "./home.ts";

const [one, two, three] = ["node-1", "node-2", "node-3"] as [NodeId, NodeId, NodeId];

/** The accounts, messages and leases of feeds. */
export function feedTableCases(harness: StoreHarness): void {
  it("stores a message for every link of its account, once, until the link's owner removes it", () =>
    onStore(harness, async (store) => {
      const links = [await fedLink(store, "a", one), await fedLink(store, "b", two)];
      const other = await fedLink(store, "c", one);
      await store.transaction(async (tx) => {
        for (const link of links) await tx.feedAccounts.set(link, "hearth", "x");
        await tx.feedAccounts.set(other, "hearth", "y");
      });
      const messages = [
        { id: "1", account: "x", content: "first" },
        { id: "2", account: "x", content: "second" },
        { id: "3", account: "nobody", content: "third" },
      ];
      const add = (ecosystem: string, nowMs: number) =>
        store.transaction((tx) => tx.feedMessages.add(ecosystem, messages, nowMs));
      assert.deepEqual(
        (await add("hearth", 1)).map(plain),
        links.map((link) => ({ ...link, account: "x" })),
      );
      assert.equal((await add("hearth", 2)).length, 2);
      assert.deepEqual(await add("another", 3), []);
      await store.read(async (tx) => {
        assert.deepEqual((await tx.feedMessages.waiting(one)).map(plain), [links[0]]);
        for (const link of links) {
          assert.deepEqual((await tx.feedMessages.of(link, 10)).map(plain), [
            { messageId: "1", content: "first" },
            { messageId: "2", content: "second" },
          ]);
        }
        assert.equal(await tx.feedAccounts.of(other), "y");
        assert.deepEqual(await Promise.all([...links, other].map((link) => tx.feedAccounts.isShared(link))), [
          true,
          true,
          false,
        ]);
      });
      await store.transaction((tx) => tx.feedMessages.remove(links[0]!, two, ["1"]));
      assert.equal((await store.read((tx) => tx.feedMessages.of(links[0]!, 10))).length, 2, "it is not two's link");
      await store.transaction((tx) => tx.feedMessages.remove(links[0]!, one, ["1"]));
      assert.deepEqual((await store.read((tx) => tx.feedMessages.of(links[0]!, 10))).map(plain), [
        { messageId: "2", content: "second" },
      ]);
      assert.equal(await store.transaction((tx) => tx.feedMessages.removeBefore(2)), 3);
    }));

  it("keeps when each link of an account has made calls, and shows the calls of its other links", () =>
    onStore(harness, async (store) => {
      const [ada, bob, carl] = [
        await fedLink(store, "a", one),
        await fedLink(store, "b", two),
        await fedLink(store, "c", one),
      ];
      await store.transaction(async (tx) => {
        assert.deepEqual(await tx.feedAccounts.lockCalls(ada), [], "it has no account yet");
        await tx.feedAccounts.set(ada, "hearth", "x");
        await tx.feedAccounts.set(bob, "hearth", "x");
        await tx.feedAccounts.set(carl, "hearth", "y");
        await tx.feedAccounts.setCalls(ada, [1, 1_800_000_000_000]);
        await tx.feedAccounts.setCalls(carl, [3]);
      });
      await store.transaction(async (tx) => {
        const expected = [
          { ...ada, callsMs: [1, 1_800_000_000_000] },
          { ...bob, callsMs: [] },
        ];
        assert.deepEqual((await tx.feedAccounts.lockCalls(bob)).map(plain), expected);
        assert.deepEqual((await tx.feedAccounts.lockCalls(ada)).map(plain), expected);
      });
    }));

  it("replaces the messages of a link with too many by one row without content", () =>
    onStore(harness, async (store) => {
      const [full, calm] = [await fedLink(store, "a", one), await fedLink(store, "b", one)];
      const messages = ["1", "2", "3"].map((id) => ({ id, account: "x", content: id }));
      await store.transaction(async (tx) => {
        await tx.feedAccounts.set(full, "hearth", "x");
        await tx.feedAccounts.set(calm, "hearth", "y");
        await tx.feedMessages.add("hearth", [...messages, { id: "9", account: "y", content: "9" }], 1);
        assert.deepEqual(await tx.feedMessages.drop([full, calm], 3, 2), []);
        await tx.feedMessages.add("hearth", [{ id: "4", account: "x", content: "4" }], 2);
        assert.deepEqual((await tx.feedMessages.drop([full, calm], 3, 2)).map(plain), [full]);
      });
      await store.read(async (tx) => {
        assert.deepEqual((await tx.feedMessages.of(full, 10)).map(plain), [{ messageId: "", content: null }]);
        assert.equal((await tx.feedMessages.of(calm, 10)).length, 1);
      });
    }));

  it("removes account and messages with the device of a link", () =>
    onStore(harness, async (store) => {
      const link = await fedLink(store, "a", one);
      await store.transaction(async (tx) => {
        await tx.feedAccounts.set(link, "hearth", "x");
        await tx.feedMessages.add("hearth", [{ id: "1", account: "x", content: "1" }], 1);
      });
      await store.transaction(async (tx) => {
        await tx.links.remove(link.userId, link.deviceId);
        await tx.devices.remove(link.userId, link.deviceId);
      });
      await store.read(async (tx) => {
        assert.deepEqual(await tx.feedMessages.of(link, 10), []);
        assert.equal(await tx.feedAccounts.of(link), undefined);
      });
    }));

  it("gives the lease of a feed to one node, and to another when that one is dead or has released it", () =>
    onStore(harness, async (store) => {
      const take = (owner: NodeId, living?: readonly NodeId[]) =>
        store.transaction((tx) => tx.feedLeases.take("hearth", owner, living, 5));
      const renew = (owner: NodeId) =>
        store.transaction((tx) => tx.feedLeases.renew("hearth", owner, { answeredMs: 7, fault: "down" }));
      assert.equal(await take(one, []), true);
      assert.equal(await take(two, [one, two]), false);
      assert.equal(await take(two), false, "nobody knows who is alive");
      assert.deepEqual([await renew(two), await renew(one)], [false, true]);
      const held = { ecosystem: "hearth", owner: one, answeredMs: 7, fault: "down" };
      assert.deepEqual(plain((await store.read((tx) => tx.feedLeases.find("hearth")))!), held);
      assert.equal(await take(two, [two, three]), true);
      assert.equal(await renew(one), false);
      const taken = { ecosystem: "hearth", owner: two, answeredMs: 5, fault: null };
      assert.deepEqual((await store.read((tx) => tx.feedLeases.all())).map(plain), [taken]);
      await store.transaction((tx) => tx.feedLeases.release("hearth", one));
      assert.equal(await take(three), false);
      await store.transaction((tx) => tx.feedLeases.release("hearth", two));
      assert.equal(await take(three), true);
    }));
}

async function fedLink(store: Parameters<typeof makeHome>[0], name: string, owner: NodeId): Promise<FedLink> {
  const { userId, devices } = await makeHome(store, { name });
  const deviceId = devices[0]!;
  const link = { userId, deviceId, ecosystem: "hearth", sealedToken: "…", state: "live", reason: "" } as const;
  await store.transaction((tx) =>
    tx.links.add({ ...link, blindness: null, owner, confirmedMs: 1, indexMap: "{}", notices: "[]" }),
  );
  return { userId, deviceId };
}
