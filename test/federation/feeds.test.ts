import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { describe, it, type TestContext } from "node:test";
import type { FeedMessage, FeedReceiver } from "../../src/ecosystems/feed.ts";
import { accountCalls } from "../../src/federation/feeds/account-calls.ts";
import { FeedInbox, type InboxTables, silentAfterMs } from "../../src/federation/feeds/feed-inbox.ts";
import { FeedPuller } from "../../src/federation/feeds/feed-puller.ts";
import type { LinkKey } from "../../src/federation/link-key.ts";
import type { NodeId } from "../../src/model/ids.ts";
import { type LimitName, limits } from "../../src/model/limits.ts";
import { heartbeat, Membership } from "../../src/nodes/membership.ts";
import type { Store } from "../../src/store/seam.ts";
import { openSqlite } from "../../src/store/sqlite/store.ts";
import { makeHome, plain } from "../contracts/store/home.ts";
import { newDataFolder } from "../set-up/sqlite-template.ts";
import { eventually } from "../stories/world.ts";
import { flushPromises, manualRuntime } from "./manual-runtime.ts";

const ecosystem = "hearth";

describe("the feed of an ecosystem", () => {
  it("is pulled by one node, and by another soon after that one has died", async (t) => {
    const { node, pass } = await madeFeeds(t);
    const [first, second] = [await node("node-1"), await node("node-2")];
    await pass(3_000);
    assert.deepEqual([first.receiver() !== undefined, second.receiver() !== undefined], [true, false]);
    first.kill();
    await eventually(t.signal, async () => {
      await pass(1_000);
      assert.ok(second.receiver());
    });
  });

  it("is pulled by another node at once when the first one has stopped, which is still alive", async (t) => {
    const { node, pass, runtime } = await madeFeeds(t);
    const [first, second] = [await node("node-1"), await node("node-2")];
    await pass(1_000);
    await first.puller.stop();
    const stoppedMs = runtime.elapsedMs();
    await eventually(t.signal, async () => {
      await pass(500);
      assert.ok(second.receiver());
    });
    assert.ok(runtime.elapsedMs() - stoppedMs < heartbeat.leaseMs, "it did not wait as for a dead node");
  });

  it("counts unreadable messages, and those that it drops when too many wait for a link", async (t) => {
    const { node, pass, link, store } = await madeFeeds(t);
    const one = await node("node-1");
    const ada = await link(one.id, "x");
    await pass(1_000);
    const most = limits.feedMessagesPerLink;
    const messages = Array.from({ length: most + 1 }, (_, index) => message(`${index}`, "x", "warm"));
    await one.receiver()!.store(messages.slice(0, most));
    assert.deepEqual([one.counts, one.reached], [{ stored: most }, []]);
    await one.receiver()!.store(messages.slice(most));
    one.receiver()!.unreadable(2);
    assert.deepEqual(one.counts, { stored: most + 1, dropped: most, unreadable: 2 });
    assert.deepEqual(one.reached, ["feedMessagesPerLink"]);
    const left = await store.read((tx) => tx.feedMessages.of(ada, 10));
    assert.deepEqual(left.map(plain), [{ messageId: "", content: null }]);
  });

  it("keeps the messages of a link that no node follows for a day", async (t) => {
    const { node, link, store } = await madeFeeds(t);
    const ada = await link("node-1" as NodeId, "x");
    await store.transaction(async (tx) => {
      const dayAgoMs = (await tx.clock.nowMs()) - 24 * 3_600_000;
      await tx.feedMessages.add(ecosystem, [message("old", "x", "cold")], dayAgoMs - 1);
      await tx.feedMessages.add(ecosystem, [message("young", "x", "warm")], dayAgoMs);
    });
    await node("node-1");
    const left = await store.read((tx) => tx.feedMessages.of(ada, 10));
    assert.deepEqual(left.map(plain), [{ messageId: "young", content: "warm" }]);
  });

  it("stores a message for all links of the account, counts those without one, and keeps it until it is handled", async (t) => {
    const { node, pass, link, store } = await madeFeeds(t);
    const one = await node("node-1");
    const [ada, bob] = [await link(one.id, "x"), await link(one.id, "x")];
    const taken: string[][] = [];
    let isHandled = false;
    const reader = {
      handle: async (contents: readonly (string | undefined)[]) => {
        taken.push(contents.map(String));
        return isHandled;
      },
      quiet: () => undefined,
      silent: () => undefined,
    };
    one.inbox.of(ada).read(reader);
    await pass(1_000);
    await one.receiver()!.store([message("1", "x", "warm"), message("2", "nobody", "cold")]);
    await eventually(t.signal, async () => {
      await pass(1_000);
      assert.deepEqual([taken[0], one.counts], [["warm"], { stored: 1, unknown: 1 }]);
    });
    isHandled = true;
    const waiting = (key: LinkKey) => store.read((tx) => tx.feedMessages.of(key, 10));
    await eventually(t.signal, async () => {
      await pass(1_000);
      assert.equal((await waiting(ada)).length, 0);
    });
    assert.equal((await waiting(bob)).length, 1);
  });

  it("confirms quiet links while it answers, and is silent after three minutes without an answer", async (t) => {
    const { node, pass, link } = await madeFeeds(t);
    const one = await node("node-1");
    const ada = await link(one.id, "x");
    const heard: string[] = [];
    const stop = one.inbox.of(ada).read({
      handle: async () => true,
      quiet: () => void heard.push("quiet"),
      silent: (reason) => void heard.push(reason),
    });
    for (let i = 0; i < 4; i++) {
      await pass(31_000);
      one.receiver()!.answered();
    }
    await pass(3_000);
    assert.ok(heard.length >= 3 && heard.every((what) => what === "quiet"), heard.join());
    one.receiver()!.failed("403");
    await pass(silentAfterMs);
    await eventually(t.signal, async () => {
      await pass(1_000);
      assert.equal(heard.at(-1), "403");
    });
    stop();
    assert.deepEqual(await one.inbox.of(ada).state(), { account: "x", silence: "403" });
  });

  it("confirms quiet links, and notices a silent feed, also after the clock was set back", async () => {
    const runtime = manualRuntime();
    const lease = { ecosystem, answeredMs: runtime.nowMs(), fault: null };
    const tables = {
      feedMessages: { waiting: async () => [] },
      feedLeases: { all: async () => [{ ...lease }] },
    };
    const read = (body: (tx: typeof tables) => unknown) => body(tables);
    const store = { isShared: false, read, transaction: read } as unknown as Store<InboxTables>;
    const inbox = new FeedInbox({ store, nodeId: "node-1" as NodeId, runtime });
    const heard = { quiet: 0, silent: 0 };
    const link = { userId: 1, deviceId: 1, ecosystem, ownership: { owner: "node-1", epoch: 1 } } as unknown as LinkKey;
    inbox.of(link).read({
      handle: async () => true,
      quiet: () => {
        heard.quiet += 1;
      },
      silent: () => {
        heard.silent += 1;
      },
    });
    await runtime.advance(31_000);
    runtime.jump(-3_600_000);
    for (let i = 0; i < 3; i++) {
      lease.answeredMs = runtime.nowMs();
      await runtime.advance(31_000);
    }
    assert.equal(heard.quiet, 3);
    lease.answeredMs = runtime.nowMs();
    runtime.jump(-3_600_000);
    await runtime.advance(silentAfterMs - 10_000);
    assert.equal(heard.silent, 0);
    await runtime.advance(20_000);
    assert.ok(heard.silent > 0);
    await inbox.stop();
  });

  it("confirms no link whose messages wait, however many other links have messages", async () => {
    const runtime = manualRuntime();
    const links = Array.from({ length: 1_500 }, (_, index) => ({
      userId: (index + 1) as LinkKey["userId"],
      deviceId: (index + 1) as LinkKey["deviceId"],
      ecosystem,
      ownership: { owner: "node-1" as NodeId, epoch: 1 },
    }));
    const tables = {
      feedMessages: {
        waiting: async (_owner: NodeId, limit = links.length) => links.slice(0, limit),
        of: async () => [{ messageId: "1", content: "warm" }],
      },
      feedLeases: { all: async () => [{ ecosystem, answeredMs: runtime.nowMs(), fault: null }] },
    };
    const read = (body: (tx: typeof tables) => unknown) => body(tables);
    const store = { isShared: false, read, transaction: read } as unknown as Store<InboxTables>;
    const inbox = new FeedInbox({ store, nodeId: "node-1" as NodeId, runtime });
    const heard = { handed: 0, quiet: 0 };
    const reader = {
      handle: async () => {
        heard.handed += 1;
        return false;
      },
      quiet: () => {
        heard.quiet += 1;
      },
      silent: () => undefined,
    };
    for (const link of links) inbox.of(link).read(reader);
    await runtime.advance(60_000);
    assert.ok(heard.handed >= links.length, `${heard.handed} times handed over`);
    assert.equal(heard.quiet, 0);
    await inbox.stop();
  });
});

describe("the limited calls of an account", () => {
  it("are shared by all its links, whichever node follows them, and free again when the window has passed", async (t) => {
    const { link, store, pass } = await madeFeeds(t);
    const [ada, bob, carl] = [await link(one, "x"), await link(two, "x"), await link(one, "y")];
    const limits = [{ calls: 5, perMs: 60_000 }];
    const take = (of: LinkKey, calls: number) => accountCalls(store, of).take(calls, limits);
    assert.deepEqual([await take(ada, 2), await take(bob, 2)], [0, 0]);
    await pass(10_000);
    assert.equal(await take(ada, 2), 50_000, "one call is left");
    assert.equal(await take(bob, 1), 0);
    assert.equal(await take(ada, 1), 50_000);
    assert.equal(await take(carl, 5), 0, "another account");
    await pass(50_000);
    assert.equal(await take(ada, 4), 0);
    assert.equal(await take(bob, 1), 10_000);
  });

  it("are free again after the window also when the clock was set back", async (t) => {
    const { link, store, pass } = await madeFeeds(t);
    const ada = await link(one, "x");
    const take = (calls: number) => accountCalls(store, ada).take(calls, [{ calls: 5, perMs: 60_000 }]);
    await store.transaction(async (tx) => {
      const ahead = (await tx.clock.nowMs()) + 3_600_000;
      await tx.feedAccounts.setCalls(ada, Array<number>(5).fill(ahead));
    });
    assert.equal(await take(1), 60_000);
    await pass(60_000);
    assert.equal(await take(1), 0);
  });

  it("count those that were made before the account was known, and those of many links at once", async (t) => {
    const { link, store } = await madeFeeds(t);
    const links = await Promise.all(["x", "x", "x", "x"].map((account) => link(one, account)));
    const limits = [{ calls: 5, perMs: 60_000 }];
    await accountCalls(store, links[0]!).count(2, limits);
    const waits = await Promise.all(links.map((of) => accountCalls(store, of).take(1, limits)));
    assert.deepEqual(
      waits.map((waitMs) => waitMs === 0),
      [true, true, true, false],
    );
  });
});

const [one, two] = ["node-1", "node-2"] as [NodeId, NodeId];

function message(id: string, account: string, content: string): FeedMessage {
  return { id, account, content };
}

/** Nodes on one store, each with a feed that a test plays. */
async function madeFeeds(t: TestContext) {
  const folder = await newDataFolder("breezeway-feeds-");
  const runtime = manualRuntime();
  const database = await openSqlite({ folder, nowMs: runtime.nowMs });
  const stops: (() => Promise<unknown>)[] = [];
  t.after(async () => {
    for (const stop of stops) await stop();
    await database.close();
    rmSync(folder, { recursive: true });
  });
  let homes = 0;
  return {
    store: database,
    runtime,
    async pass(ms: number) {
      for (let leftMs = ms; leftMs > 0; leftMs -= 500) {
        await runtime.advance(Math.min(500, leftMs));
        for (let turns = 0; turns < 20; turns++) await flushPromises();
      }
    },
    async link(owner: NodeId, account: string): Promise<LinkKey> {
      const { userId, devices } = await makeHome(database, { name: `home ${++homes}` });
      const deviceId = devices[0]!;
      const row = { userId, deviceId, ecosystem, sealedToken: "…", state: "live", reason: "", owner } as const;
      const rest = { blindness: null, confirmedMs: 1, indexMap: "{}", notices: "[]" };
      await database.transaction(async (tx) => {
        await tx.links.add({ ...row, ...rest });
        await tx.feedAccounts.set({ userId, deviceId }, ecosystem, account);
      });
      return { userId, deviceId, ecosystem, ownership: { owner, epoch: 1 } };
    },
    async node(name: string) {
      const id = name as NodeId;
      let isDead = false;
      const never = new Promise<never>(() => undefined);
      const store: Store = {
        isShared: true,
        transaction: (body, priority) => (isDead ? never : database.transaction(body, priority)),
        read: (body) => (isDead ? never : database.read(body)),
      };
      const membership = new Membership(id, store, runtime);
      await membership.start();
      let receiver: FeedReceiver | undefined;
      const counts: Record<string, number> = {};
      const reached: LimitName[] = [];
      const inbox = new FeedInbox({ store, nodeId: id, runtime });
      const puller = new FeedPuller({
        ecosystem,
        feed: {
          pull: (receiving, signal) => {
            receiver = receiving;
            return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
          },
        },
        store,
        membership,
        runtime,
        stored: () => inbox.wake(),
        count: (outcome, messages) => {
          if (messages > 0) counts[outcome] = (counts[outcome] ?? 0) + messages;
        },
        onLimitReached: (limit) => void reached.push(limit),
      });
      await puller.start();
      stops.push(async () => {
        if (isDead) return;
        await Promise.all([puller.stop(), inbox.stop()]);
        await membership.stop();
      });
      return {
        id,
        inbox,
        puller,
        counts,
        reached,
        receiver: () => receiver,
        kill: () => {
          isDead = true;
        },
      };
    },
  };
}
