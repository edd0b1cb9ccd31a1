import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ComparedAccount } from "../../src/ecosystems/connector.ts";
import { homeAssistantConnector } from "../../src/ecosystems/home-assistant/connector.ts";
import { hasOtherStructures, isAnotherAccount } from "../../src/federation/another-account.ts";
import { assignIndexes, emptyIndexMap } from "../../src/virtual-device/index-map.ts";
import { encodeIndexMap } from "../../src/virtual-device/stored-index-map.ts";
import { homeWith, incomplete, structure, thermostat } from "../home/home-parts.ts";
import { madeFederation } from "./made-federation.ts";
import { home } from "./made-homes.ts";
import { linkRow } from "./made-links.ts";
import { flushPromises } from "./manual-runtime.ts";

const linkThatShows = (...ids: readonly string[]) => {
  const structures = Object.fromEntries(ids.map((id) => [id, structure()]));
  return { indexMap: encodeIndexMap(assignIndexes(emptyIndexMap, homeWith({ structures })).map) };
};

describe("a new token", () => {
  it("is that of another account when the account has structures, and none that the link shows", () => {
    const link = linkThatShows("a", "b");
    assert.equal(hasOtherStructures(homeWith({ structures: { c: structure() } }), link), true);
    assert.equal(hasOtherStructures(homeWith({ structures: { b: structure(), c: structure() } }), link), false);
  });

  it("is taken for one of the same account when the account shows no structures, or only some of them", () => {
    const link = linkThatShows("a");
    assert.equal(hasOtherStructures(homeWith(), link), false);
    const partly = homeWith({ structures: { c: structure() }, notWhole: ["structures"] });
    assert.equal(hasOtherStructures(partly, link), false);
  });

  it("is not that of another account when the link shows nothing yet", () => {
    assert.equal(hasOtherStructures(homeWith({ structures: { c: structure() } }), linkThatShows()), false);
  });
});

describe("an instance of Home Assistant", () => {
  const { isSameAccount } = homeAssistantConnector({ name: "home", allowPrivateNetworks: false });
  const linked = account("https://maple.example token", "structure/home", "thermostat/a1", "other/light.hall");

  it("is the same one at the same address, whatever it shows", () => {
    assert.equal(isSameAccount!(linked, account("https://maple.example other", "structure/home")), true);
  });

  it("is the same one at another address when a thing has the same registry id", () => {
    const moved = account("https://moved.example token", "structure/home", "thermostat/a1", "alarm/b2");
    assert.equal(isSameAccount!(linked, moved), true);
    assert.equal(isSameAccount!({ ...linked, callToken: undefined }, moved), true);
  });

  it("is another one when only names are the same that any instance may have", () => {
    const other = account("https://cabin.example token", "structure/home", "thermostat/c3", "other/light.hall");
    assert.equal(isSameAccount!(linked, other), false);
    assert.equal(isSameAccount!({ ...linked, callToken: undefined }, other), false);
  });
});

describe("an ecosystem that compares accounts itself", () => {
  const account = homeWith({
    structures: { s1: structure() },
    thermostats: { t1: thermostat("s1"), t2: incomplete() },
  });
  const found = { callToken: "c.new", home: account };

  async function compared(marks: readonly object[], feedAccount?: string) {
    const calls: (readonly [ComparedAccount, ComparedAccount])[] = [];
    const tx = { things: { marks: async () => marks } };
    const store = { read: async (body: (given: typeof tx) => unknown) => body(tx) };
    const sealing = { seal: (text: string) => text, open: (sealed: string) => sealed };
    const feeds = feedAccount === undefined ? {} : { feeds: { accountOf: async () => feedAccount } };
    const connector = {
      isSameAccount(linked: ComparedAccount, other: ComparedAccount) {
        calls.push([linked, other]);
        return false;
      },
    };
    const parts = { store, sealing, ...feeds } as never;
    const isAnother = await isAnotherAccount(parts, connector, linkRow({ sealedToken: "c.old" }), found);
    return { isAnother, calls };
  }

  it("is told the token of each, the keys of the present things, and the account of the link's feed", async () => {
    const marks = [
      { key: "structure/s1", goneMs: null },
      { key: "thermostat/t9", goneMs: 5 },
    ];
    const keys = new Set(["structure/s1", "thermostat/t1", "thermostat/t2"]);
    for (const feedAccount of [undefined, "account 7"]) {
      const { isAnother, calls } = await compared(marks, feedAccount);
      const linked = { callToken: "c.old", feedAccount, keys: new Set(["structure/s1"]) };
      assert.deepEqual(calls, [[linked, { callToken: "c.new", keys }]]);
      assert.equal(isAnother, true);
    }
  });

  it("is not asked about a link that shows nothing", async () => {
    assert.deepEqual(await compared([{ key: "structure/s1", goneMs: 5 }]), { isAnother: false, calls: [] });
  });
});

describe("a link that gets the token of another account", () => {
  it("shows that account, and nothing of the one before, when the call ends", async (t) => {
    const { federation, linkLive, connector, store, userId } = await madeFederation(t);
    const deviceId = await linkLive(home({ name: "Townhouse" }));
    const values = async () =>
      (await store.read((tx) => tx.attributes.all(userId, deviceId))).map(({ value }) => value);
    assert.ok((await values()).includes("Townhouse"));
    const reads = connector.reads.length;
    const relinked = federation.relink(userId, "nest", "c.new");
    while (connector.reads.length === reads) await flushPromises();
    connector.lastRead.resolve(homeWith({ structures: { s9: structure({ name: "Cabin" }) } }));
    assert.equal(await relinked, deviceId);
    const shown = await values();
    assert.deepEqual([shown.includes("Cabin"), shown.includes("Townhouse")], [true, false]);
  });
});

function account(callToken: string, ...keys: readonly string[]) {
  return { callToken, keys: new Set(keys) };
}
