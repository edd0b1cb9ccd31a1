import assert from "node:assert/strict";
import { it } from "node:test";
import { commitOn } from "../../../src/devices/commit.ts";
import { OwnershipLost } from "../../../src/model/errors.ts";
import type { UserId } from "../../../src/model/ids.ts";
import { checksumOfLinks } from "../../../src/store/tables/link-checksum.ts";
import { linkSearchText } from "../../../src/store/tables/links.ts";
import { onStore, type StoreHarness } from "./harness.ts";
import { gate, linkOf, makeHome, node, plain, silent } from "./home.ts";

export function linkCases(harness: StoreHarness): void {
  it("are listed with their users, and so are the words by which they are found", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store, { devices: 3, name: "Ada Λ" });
      const other = await makeHome(store, { devices: 1, name: "bo" });
      const ecosystems = ["b", "a", "c"];
      await store.transaction(async (tx) => {
        for (const [nth, deviceId] of home.devices.entries()) {
          await tx.links.add({ ...linkOf(home, node("A")), deviceId, ecosystem: ecosystems[nth]! });
        }
        await tx.links.add(linkOf(other, node("A")));
        const named = [
          { key: 11, value: "Cabin" },
          { key: 7, value: "Maple Street" },
          { key: 8, value: "no name" },
        ];
        await tx.attributes.write(home.userId, home.devices[1]!, 1, named);
      });
      const { tenantId, userId } = home;
      const nameAttributes = [7, 11];
      await store.read(async (tx) => {
        for (const filter of [
          { limit: 2 },
          { limit: 9, nameAttributes },
          { limit: 9, after: { userId, ecosystem: "b" } },
          { limit: 1, tenantIds: [tenantId], after: { userId, ecosystem: "c" } },
        ]) {
          const rows = await tx.links.listed(filter);
          const { last, words } = await tx.links.joinedSearchText(filter);
          const { userId, ecosystem } = rows.at(-1)!;
          assert.deepEqual(last && { ...last }, rows.length < filter.limit ? undefined : { userId, ecosystem });
          assert.deepEqual(words.split("\n").sort(), rows.map(linkSearchText).sort());
          const withoutIds = await tx.links.joinedSearchText(filter, false);
          const names = rows.map(({ homeName, userName, ecosystem: of }) => `${homeName ?? ""} ${userName} ${of}`);
          assert.deepEqual([withoutIds.words.split("\n").sort(), withoutIds.last], [names.sort(), last]);
          const devices = await tx.links.listedDevices(filter);
          assert.deepEqual(devices.deviceIds.toSorted(), rows.map(({ deviceId }) => deviceId).toSorted());
          assert.deepEqual(devices.last, last);
        }
        const rows = await tx.links.listed({ limit: 9, nameAttributes });
        assert.deepEqual(
          rows.map(({ homeName }) => homeName),
          ["Maple Street, Cabin", null, null, null],
        );
        assert.deepEqual(
          rows.map(({ userName, ecosystem }) => `${userName} ${ecosystem}`),
          ["Ada Λ a", "Ada Λ b", "Ada Λ c", "bo nest"],
        );
        const after = await tx.links.listed({ limit: 9, after: { userId, ecosystem: "b" } });
        assert.deepEqual(
          after.map(({ ecosystem }) => ecosystem),
          ["c", "nest"],
        );
        const none = await tx.links.joinedSearchText({ limit: 2, tenantIds: [] });
        assert.deepEqual(none, { last: undefined, words: "" });
        const noDevices = await tx.links.listedDevices({ limit: 2, tenantIds: [] });
        assert.deepEqual(noDevices, { last: undefined, deviceIds: [] });
      });
    }));

  it("store the state of an account, one link for each ecosystem", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store, { devices: 2 });
      const link = linkOf(home, node("A"));
      const [added, again] = await store.transaction(async (tx) => [
        await tx.links.add(link),
        await tx.links.add({ ...link, deviceId: home.devices[1]! }),
      ]);
      assert.deepEqual(added, { owner: "A", epoch: 1 });
      assert.equal(again, undefined);
      await store.read(async (tx) => {
        const expected = { ...link, epoch: 1 };
        assert.deepEqual(plain(await tx.links.find(home.userId, "nest")), expected);
        assert.deepEqual(plain(await tx.links.ofDevice(home.userId, link.deviceId)), expected);
        assert.deepEqual(plain(await tx.links.ofUser(home.userId)), [expected]);
        assert.deepEqual(plain(await tx.links.ownedBy(node("A"))), [expected]);
        assert.equal(await tx.links.find(home.userId, "other"), undefined);
        assert.equal(await tx.links.ofDevice(home.userId, home.devices[1]!), undefined);
      });
      await store.transaction(async (tx) => {
        await tx.links.setToken(home.userId, link.deviceId, "v1.other");
        await tx.links.setState(home.userId, link.deviceId, {
          state: "needs_reauth",
          reason: "refused",
          blindness: null,
        });
        await tx.links.setIndexMap(home.userId, link.deviceId, '{"a":1}', '["notice"]');
        await tx.links.confirm(node("A"), [{ deviceId: link.deviceId, epoch: 1, confirmedMs: 2 ** 53 - 1 }]);
        await tx.links.confirm(node("A"), [{ deviceId: link.deviceId, epoch: 2, confirmedMs: 5 }]);
        await tx.links.confirm(node("B"), [{ deviceId: link.deviceId, epoch: 1, confirmedMs: 6 }]);
        await tx.links.confirm(node("A"), []);
      });
      const changed = {
        sealedToken: "v1.other",
        state: "needs_reauth",
        blindness: null,
        reason: "refused",
        indexMap: '{"a":1}',
        notices: '["notice"]',
        confirmedMs: 2 ** 53 - 1,
      };
      assert.deepEqual(plain(await store.read((tx) => tx.links.find(home.userId, "nest"))), {
        ...link,
        ...changed,
        epoch: 1,
      });
      const tally = {
        tenantId: home.tenantId,
        state: "needs_reauth",
        owner: link.owner,
        ecosystem: "nest",
        count: 1,
        confirmedMs: changed.confirmedMs,
      };
      for (const [beforeMs, staleCount] of [
        [changed.confirmedMs, 0],
        [2 ** 60, 1],
      ] as const) {
        assert.deepEqual(plain(await store.read((tx) => tx.links.tally(beforeMs))), [{ ...tally, staleCount }]);
      }
      const ofOthers = (owner: string) => store.read((tx) => tx.links.tally(0, node(owner)));
      assert.deepEqual(plain(await ofOthers("A")), []);
      assert.deepEqual(plain(await ofOthers("B")), [{ ...tally, staleCount: 0 }]);
      await store.transaction((tx) => tx.links.releaseAll(node("A")));
      assert.deepEqual(plain(await ofOthers("A")), [{ ...tally, owner: null, staleCount: 0 }]);
    }));

  it("change alone, beside another link of the same user", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store, { devices: 2 });
      const { userId } = home;
      const [changed, other] = home.devices.map((deviceId, n) => {
        return { ...linkOf(home, node("A")), deviceId, ecosystem: `nest ${n}`, sealedCredential: "c" };
      }) as [ReturnType<typeof linkOf>, ReturnType<typeof linkOf>];
      await store.transaction(async (tx) => {
        for (const link of [changed, other]) await tx.links.add(link);
        const id = changed.deviceId;
        await tx.links.setToken(userId, id, "t");
        await tx.links.setRenewing(userId, id, 5);
        await tx.links.removeCredential(userId, id);
        await tx.links.setState(userId, id, { state: "live", reason: "", blindness: null });
        await tx.links.setIndexMap(userId, id, "[]", '["notice"]');
        await tx.links.takeOver(userId, id, node("B"));
      });
      const stored = () => store.read((tx) => tx.links.ofUser(userId));
      assert.equal((await stored())[0]?.indexMap, "[]");
      assert.deepEqual(plain((await stored())[1]), { ...other, epoch: 1 });
      assert.equal(await store.transaction((tx) => tx.links.remove(userId, changed.deviceId)), true);
      assert.deepEqual(plain(await stored()), [{ ...other, epoch: 1 }]);
    }));

  it("keep a credential beside the token until either is replaced", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const { userId, deviceId, ecosystem, ...link } = linkOf(home, node("A"));
      const stored = async () => {
        const row = await store.read((tx) => tx.links.find(userId, ecosystem));
        return [row?.sealedToken, row?.sealedCredential, row?.renewingMs];
      };
      await store.transaction(async (tx) => {
        await tx.links.add({ ...link, userId, deviceId, ecosystem, sealedToken: "t1", sealedCredential: "c1" });
        await tx.links.setRenewing(userId, deviceId, 2 ** 40);
      });
      assert.deepEqual(await stored(), ["t1", "c1", 2 ** 40]);
      await store.transaction((tx) => tx.links.setToken(userId, deviceId, "t2", "c2"));
      assert.deepEqual(await stored(), ["t2", "c2", null]);
      await store.transaction((tx) => tx.links.setRenewing(userId, deviceId, 5));
      await store.transaction((tx) => tx.links.removeCredential(userId, deviceId));
      assert.deepEqual(await stored(), ["t2", null, 5]);
      await store.transaction((tx) => tx.links.setToken(userId, deviceId, "t3", "c3"));
      await store.transaction((tx) => tx.links.setToken(userId, deviceId, "t4"));
      assert.deepEqual(await stored(), ["t4", null, null]);
    }));

  it("are claimed from dead nodes by live ones, each time with the next epoch", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const { userId } = home;
      const deviceId = home.devices[0]!;
      await store.transaction((tx) => tx.links.add(linkOf(home, node("A"))));
      await store.transaction(async (tx) => {
        assert.deepEqual(await tx.links.claimOrphans(node("B"), [node("C")], 10), []);
        assert.equal(await tx.links.holds(userId, deviceId, { owner: node("A"), epoch: 1 }), true);
        assert.equal(await tx.links.holds(userId, deviceId, { owner: node("A"), epoch: 2 }), false);
        assert.equal(await tx.links.holds(userId, deviceId, { owner: node("B"), epoch: 1 }), false);
        assert.deepEqual(await tx.links.claimOrphans(node("B"), [node("A")], 0), []);
      });
      const claimed = await store.transaction((tx) => tx.links.claimOrphans(node("B"), [node("A")], 10));
      assert.deepEqual(plain(claimed), [{ ...linkOf(home, node("B")), epoch: 2 }]);
      await store.transaction((tx) => tx.links.releaseAll(node("A")));
      assert.equal((await store.read((tx) => tx.links.find(userId, "nest")))?.owner, "B");
      await store.transaction((tx) => tx.links.releaseAll(node("B")));
      await store.transaction(async (tx) => {
        assert.equal(await tx.links.holds(userId, deviceId, { owner: node("B"), epoch: 2 }), false);
        assert.equal((await tx.links.claimOrphans(node("B"), [node("A")], 10))[0]?.epoch, 3);
      });
      const taken = await store.transaction((tx) => tx.links.takeOver(userId, deviceId, node("C")));
      assert.deepEqual(plain(taken), { ...linkOf(home, node("C")), epoch: 4 });
      const again = await store.transaction((tx) => tx.links.takeOver(userId, deviceId, node("C")));
      assert.equal(again?.epoch, 5, "taking it from oneself ends one's older epoch too");
      assert.equal(await store.transaction((tx) => tx.links.takeOver(9_999 as UserId, deviceId, node("C"))), undefined);
    }));

  it("that were live wait for the stream of their new owner, blind since their last confirmation", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const { userId } = home;
      const deviceId = home.devices[0]!;
      const live = { state: "live", reason: "", blindness: null } as const;
      const blindness = { sinceMs: 500, cause: "not followed by any node" };
      const waiting = { state: "waiting", reason: "starting", blindness };
      const standing = async () => {
        const { state, reason, blindness } = (await store.read((tx) => tx.links.ofDevice(userId, deviceId)))!;
        return { state, reason, blindness };
      };
      await store.transaction((tx) => tx.links.add({ ...linkOf(home, node("A")), ...live, confirmedMs: 500 }));
      const [claimed] = await store.transaction((tx) => tx.links.claimOrphans(node("B"), [node("A")], 10));
      assert.partialDeepStrictEqual(claimed, { ...waiting, epoch: 2 });
      assert.deepEqual(await standing(), waiting);
      await store.transaction((tx) => tx.links.setState(userId, deviceId, live));
      const taken = await store.transaction((tx) => tx.links.takeOver(userId, deviceId, node("C")));
      assert.partialDeepStrictEqual(taken, { ...waiting, epoch: 3 });
      assert.deepEqual(await standing(), waiting);
      const older = { sinceMs: 100, cause: "closed: bye" };
      for (const state of ["waiting", "needs_reauth"] as const) {
        const own = { state, reason: "as before", blindness: older };
        await store.transaction((tx) => tx.links.setState(userId, deviceId, own));
        await store.transaction((tx) => tx.links.claimOrphans(node("D"), [node("C"), node("D")], 10));
        assert.deepEqual(await standing(), own);
      }
    }));

  it("are counted by owner, and handed back only with their present epoch", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store, { devices: 3 });
      const [a, b] = [node("A"), node("B")];
      assert.deepEqual(await store.read((tx) => tx.links.owners()), []);
      assert.deepEqual(await store.read((tx) => tx.links.checksumOf(a)), { count: 0, digest: 0 });
      await store.transaction(async (tx) => {
        for (const [i, deviceId] of home.devices.entries()) {
          await tx.links.add({ ...linkOf(home, i === 2 ? b : a), deviceId, ecosystem: `nest ${i}` });
        }
        await tx.links.takeOver(home.userId, home.devices[0]!, a);
      });
      await store.read(async (tx) => {
        assert.deepEqual(await tx.links.owners(), [a, b]);
        assert.deepEqual(plain(await tx.links.checksumOf(a)), checksumOfLinks(await tx.links.epochsOf(a)));
        assert.equal((await tx.links.checksumOf(a)).count, 2);
        assert.deepEqual(plain(await tx.links.countsByOwner()), [
          { owner: a, count: 2 },
          { owner: b, count: 1 },
        ]);
        const epochs = await tx.links.epochsOf(a);
        assert.deepEqual(plain(epochs.sort((one, other) => one.deviceId - other.deviceId)), [
          { deviceId: home.devices[0], epoch: 2 },
          { deviceId: home.devices[1], epoch: 1 },
        ]);
      });
      // Links with an old epoch, and links of another node, stay as they are.
      const given = home.devices.map((deviceId) => ({ deviceId, epoch: 1 }));
      await store.transaction((tx) => tx.links.releaseSome(a, given));
      assert.deepEqual(await store.read((tx) => tx.links.owners()), [a, b, null]);
      const claimed = await store.transaction((tx) => tx.links.claimOrphans(b, [], 10));
      assert.deepEqual(
        claimed.map(({ deviceId, epoch }) => [deviceId, epoch]),
        [[home.devices[1], 2]],
      );
    }));

  it("refuse a commit with an old epoch, and write nothing", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const deviceId = home.devices[0]!;
      await store.transaction((tx) => tx.links.add(linkOf(home, node("A"))));
      const commit = commitOn({ store, reactions: [], committed: () => {}, report: silent });
      const write = (value: string, epoch: number, owner: string) =>
        commit({
          userId: home.userId,
          cause: { by: "ecosystem" },
          updates: [{ deviceId, changes: [{ key: 1, value }] }],
          ownership: { owner: node(owner), epoch, deviceId },
          also: (tx) => tx.links.setIndexMap(home.userId, deviceId, JSON.stringify(value), "[]"),
        });
      await write("by A", 1, "A");
      await store.transaction((tx) => tx.links.claimOrphans(node("B"), [node("A")], 10));
      await assert.rejects(write("late, by A", 1, "A"), OwnershipLost);
      await assert.rejects(write("by A with B's epoch", 2, "A"), OwnershipLost);
      await store.read(async (tx) => {
        assert.deepEqual((await tx.attributes.all(home.userId, deviceId))[0]?.value, "by A");
        assert.equal((await tx.log.ofDevice(home.userId, deviceId)).length, 1);
        assert.equal((await tx.links.find(home.userId, "nest"))?.indexMap, '"by A"');
      });
      assert.equal((await write("by B", 2, "B")).length, 1);
    }));

  if (harness.kind === "postgres") {
    it("keep their owner until a transaction that has checked it ends", () =>
      onStore(harness, async (store) => {
        const home = await makeHome(store);
        const [holding, release] = [gate(), gate()];
        await store.transaction((tx) => tx.links.add(linkOf(home, node("A"))));
        const held = store.transaction(async (tx) => {
          await tx.links.holds(home.userId, home.devices[0]!, { owner: node("A"), epoch: 1 });
          holding.open();
          await release.opened;
        });
        await holding.opened;
        const claim = () => store.transaction((tx) => tx.links.claimOrphans(node("B"), [node("A")], 10));
        const claimedMeanwhile = await claim();
        release.open();
        await held;
        assert.deepEqual(claimedMeanwhile, []);
        assert.equal((await claim()).length, 1);
      }));
  }
}
