import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { DeploymentFeed, type FeedParts, longestHoldMs } from "../../../src/ecosystems/kit/deployment-feed.ts";
import { type LimitName, limits } from "../../../src/model/limits.ts";
import { type MovedRuntime, movedRuntime, settled } from "../../federation/moved-runtime.ts";

describe("a feed of the whole deployment", () => {
  let runtime: MovedRuntime;
  let reached: LimitName[];
  let failures: unknown[];
  /** What the ecosystem got back: `+` acknowledged, `-` given back. */
  let answers: string[];
  let feed: DeploymentFeed<string>;

  const start = (parts: Partial<FeedParts<string>> = {}) => {
    const onLimitReached = (limit: LimitName) => void reached.push(limit);
    const failed = (error: unknown) => void failures.push(error);
    feed = new DeploymentFeed({ runtime, onLimitReached, failed, storeForOtherNode: async () => false, ...parts });
  };
  const send = (externalUserId: string, content: string) =>
    feed.take({
      externalUserId,
      content,
      acknowledge: () => void answers.push(`+${content}`),
      giveBack: () => void answers.push(`-${content}`),
    });
  /** A handler whose messages wait until the test lets them go. */
  const held = () => {
    const begun: { readonly content: string; finish(): void; fail(error: Error): void; signal: AbortSignal }[] = [];
    const handle = (content: string, signal: AbortSignal) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      begun.push({ content, finish: resolve, fail: reject, signal });
      return promise;
    };
    return { begun, handle };
  };

  beforeEach(() => {
    runtime = movedRuntime();
    [reached, failures, answers] = [[], [], []];
    start();
  });

  it("acknowledges a message when its link's handler has resolved, and not before", async () => {
    const ada = held();
    feed.register("ada", ada.handle);
    const taken = send("ada", "one");
    await settled();
    assert.deepEqual([ada.begun.map(({ content }) => content), answers], [["one"], []]);
    ada.begun[0]!.finish();
    await taken;
    assert.deepEqual([answers, feed.counts.handled, runtime.timers], [["+one"], 1, 0]);
  });

  it("hands a link its messages one after the other, and other links theirs meanwhile", async () => {
    const [ada, bob] = [held(), held()];
    feed.register("ada", ada.handle);
    feed.register("bob", bob.handle);
    for (const content of ["a1", "a2"]) void send("ada", content);
    void send("bob", "b1");
    await settled();
    bob.begun[0]!.finish();
    await settled();
    assert.deepEqual([ada.begun.length, answers], [1, ["+b1"]]);
    ada.begun[0]!.finish();
    await settled();
    ada.begun[1]!.finish();
    await settled();
    assert.deepEqual(answers, ["+b1", "+a1", "+a2"]);
  });

  it("acknowledges a message of an unknown user, and counts it", async () => {
    await send("nobody", "one");
    assert.deepEqual(answers, ["+one"]);
    assert.deepEqual(feed.counts, { handled: 0, givenBack: 0, unknownUsers: 1 });
  });

  it("stores a message for the node that follows the link before it acknowledges it", async () => {
    const storing = Promise.withResolvers<boolean>();
    const stored: string[] = [];
    start({
      storeForOtherNode: (externalUserId, content) => {
        stored.push(`${externalUserId} ${content}`);
        return storing.promise;
      },
    });
    feed.register("ada", async () => {});
    await send("ada", "here");
    const taken = send("bob", "elsewhere");
    await settled();
    assert.deepEqual([stored, answers], [["bob elsewhere"], ["+here"]]);
    storing.resolve(true);
    await taken;
    assert.deepEqual([answers, feed.counts.unknownUsers], [["+here", "+elsewhere"], 0]);
    start({ storeForOtherNode: () => Promise.reject(new Error("no store")) });
    await send("bob", "lost");
    assert.deepEqual([answers.at(-1), failures.length], ["-lost", 1]);
  });

  it("hands a message to all links of the account, and acknowledges it after the last", async () => {
    const [first, second] = [held(), held()];
    feed.register("ada", first.handle);
    const end = feed.register("ada", second.handle);
    void send("ada", "one");
    await settled();
    first.begun[0]!.finish();
    await settled();
    assert.deepEqual(answers, []);
    second.begun[0]!.finish();
    await settled();
    assert.deepEqual(answers, ["+one"]);
    end();
    void send("ada", "two");
    await settled();
    assert.deepEqual([first.begun.length, second.begun.length], [2, 1]);
  });

  it("gives a message back when the handler fails, and goes on with the next; a message may come again", async () => {
    const ada = held();
    feed.register("ada", ada.handle);
    void send("ada", "one");
    void send("ada", "two");
    await settled();
    const error = new Error("no store");
    ada.begun[0]!.fail(error);
    await settled();
    ada.begun[1]!.finish();
    void send("ada", "one");
    await settled();
    ada.begun[2]!.finish();
    await settled();
    assert.deepEqual([answers, failures], [["-one", "+two", "+one"], [error]]);
  });

  it("gives messages of a stuck link back in time, also those that wait, and never runs two at once", async () => {
    const ada = held();
    feed.register("ada", ada.handle);
    void send("ada", "one");
    await runtime.advance(longestHoldMs - 1_000);
    void send("ada", "two");
    await runtime.advance(999);
    assert.deepEqual(answers, []);
    await runtime.advance(1);
    assert.deepEqual([answers, ada.begun[0]!.signal.aborted], [["-one"], true]);
    await runtime.advance(longestHoldMs - 1_000);
    assert.deepEqual([answers, ada.begun.length, failures], [["-one", "-two"], 1, []]);
    ada.begun[0]!.finish();
    void send("ada", "three");
    await settled();
    assert.deepEqual(
      ada.begun.map(({ content }) => content),
      ["one", "three"],
    );
  });

  it("holds a bounded number of messages of one link, and gives the rest back at once", async () => {
    const [ada, bob] = [held(), held()];
    feed.register("ada", ada.handle);
    feed.register("bob", bob.handle);
    for (let i = 0; i < limits.feedMessagesPerLink; i += 1) void send("ada", `a${i}`);
    void send("ada", "more");
    void send("bob", "b");
    await settled();
    assert.deepEqual([answers, reached, bob.begun.length], [["-more"], ["feedMessagesPerLink"], 1]);
    ada.begun[0]!.finish();
    await settled();
    void send("ada", "again");
    await settled();
    assert.deepEqual(answers, ["-more", "+a0"]);
  });

  it("holds a bounded number of messages in all", async () => {
    start({ storeForOtherNode: () => new Promise(() => {}) });
    for (let i = 0; i <= limits.feedMessages; i += 1) void send(`user ${i}`, String(i));
    await settled();
    assert.deepEqual([answers, reached], [[`-${limits.feedMessages}`], ["feedMessages"]]);
  });

  it("gives back what waits for a link that has ended", async () => {
    const ada = held();
    const end = feed.register("ada", ada.handle);
    void send("ada", "one");
    void send("ada", "two");
    await settled();
    end();
    ada.begun[0]!.finish();
    await settled();
    assert.deepEqual([answers, ada.begun.length, failures], [["+one", "-two"], 1, []]);
    await send("ada", "three");
    assert.equal(feed.counts.unknownUsers, 1);
  });

  it("gives everything back when it stops, and takes nothing more", async () => {
    const ada = held();
    feed.register("ada", ada.handle);
    void send("ada", "one");
    await settled();
    await feed.stop();
    assert.deepEqual([answers, ada.begun[0]!.signal.aborted, runtime.timers], [["-one"], true, 0]);
    await send("ada", "two");
    assert.deepEqual([answers, ada.begun.length], [["-one", "-two"], 1]);
  });

  it("survives a lost connection to the ecosystem", async () => {
    const lost = new Error("lost");
    const acknowledge = () => {
      throw lost;
    };
    await feed.take({ externalUserId: "ada", content: "one", acknowledge, giveBack: acknowledge });
    assert.deepEqual(failures, [lost]);
  });
});
