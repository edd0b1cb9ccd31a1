import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { DeviceId, NodeId, UserId } from "../../src/model/ids.ts";
import type { GroupTables } from "../../src/store/groups/group-tables.ts";
import { LeavesGroup, Member } from "../../src/store/groups/member.ts";
import { SharedReads } from "../../src/store/groups/shared-reads.ts";
import type { Transaction } from "../../src/store/seam.ts";
import type { DeviceRow } from "../../src/store/tables/devices.ts";
import type { ThingRow } from "../../src/store/tables/things.ts";

const user = (id: number) => id as UserId;
const device = (id: number) => id as DeviceId;
const ada = user(1);
const lamp = device(11);
const ownership = { owner: "n" as NodeId, epoch: 3 };

const deviceRow = (userId: number, id: number) => ({ id: device(id), userId: user(userId) }) as DeviceRow;
const thing = (userId: number, thingId: string) => ({ userId: user(userId), thingId }) as ThingRow;

/** Tables that answer from lists and note what they are asked. */
function made() {
  const asked: unknown[] = [];
  let failure: Error | undefined;
  const free = { users: [1, 2], links: [11], devices: [deviceRow(1, 11), deviceRow(1, 12), deviceRow(2, 21)] };
  const watching = (kind: string) => ({ watching: async (...args: readonly unknown[]) => [kind, ...args] });
  const single = {
    triggers: watching("triggers"),
    thingTriggers: watching("thing triggers"),
    fanRequests: { latest: async (...args: readonly unknown[]) => ["latest", ...args] },
    thingCommands: { awaitingEcho: async (...args: readonly unknown[]) => ["awaited", ...args] },
  };
  const tables: GroupTables = {
    async lockUsers(ids) {
      if (failure) throw failure;
      asked.push(["users", ...ids]);
      return { ids: new Set(ids.filter((id) => free.users.includes(id))), nowMs: 7 };
    },
    async read({ links, devices, attributes, things }) {
      asked.push(
        ["links", ...links],
        ["devices", ...devices.map(({ userId, deviceId }) => `${userId}.${deviceId}`)],
        ["attributes", ...attributes.map(({ userId, deviceId, key }) => `${userId}.${deviceId}.${key}`)],
        ["things", ...things.map(({ userId, thingId }) => `${userId}.${thingId}`)],
      );
      return {
        links: new Set(links.map(({ deviceId }) => deviceId).filter((id) => free.links.includes(id))),
        devices: free.devices.filter(({ id }) => devices.some(({ deviceId }) => deviceId === id)),
        attributes: attributes.map(({ deviceId, key }) => ({ deviceId, key, value: `${deviceId}/${key}`, timeMs: 1 })),
        things: things.map(({ userId, thingId }) => thing(userId, thingId)),
      };
    },
    write: async () => undefined,
    single: single as unknown as GroupTables["single"],
  };
  const reads = new SharedReads(tables);
  const memberOf = (userId: UserId) => {
    const member = new Member(userId, reads, tables);
    return { member, tx: member.transaction() };
  };
  const fail = (error: Error) => {
    failure = error;
  };
  return { asked, memberOf, fail, ...memberOf(ada) };
}

/** A member that holds its user's lock. */
async function locked() {
  const one = made();
  assert.equal(await one.tx.users.lock(ada), 7);
  return one;
}

describe("a member of a group", () => {
  it("shares its questions with the others of the same turn, and gets its own answers", async () => {
    const { asked, memberOf, tx } = made();
    const { tx: other } = memberOf(user(2));
    const [mine, theirs, held, values, others, things, otherThings] = await Promise.all([
      tx.devices.lock(ada, [device(12), lamp]),
      other.devices.lock(user(2), [device(21)]),
      tx.links.holds(ada, lamp, ownership),
      tx.attributes.some(ada, lamp, [5, 6, 5]),
      other.attributes.some(user(2), device(21), [5]),
      tx.things.some(ada, ["a", "b", "a"]),
      other.things.some(user(2), ["c"]),
    ]);
    assert.deepEqual(mine, [deviceRow(1, 12), deviceRow(1, 11)]);
    assert.deepEqual(theirs, [deviceRow(2, 21)]);
    assert.equal(held, true);
    assert.deepEqual(
      [values, others].map((rows) => rows.map(({ value }) => value)),
      [["11/5", "11/6"], ["21/5"]],
    );
    assert.deepEqual([things, otherThings], [[thing(1, "a"), thing(1, "b")], [thing(2, "c")]]);
    assert.deepEqual(asked, [
      ["links", { userId: 1, deviceId: 11, ...ownership }],
      ["devices", "1.12", "1.11", "2.21"],
      ["attributes", "1.11.5", "1.11.6", "2.21.5"],
      ["things", "1.a", "1.b", "2.c"],
    ]);
    assert.deepEqual(await tx.attributes.some(ada, lamp, []), []);
    assert.deepEqual(await tx.things.some(ada, []), []);
    const later = asked.slice(4) as readonly (readonly unknown[])[];
    assert.ok(
      later.every(({ length }) => length === 1),
      "a question is asked once",
    );
  });

  it("hears of a failed statement", async () => {
    const { memberOf, fail } = made();
    fail(new Error("the connection is lost"));
    for (const id of [ada, user(2)]) await assert.rejects(memberOf(id).tx.users.lock(id), /the connection is lost/);
  });

  it("collects its writes, with the last value of each attribute", async () => {
    const { tx, member } = await locked();
    await tx.attributes.write(ada, lamp, 8, [
      { key: 5, value: "first" },
      { key: 6, value: null },
      { key: 5, value: "last" },
    ]);
    await tx.attributes.write(ada, device(12), 8, [{ key: 5, value: "x" }]);
    await tx.things.put(thing(1, "a"));
    const state = { userId: ada, thingId: "b", state: "s", print: 1, samples: "" };
    await tx.things.setState(state);
    await tx.devices.setLastTime(ada, lamp, 8);
    const entry = { userId: ada, deviceId: lamp, kind: "attribute", timeMs: 8, body: "" } as const;
    await tx.log.append(entry);
    await tx.log.append(entry);
    const to = { userId: ada, timeMs: 8 };
    assert.deepEqual(member.writes, {
      attributes: [
        { ...to, deviceId: lamp, key: 5, value: "last" },
        { ...to, deviceId: lamp, key: 6, value: null },
        { ...to, deviceId: device(12), key: 5, value: "x" },
      ],
      things: [thing(1, "a")],
      states: [state],
      times: [{ ...to, deviceId: lamp }],
      log: [entry, entry],
    });
  });

  it("reads alone what no member writes, also after a write", async () => {
    const { tx } = await locked();
    await tx.things.put(thing(1, "a"));
    const answers: readonly unknown[] = await Promise.all([
      tx.triggers.watching(ada, lamp, [5]),
      tx.thingTriggers.watching(ada, ["a"], ["onOff.on"]),
      tx.fanRequests.latest(ada, lamp, 6),
      tx.thingCommands.awaitingEcho(ada, lamp, 9),
    ]);
    assert.deepEqual(answers, [
      ["triggers", ada, lamp, [5]],
      ["thing triggers", ada, ["a"], ["onOff.on"]],
      ["latest", ada, lamp, 6],
      ["awaited", ada, lamp, 9],
    ]);
  });

  const bob = user(2);
  const written = async (tx: Transaction) => tx.things.put(thing(1, "a"));
  const leaving: Readonly<Record<string, (tx: Transaction) => Promise<unknown>>> = {
    "locks another user": (tx) => tx.users.lock(bob),
    "asks for a link of another user": (tx) => tx.links.holds(bob, lamp, ownership),
    "asks for a link that another node holds": (tx) => tx.links.holds(ada, device(12), ownership),
    "asks for a link after a write": async (tx) => {
      await written(tx);
      await tx.links.holds(ada, lamp, ownership);
    },
    "locks a device of another user": (tx) => tx.devices.lock(bob, [lamp]),
    "locks two devices of which one is not free": (tx) => tx.devices.lock(ada, [lamp, device(13)]),
    "locks a device after a write": async (tx) => {
      await written(tx);
      await tx.devices.lock(ada, [lamp]);
    },
    "reads attributes of another user": (tx) => tx.attributes.some(bob, lamp, [5]),
    "reads attributes after a write": async (tx) => {
      await tx.log.append({ userId: ada, deviceId: lamp, kind: "attribute", timeMs: 8, body: "" });
      await tx.attributes.some(ada, lamp, [5]);
    },
    "reads things of another user": (tx) => tx.things.some(bob, ["a"]),
    "reads things after a write": async (tx) => {
      await written(tx);
      await tx.things.some(ada, ["a"]);
    },
    "writes attributes of another user": (tx) => tx.attributes.write(bob, lamp, 8, []),
    "writes a device's attributes twice": async (tx) => {
      await tx.attributes.write(ada, lamp, 8, []);
      await tx.attributes.write(ada, lamp, 8, []);
    },
    "writes a thing twice": async (tx) => {
      await written(tx);
      await tx.things.setState({ userId: ada, thingId: "a", state: "", print: 1, samples: "" });
    },
    "replaces a thing of another user": (tx) => tx.things.put(thing(2, "a")),
    "sets the state of another user's thing": (tx) => tx.things.setState(thing(2, "a")),
    "sets a device's time twice": async (tx) => {
      await tx.devices.setLastTime(ada, lamp, 8);
      await tx.devices.setLastTime(ada, lamp, 9);
    },
    "lets an own device grow": (tx) => tx.devices.setLastTime(ada, lamp, 8, { names: 1, bytes: 1, isErasing: false }),
    "logs for nobody": (tx) => tx.log.append({ userId: null, deviceId: null, kind: "link", timeMs: 1, body: "" }),
    "logs a revocation": (tx) =>
      tx.log.append({ userId: ada, deviceId: null, kind: "revocation", timeMs: 1, body: "" }),
    "logs for another user": (tx) => tx.log.append({ userId: bob, deviceId: null, kind: "link", timeMs: 1, body: "" }),
    "reads another user's alerts": (tx) => tx.triggers.watching(bob, lamp, [5]),
    "calls a function that groups don't have": (tx) => tx.users.remove(ada),
    "uses a table that groups don't have": (tx) => tx.settings.get("x"),
  };
  for (const [what, act] of Object.entries(leaving)) {
    it(`leaves it when it ${what}`, async () => {
      const { tx, member } = await locked();
      await assert.rejects(async () => act(tx), LeavesGroup);
      assert.equal(member.writes, undefined);
    });
  }

  it("leaves it when its user's lock is not free, and may not write without that lock", async () => {
    const { memberOf } = made();
    const { tx, member } = memberOf(user(3));
    await assert.rejects(tx.users.lock(user(3)), LeavesGroup);
    assert.equal(member.writes, undefined);

    const { tx: unlocked, member: without } = memberOf(ada);
    await assert.rejects(unlocked.things.put(thing(1, "a")), LeavesGroup);
    assert.equal(without.writes, undefined);
  });
});
