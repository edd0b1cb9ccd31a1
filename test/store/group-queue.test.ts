import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { OutcomeUnknown, StoreUnavailable } from "../../src/model/errors.ts";
import type { DeviceId, UserId } from "../../src/model/ids.ts";
import { GroupQueue, type GroupQueueParts, mostMembers } from "../../src/store/groups/group-queue.ts";
import type { GroupTables, GroupWrites } from "../../src/store/groups/group-tables.ts";
import type { Transaction } from "../../src/store/seam.ts";
import { gate } from "../contracts/store/home.ts";
import { uncaughtErrorsDuring } from "./uncaught-errors.ts";

const user = (id: number) => id as UserId;
const device = (id: number) => id as DeviceId;

type Body = (tx: Transaction) => Promise<unknown>;

/** A queue whose groups work on tables that only note what they are asked. */
function queueOn({ together, committed }: Partial<GroupQueueParts> = {}) {
  const groups: number[] = [];
  const writes: GroupWrites[] = [];
  const questions: string[] = [];
  const alone: Body[] = [];
  const tables: GroupTables = {
    async lockUsers(ids) {
      questions.push(`users ${ids}`);
      return { ids: new Set(ids), nowMs: 7 };
    },
    async read({ links, attributes }) {
      const keys = attributes.map(({ deviceId, key }) => `${deviceId}.${key}`);
      questions.push(`links ${links.map(({ deviceId }) => deviceId)} attributes ${keys}`);
      return {
        links: new Set(links.map(({ deviceId }) => deviceId)),
        devices: [],
        attributes: attributes.map(({ deviceId, key }) => ({ deviceId, key, value: `of ${deviceId}`, timeMs: 1 })),
        things: [],
      };
    },
    async write(all) {
      writes.push(all);
    },
    single: {} as GroupTables["single"],
  };
  const queue = new GroupQueue({
    together: together ?? ((work) => work(tables)),
    async alone(body) {
      alone.push(body);
      return "alone" as never;
    },
    committed: committed ?? ((members) => groups.push(members)),
  });
  return { queue, groups, writes, questions, alone, tables };
}

const lockAndWrite =
  (id: number): Body =>
  async (tx) => {
    await tx.users.lock(user(id));
    await tx.attributes.write(user(id), device(id), 8, [{ key: 1, value: "new" }]);
    return `group of ${id}`;
  };

describe("the queue of groups", () => {
  it("runs the first at once, and those that arrive meanwhile as the next group", async () => {
    const { queue, groups, writes } = queueOn();
    const results = [1, 2, 3, 4].map((id) => queue.add(user(id), lockAndWrite(id), undefined));
    assert.deepEqual(await Promise.all(results), ["group of 1", "group of 2", "group of 3", "group of 4"]);
    assert.deepEqual(groups, [1, 3]);
    assert.deepEqual(
      writes.map(({ attributes }) => attributes.map(({ userId }) => userId)),
      [[1], [2, 3, 4]],
    );
    assert.equal(queue.waitingCount, 0);
  });

  it("takes at most one transaction of a user, and 64 in all, into a group", async () => {
    const { queue, groups } = queueOn();
    const ids = [0, 1, 1, ...Array.from({ length: mostMembers + 5 }, (_, i) => i + 2)];
    await Promise.all(ids.map((id) => queue.add(user(id), lockAndWrite(id), undefined)));
    assert.deepEqual(groups, [1, mostMembers, 7]);
  });

  it("asks what its members ask in one turn with two statements: one locks the users, one reads the rest", async () => {
    const { queue, questions } = queueOn();
    const body =
      (id: number): Body =>
      async (tx) => {
        const [nowMs, isHeld, rows] = await Promise.all([
          tx.users.lock(user(id)),
          tx.links.holds(user(id), device(id), { owner: "n" as never, epoch: 1 }),
          tx.attributes.some(user(id), device(id), [1, 1]),
        ]);
        return [nowMs, isHeld, rows.map(({ value }) => value)];
      };
    const results = [1, 2, 3].map((id) => queue.add(user(id), body(id), undefined));
    assert.deepEqual((await Promise.all(results))[2], [7, true, ["of 3"]]);
    assert.deepEqual(questions.slice(2), ["users 2,3", "links 2,3 attributes 2.1,3.1"]);
  });

  it("lets a transaction leave that groups can't run, even if its body ignores that", async () => {
    const { queue, groups, writes } = queueOn();
    const bodies: Readonly<Record<string, Body>> = {
      "writes twice": async (tx) => {
        await lockAndWrite(1)(tx);
        await lockAndWrite(1)(tx);
      },
      "reads after a write": async (tx) => {
        await lockAndWrite(1)(tx);
        await tx.attributes.some(user(1), device(1), [1]).catch(() => []);
      },
      "another user": async (tx) => void (await tx.users.lock(user(2)).catch(() => undefined)),
      "no lock": (tx) => tx.attributes.write(user(1), device(1), 8, [{ key: 1, value: "new" }]),
      "another function": async (tx) => void (await tx.settings.get("x").catch(() => undefined)),
      "a locked device": async (tx) => void (await tx.devices.lock(user(1), [device(1)]).catch(() => [])),
      "an own device": async (tx) => {
        await tx.users.lock(user(1));
        await tx.devices.setLastTime(user(1), device(1), 8, { names: 1, bytes: 1, isErasing: false });
      },
      "a revocation": async (tx) => {
        await tx.users.lock(user(1));
        await tx.log.append({ userId: user(1), deviceId: null, kind: "revocation", timeMs: 1, body: "" });
      },
    };
    for (const [name, body] of Object.entries(bodies)) {
      assert.equal(await queue.add(user(1), body, undefined), "alone", name);
    }
    assert.deepEqual(
      writes.flatMap(({ attributes, times, log }) => [...attributes, ...times, ...log]),
      [],
    );
    assert.deepEqual(groups, [], "a group without members is no commit");
  });

  it("keeps its members when the database runs the group again", async () => {
    const again = queueOn({
      async together(work) {
        await work(again.tables);
        await work(again.tables);
      },
    });
    const results = [1, 2, 3].map((id) => again.queue.add(user(id), lockAndWrite(id), undefined));
    assert.deepEqual(await Promise.all(results), ["group of 1", "group of 2", "group of 3"]);
    assert.deepEqual(again.groups, [1, 2]);
  });

  it("lets a waiting transaction that becomes urgent run alone at once", async () => {
    const [connected, committed] = [gate(), gate()];
    const { queue, tables } = queueOn({
      async together(work) {
        await connected.opened;
        await work(tables);
        await committed.opened;
      },
    });
    const hurries = [1, 2, 3].map(() => new AbortController());
    const [first, second, third] = hurries.map(({ signal }, i) => queue.add(user(i), lockAndWrite(i), signal));
    // The first group waits for its connection.
    hurries[0]!.abort();
    assert.equal(await first, "alone");
    connected.open();
    while (queue.waitingCount > 0) await nextTurn();
    const fourth = new AbortController();
    const behind = queue.add(user(4), lockAndWrite(4), fourth.signal);
    // The second and the third are in a group that runs, the fourth waits for the next one.
    for (const each of [...hurries, fourth]) each.abort();
    assert.equal(await behind, "alone");
    committed.open();
    assert.deepEqual(await Promise.all([second, third]), ["group of 1", "group of 2"]);
  });

  it("reports an unknown outcome to the members alone, and runs the others alone", async () => {
    const unknown = new OutcomeUnknown("The answer was lost.");
    const queued = queueOn({
      async together(work) {
        await work(queued.tables);
        throw unknown;
      },
    });
    const { queue } = queued;
    const first = queue.add(user(1), lockAndWrite(1), undefined);
    const throwing = queue.add(user(2), () => Promise.reject(new Error("no")), undefined);
    const third = queue.add(user(3), lockAndWrite(3), undefined);
    assert.deepEqual(await Promise.allSettled([first, throwing, third]), [
      { status: "rejected", reason: unknown },
      { status: "fulfilled", value: "alone" },
      { status: "rejected", reason: unknown },
    ]);
  });

  it("runs all members alone when the group fails, and none of them without a connection", async () => {
    const failing = queueOn({
      async together(work) {
        await work(failing.tables);
        throw new StoreUnavailable("A statement failed.");
      },
    });
    const both = [1, 2].map((id) => failing.queue.add(user(id), lockAndWrite(id), undefined));
    assert.deepEqual(await Promise.all(both), ["alone", "alone"]);

    const unreachable = queueOn({ together: () => Promise.reject(new StoreUnavailable("No connection.")) });
    const refused = [1, 2].map((id) => unreachable.queue.add(user(id), lockAndWrite(id), undefined));
    for (const one of refused) await assert.rejects(one, StoreUnavailable);
    assert.equal(unreachable.alone.length, 0);
  });

  it("goes on when the function that it calls after a COMMIT throws, and every member gets its result", async () => {
    const broken = new Error("no figures");
    const { queue } = queueOn({
      committed() {
        throw broken;
      },
    });
    const results: unknown[] = [];
    const errors = await uncaughtErrorsDuring(async () => {
      // The second arrives while the group of the first runs.
      results.push(...(await Promise.all([1, 2].map((id) => queue.add(user(id), lockAndWrite(id), undefined)))));
      results.push(await queue.add(user(3), lockAndWrite(3), undefined));
    });
    assert.deepEqual(results, ["group of 1", "group of 2", "group of 3"]);
    assert.deepEqual(errors, [broken, broken, broken]);
  });
});
