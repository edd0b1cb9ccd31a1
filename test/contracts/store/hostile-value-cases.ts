import assert from "node:assert/strict";
import { it } from "node:test";
import type { Transaction } from "../../../src/store/seam.ts";
import { UnstorableText } from "../../../src/store/sql.ts";
import { logStart } from "../../../src/store/tables/log-position.ts";
import { onStore, type StoreHarness } from "./harness.ts";
import { linkOf, makeHome, node } from "./home.ts";
import { type HomeIds, textColumns } from "./text-columns.ts";

/** Short enough for every column: an attribute's name has at most 128 characters. */
const hostileNames = [
  "",
  " ",
  "true",
  "null",
  String(2 ** 53 - 1),
  "0x1p-3",
  "1e999",
  "👩‍👩‍👧‍👦 Küche",
  "שלום \u202eעולם",
  "e\u0301 and é",
  "\u{10ffff}\uffff\ufeff",
  'it\'s "quoted" \\ `so`',
  "'; DROP TABLE users; --",
  "$1 ?1 :name %s {} @1",
  '{1,2,"3"}',
  "a\r\nb\tc\u0001",
  "𝕏".repeat(64),
];

const longTexts = [
  "x".repeat(8_192),
  "語".repeat(8_192),
  Array.from({ length: 2_048 }, (_, i) => i.toString(36)).join("'\"\\$1"),
];

const unstorable = {
  NUL: "a\0b",
  "half a pair": "a\ud83d",
  "the other half": "\udc69b",
  "halves swapped": "\udc69\ud83d",
};

export function hostileValueCases(harness: StoreHarness): void {
  it("is read from every column exactly as it was written", () =>
    onStore(harness, async (store) => {
      const home = await linkedHome(store);
      for (const { name, isShort, roundTrip } of textColumns) {
        for (const text of isShort ? hostileNames : [...hostileNames, ...longTexts]) {
          const found = await store.transaction((tx) => roundTrip(tx, text, home));
          assert.equal(found, text, `${name} changed ${JSON.stringify(text.slice(0, 60))}`);
        }
      }
      // Nothing above was executed as SQL.
      assert.ok(await store.read((tx) => tx.users.byId(home.userId)));
    }));

  it("is refused by every column when a database could not store it unchanged", () =>
    onStore(harness, async (store) => {
      const home = await linkedHome(store);
      for (const { name, roundTrip } of textColumns) {
        for (const [what, text] of Object.entries(unstorable)) {
          await assert.rejects(
            store.transaction((tx) => roundTrip(tx, text, home)),
            UnstorableText,
            `${name} took ${what}`,
          );
        }
      }
      assert.deepEqual(await store.read((tx) => tx.log.tail(logStart, 10)), []);
    }));

  it("that can't be stored is no tenant's and no user's name, no client's and no webhook's id, and is refused as any other key", () =>
    onStore(harness, async (store) => {
      const { tenantId, userId, device } = await linkedHome(store);
      for (const text of Object.values(unstorable)) {
        assert.equal(await store.read((tx) => tx.tenants.byName(text)), undefined);
        assert.equal(await store.read((tx) => tx.users.byName(tenantId, text)), undefined);
        assert.equal(await store.read((tx) => tx.clients.byId(text)), undefined);
        assert.equal(await store.transaction((tx) => tx.clients.lock(text)), undefined);
        const owner = { kind: "user", userId, clientId: "bwc_1" } as const;
        assert.equal(await store.read((tx) => tx.webhooks.find(owner, text)), undefined);
        const looks: ((tx: Transaction) => Promise<unknown>)[] = [
          (tx) => tx.secTokens.find({ ownerId: userId, hash: text }),
          (tx) => tx.attributes.some(userId, device, [text]),
          (tx) => tx.links.find(userId, text),
          (tx) => tx.settings.get(text),
        ];
        for (const look of looks) await assert.rejects(store.read(look), UnstorableText);
      }
    }));

  async function linkedHome(store: Parameters<typeof makeHome>[0]): Promise<HomeIds> {
    const home = await makeHome(store);
    await store.transaction((tx) => tx.links.add(linkOf(home, node("A"))));
    return { tenantId: home.tenantId, userId: home.userId, device: home.devices[0]! };
  }
}
