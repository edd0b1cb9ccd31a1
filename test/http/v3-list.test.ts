import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { DeviceId, UserId } from "../../src/model/ids.ts";
import { assertRefused, madeV3, type Token } from "./made-v3.ts";

/** Alice has 250 lamps, every fifth followed by a fan; bob has 3 lamps, carol 120. */
async function manyDevices(t: TestContext) {
  const made = await madeV3(t);
  const { store, alice, bob, carol } = made;
  const { lamps, fans, bobs, carols } = await store.transaction(async (tx) => {
    const add = (userId: UserId, typeName: string, name: string) =>
      tx.devices.add({ userId, typeName, name, isVirtual: false });
    const lamps: DeviceId[] = [];
    const fans: DeviceId[] = [];
    const bobs: DeviceId[] = [];
    const carols: DeviceId[] = [];
    for (let i = 0; i < 250; i++) {
      lamps.push(await add(alice, "Lamp", `lamp ${i}`));
      if (i % 5 === 0) fans.push(await add(alice, "Fan", `fan ${i}`));
      if (i < 3) bobs.push(await add(bob, "Lamp", `bob's ${i}`));
      if (i < 120) carols.push(await add(carol, "Lamp", `carol's ${i}`));
    }
    return { lamps, fans, bobs, carols };
  });
  /** Follows the cursors from the first page to the last; returns the ids of each page. */
  const pages = async (token: Token, query = "") => {
    const found: DeviceId[][] = [];
    for (let next = `?${query}`; ; ) {
      const { status, body } = await made.get(token, `/v3/devices${next}`);
      assert.equal(status, 200, body.error_description);
      found.push(body.devices.map(({ deviceId }: { deviceId: DeviceId }) => deviceId));
      if (body.cursor === undefined) return found;
      assert.match(body.cursor, /^[A-Za-z0-9_-]+$/);
      next = `?cursor=${body.cursor}`;
    }
  };
  return { ...made, lamps, fans, bobs, carols, all: [...lamps, ...fans].sort((a, b) => a - b), pages };
}

const lengths = (pages: readonly (readonly unknown[])[]) => pages.map(({ length }) => length);

describe("the list of devices", () => {
  it("shows each device with its type and whether it is present", async (t) => {
    const { get, addDevice, alice, bob, freshness } = await madeV3(t);
    await addDevice(bob);
    const lamp = await addDevice(alice, "Lamp", "Küche 💡");
    const account = await addDevice(alice, "EcosystemAccount", "Nest account");
    const ended = await addDevice(alice, "EcosystemAccount", "Unlinked just now");
    freshness.set(account, { isPresent: false, isStale: true, confirmedTimeMs: 1 });
    freshness.set(ended, undefined);
    const { body } = await get("alice", "/v3/devices");
    assert.deepEqual(body, {
      devices: [
        { deviceId: lamp, deviceName: "Küche 💡", deviceTypeName: "Lamp", presenceInfo: 1 },
        { deviceId: account, deviceName: "Nest account", deviceTypeName: "EcosystemAccount", presenceInfo: 0 },
        { deviceId: ended, deviceName: "Unlinked just now", deviceTypeName: "EcosystemAccount", presenceInfo: 0 },
      ],
    });
  });

  it("names the user of each device to an enterprise client", async (t) => {
    const { get, addDevice, alice, bob } = await madeV3(t);
    const [one, other] = [await addDevice(bob), await addDevice(alice)];
    const { body } = await get("acme", "/v3/devices?deviceTypeName=Lamp");
    const owners = body.devices.map(({ deviceId, userId }: Record<string, number>) => [deviceId, userId]);
    assert.deepEqual(owners, [
      [one, bob],
      [other, alice],
    ]);
  });

  it("comes 100 a page, ascending, and the last page has no cursor", async (t) => {
    const { pages, all, bobs, store, bob } = await manyDevices(t);
    const found = await pages("alice");
    assert.deepEqual(lengths(found), [100, 100, 100]);
    assert.deepEqual(found.flat(), all);
    assert.deepEqual(await pages("bob"), [bobs]);
    await store.transaction(async (tx) => {
      for (let i = 0; i < 98; i++) await tx.devices.add({ userId: bob, typeName: "Lamp", name: "x", isVirtual: false });
    });
    assert.deepEqual(lengths(await pages("bob")), [100, 1]);
  });

  it("is an empty list for a user without devices", async (t) => {
    const { get } = await madeV3(t);
    assert.deepEqual((await get("alice", "/v3/devices")).body, { devices: [] });
    assert.deepEqual((await get("acme", "/v3/devices?deviceTypeName=Lamp")).body, { devices: [] });
  });

  it("can be of one type, which the cursor remembers", async (t) => {
    const { pages, get, lamps, fans } = await manyDevices(t);
    assert.deepEqual(await pages("alice", "deviceTypeName=Fan"), [fans]);
    const found = await pages("alice", "deviceTypeName=Lamp");
    assert.deepEqual(lengths(found), [100, 100, 50]);
    assert.deepEqual(found.flat(), lamps);
    for (const unknown of ["lamp", "LAMP", "Lam", "Lamp%20", "%00", "'%20OR%201=1"]) {
      assert.deepEqual((await get("alice", `/v3/devices?deviceTypeName=${unknown}`)).body, { devices: [] }, unknown);
    }
    assert.equal((await get("alice", "/v3/devices?deviceTypeName=")).body.devices.length, 100);
  });

  it("is the whole tenant's for an enterprise client, which must name a type", async (t) => {
    const { pages, get, lamps, bobs, carols } = await manyDevices(t);
    const ofAcme = [...lamps, ...bobs].sort((a, b) => a - b);
    assert.deepEqual((await pages("acme", "deviceTypeName=Lamp")).flat(), ofAcme);
    assert.deepEqual((await pages("other", "deviceTypeName=Lamp")).flat(), carols);
    assert.deepEqual(await pages("other", "deviceTypeName=Fan"), [[]]);
    for (const query of ["", "?deviceTypeName=", "?cursor=", "?cursor=&deviceTypeName="]) {
      assertRefused(await get("acme", `/v3/devices${query}`), 400, "invalid_request");
    }
  });

  it("refuses a repeated parameter, even with one value", async (t) => {
    const { get, lamps } = await manyDevices(t);
    const { cursor } = (await get("alice", "/v3/devices?deviceTypeName=Lamp")).body;
    const twice = [
      "deviceTypeName=Lamp&deviceTypeName=Lamp",
      "deviceTypeName=&deviceTypeName=",
      `cursor=${cursor}&cursor=${cursor}`,
    ];
    for (const query of twice) assertRefused(await get("alice", `/v3/devices?${query}`), 400, "invalid_request");
    const { body } = await get("alice", `/v3/devices?cursor=${cursor}&unknown=1&unknown=2`);
    assert.equal(body.devices[0].deviceId, lamps[100]);
  });
});

describe("a cursor", () => {
  it("accepts its own filter beside it or none, and no other", async (t) => {
    const { get } = await manyDevices(t);
    const cursorOf = async (query: string) => (await get("alice", `/v3/devices${query}`)).body.cursor;
    const [ofLamps, ofAll] = [await cursorOf("?deviceTypeName=Lamp"), await cursorOf("")];
    const next = async (query: string) => (await get("alice", `/v3/devices?${query}`)).body.devices;
    const expected = await next(`cursor=${ofLamps}`);
    assert.deepEqual(await next(`cursor=${ofLamps}&deviceTypeName=Lamp`), expected);
    assert.deepEqual(await next(`deviceTypeName=&cursor=${ofLamps}`), expected);
    for (const query of [`cursor=${ofLamps}&deviceTypeName=Fan`, `cursor=${ofAll}&deviceTypeName=Lamp`]) {
      assertRefused(await get("alice", `/v3/devices?${query}`), 400, "invalid_request");
    }
  });

  it("never expires: it continues at its position, whatever was added or removed", async (t) => {
    const { get, all, store, alice, clock, addDevice } = await manyDevices(t);
    const { cursor } = (await get("alice", "/v3/devices")).body;
    clock.nowMs += 10 * 365 * 86_400_000;
    const added = await addDevice(alice);
    await store.transaction(async (tx) => {
      for (const id of all.slice(50, 150)) await tx.devices.remove(alice, id);
    });
    const { body } = await get("alice", `/v3/devices?cursor=${cursor}`);
    const left = [...all.slice(150), added];
    assert.deepEqual(
      body.devices.map(({ deviceId }: { deviceId: DeviceId }) => deviceId),
      left.slice(0, 100),
    );
  });

  it("is refused for every caller except the user or tenant whose list it is", async (t) => {
    const { get } = await manyDevices(t);
    const cursors: Record<string, string> = {};
    for (const token of ["alice", "acme", "carol", "other"] as const) {
      cursors[token] = (await get(token, "/v3/devices?deviceTypeName=Lamp")).body.cursor;
    }
    for (const [holder, cursor] of Object.entries(cursors)) {
      for (const token of ["alice", "bob", "carol", "acme", "other"] as const) {
        const answer = await get(token, `/v3/devices?cursor=${cursor}`);
        if (token === holder) assert.equal(answer.status, 200);
        else assertRefused(answer, 400, "invalid_request", cursor);
      }
    }
  });

  it("is refused when a single letter of it was changed, added or lost", async (t) => {
    const { get } = await manyDevices(t);
    const { cursor } = (await get("alice", "/v3/devices?deviceTypeName=Lamp")).body as { cursor: string };
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const forged = new Set<string>();
    for (let at = 0; at < cursor.length; at++) {
      const letter = alphabet.indexOf(cursor[at]!);
      // One bit of each letter, and at the end every letter: some of its bits mean nothing.
      const others =
        at === cursor.length - 1 ? [...alphabet] : [0, 1, 2, 3, 4, 5].map((bit) => alphabet[letter ^ (1 << bit)]!);
      for (const other of others) forged.add(cursor.slice(0, at) + other + cursor.slice(at + 1));
      forged.add(cursor.slice(0, at));
      forged.add(cursor.slice(at + 1));
    }
    for (const extra of ["A", "AA", "AAAA", "%3D", "%3D%3D", "%20", "%00", ".", "%0A"]) forged.add(`${cursor}${extra}`);
    for (const text of [`%20${cursor}`, "null", "%7B%7D", "100", "A".repeat(43), "A".repeat(4_000), "%F0%9F%8F%A0"])
      forged.add(text);
    forged.delete(cursor);
    forged.delete("");
    assert.ok(forged.size > 500);
    const tried = [...forged];
    for (let at = 0; at < tried.length; at += 50) {
      const answers = tried.slice(at, at + 50).map((text) => get("alice", `/v3/devices?cursor=${text}`));
      for (const answer of await Promise.all(answers)) assertRefused(answer, 400, "invalid_request");
    }
    assert.equal((await get("alice", `/v3/devices?cursor=${cursor}`)).status, 200);
  });
});
