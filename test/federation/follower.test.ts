import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { ConnectionRateLimiter } from "../../src/federation/admission.ts";
import { Follower } from "../../src/federation/follower.ts";
import { Lane } from "../../src/federation/lane.ts";
import { LinkRecord } from "../../src/federation/link-record.ts";
import { SampleTurns } from "../../src/federation/sample-turns.ts";
import { EcosystemRefused, EcosystemUnreachable, StoreUnavailable } from "../../src/model/errors.ts";
import type { BlindInterval } from "../../src/store/tables/blind-intervals.ts";
import type { LinkRow } from "../../src/store/tables/links.ts";
import { plainThingIds } from "../home/thing-ids.ts";
import { HeldStore } from "./held-store.ts";
import { lastingToken } from "./lasting-token.ts";
import { home } from "./made-homes.ts";
import { adasLink, linkRow } from "./made-links.ts";
import { flushPromises, type ManualRuntime, manualRuntime, noonMs } from "./manual-runtime.ts";
import { ScriptedConnector } from "./scripted-connector.ts";

const minuteMs = 60_000;

describe("a follower", () => {
  let runtime: ManualRuntime;
  let connector: ScriptedConnector;
  let store: HeldStore;
  let record: LinkRecord;
  let lane: Lane;
  let blindIntervals: BlindInterval[];
  let stopping: AbortController;
  let follower: Follower;
  let faults: { readonly kind: string; readonly error: unknown }[];

  beforeEach(() => begin());

  /** Creates a follower of a link that was confirmed an hour ago, with its lane and record, before its first stream. */
  function begin(row: Partial<LinkRow> = {}): void {
    runtime = manualRuntime();
    connector = new ScriptedConnector();
    store = new HeldStore();
    const mirrored = store.fill(home());
    blindIntervals = [];
    stopping = new AbortController();
    faults = [];
    const failed = (kind: string, error: unknown) => void faults.push({ kind, error });
    const { signal } = stopping;
    const write = async (_: unknown, ended: readonly BlindInterval[]) => void blindIntervals.push(...ended);
    const recordParts = { link: adasLink, write, runtime, uncertaintyMs: () => 0, signal };
    record = new LinkRecord({ ...recordParts, failed: (error) => failed("record", error) }, linkRow(row));
    lane = new Lane(
      {
        link: adasLink,
        commit: store.commit,
        load: store.load,
        thingIdOf: plainThingIds,
        sampleTurns: new SampleTurns(runtime),
        stored: (account, hasChanged) => follower.stored(account, hasChanged),
        snapshotDropped: (sinceMs) => record.snapshotDropped(sinceMs, "the store was too slow"),
        lost: () => void follower.stop(),
        failed: (error) => failed("snapshot", error),
        runtime,
      },
      mirrored,
    );
    const admission = new ConnectionRateLimiter(runtime);
    const parts = {
      credential: lastingToken("c.token"),
      connector,
      lane,
      record,
      admission,
      runtime,
      stopping,
      failed,
      slowed: () => undefined,
      storedThings: async () => new Map(),
    };
    follower = new Follower(parts, noonMs - 60 * minuteMs);
  }

  /** Starts the follower and its stream, which sends the unchanged home. */
  async function live(): Promise<void> {
    follower.start();
    await flushPromises();
    connector.stream.brings(home());
    await flushPromises();
    assert.ok(follower.isLive);
  }

  /** Lets the quiet minutes pass until the second look, and answers that read. */
  async function look(account = home()): Promise<void> {
    const before = connector.reads.length;
    await runtime.advance(10 * minuteMs);
    assert.equal(connector.reads.length, before + 1);
    connector.lastRead.resolve(account);
    await flushPromises();
  }

  const standing = () => [record.standing.state, record.standing.reason];

  describe("makes its link live", () => {
    it("when an account of the stream is stored, not before", async () => {
      store.isHeld = true;
      follower.start();
      await flushPromises();
      assert.equal(connector.streams.length, 1);
      assert.equal(follower.isLive, false, "an open stream has told nothing yet");
      connector.stream.brings(home({ away: "away" }));
      await flushPromises();
      assert.equal(follower.isLive, false, "what was received is not stored yet");
      await store.completeAll();
      assert.equal(follower.isLive, true);
    });

    it("as of when the account was received, by a clock that was corrected while it waited for the store", async () => {
      store.isHeld = true;
      follower.start();
      await flushPromises();
      connector.stream.brings(home({ away: "away" }));
      await runtime.advance(2_000);
      runtime.jump(500);
      await store.completeAll();
      assert.equal(follower.confirmedMs, noonMs + 500);
      assert.deepEqual(
        blindIntervals.map(({ toMs }) => toMs),
        [noonMs + 500],
      );
    });

    it("by an account in which nothing has changed", async () => {
      await live();
      assert.deepEqual(store.requests, []);
    });

    it("not by an account of a stream that has ended meanwhile", async () => {
      store.isHeld = true;
      follower.start();
      await flushPromises();
      connector.stream.brings(home({ away: "away" }));
      connector.stream.ends("closed", "bye");
      await flushPromises();
      await store.completeAll();
      assert.deepEqual(standing(), ["waiting", "closed: bye"]);
      await runtime.advance(5_000);
      assert.equal(connector.streams.length, 2);
      assert.equal(follower.isLive, false, "the second stream has brought nothing yet");
    });

    it("not by a read for a command while the stream has sent nothing: events before its first one can be missed", async () => {
      follower.start();
      await flushPromises();
      follower.readSoon();
      await runtime.advance(2_200);
      for (const read of connector.reads) read.resolve(home());
      await flushPromises();
      assert.equal(follower.isLive, false);
      connector.stream.brings(home());
      await flushPromises();
      assert.equal(follower.isLive, true);
      connector.stream.ends("closed");
      await runtime.advance(5_000);
      assert.equal(connector.streams.length, 2);
      follower.readSoon();
      await runtime.advance(2_200);
      for (const read of connector.reads) read.resolve(home());
      await flushPromises();
      assert.equal(follower.isLive, false, "the same holds for the next stream");
    });

    it("not by a repeated account alone", async () => {
      follower.start();
      await flushPromises();
      connector.stream.repeats();
      await flushPromises();
      assert.equal(follower.isLive, false);
    });
  });

  describe("whose stream ends", () => {
    it("waits, records why, and connects again after the ecosystem's pause", async () => {
      await live();
      await runtime.advance(minuteMs);
      connector.stream.ends("closed", "the ecosystem ended the stream");
      await flushPromises();
      assert.deepEqual(standing(), ["waiting", "closed: the ecosystem ended the stream"]);
      await runtime.advance(4_999);
      assert.equal(connector.streams.length, 1);
      await runtime.advance(1);
      assert.equal(connector.streams.length, 2);
    });

    it("counts the time in which nothing was heard as blind", async () => {
      await live();
      await runtime.advance(5 * minuteMs);
      connector.stream.ends("silent", "nothing was heard for too long", 70_000);
      await flushPromises();
      assert.equal(record.standing.blindness?.sinceMs, noonMs + 5 * minuteMs - 70_000);
    });

    it("by a connector that throws against its contract, is a fault of the link", async () => {
      const mistake = new TypeError("oh");
      connector.follow = () => Promise.reject(mistake);
      follower.start();
      await flushPromises();
      assert.deepEqual(faults, [{ kind: "stream", error: mistake }]);
      await runtime.advance(10 * minuteMs);
      assert.equal(faults.length, 1, "the supervisor of the link decides when to try again");
    });

    it("to a connector that can't say how long to wait, is a fault of the link", async () => {
      await live();
      const mistake = new TypeError("a mistake");
      connector.pauseMs = () => {
        throw mistake;
      };
      connector.stream.ends("closed");
      await flushPromises();
      assert.deepEqual(faults, [{ kind: "stream", error: mistake }]);
    });

    it("because its token was revoked needs a new one, and connects no more", async () => {
      await live();
      connector.stream.ends("unauthorized", "the ecosystem revoked the token");
      await flushPromises();
      assert.deepEqual(standing(), ["needs_reauth", "the ecosystem revoked the token"]);
      await runtime.advance(24 * 60 * minuteMs);
      assert.deepEqual([connector.streams.length, connector.reads.length], [1, 0]);
      assert.equal(follower.isFollowingWith("c.token"), false);
    });

    it("ignores what that stream still sends", async () => {
      await live();
      const [stream] = connector.streams;
      stream!.ends("closed");
      await flushPromises();
      stream!.brings(home({ smoke: "emergency" }));
      stream!.repeats();
      await flushPromises();
      assert.deepEqual(store.requests, []);
    });
  });

  it("of a link that needs a new token does not start", async () => {
    begin({ state: "needs_reauth", reason: "revoked" });
    follower.start();
    await runtime.advance(60 * minuteMs);
    assert.equal(connector.streams.length, 0);
    await follower.stop();
  });

  describe("backs off", () => {
    const failures = () => connector.pauses.map((pause) => pause.failures);

    it("with growing pauses from streams that bring nothing", async () => {
      follower.start();
      for (let i = 0; i < 4; i++) {
        await runtime.advance(5_000);
        connector.stream.ends("unreachable");
        await flushPromises();
      }
      assert.deepEqual(failures(), [1, 2, 3, 4]);
    });

    it("from streams that bring an account and break at once", async () => {
      follower.start();
      for (let i = 0; i < 4; i++) {
        await runtime.advance(5_000);
        connector.stream.brings(home());
        await runtime.advance(99);
        connector.stream.ends("closed");
        await flushPromises();
      }
      assert.deepEqual(failures(), [1, 2, 3, 4]);
    });

    it("no longer once a stream has lived for a tenth of a second after its first account", async () => {
      follower.start();
      await flushPromises();
      for (const [silentMs, livedMs] of [
        [5_000, 0],
        [5_000, 99],
        [0, 100],
        [5_000, 0],
      ] as const) {
        await runtime.advance(silentMs);
        connector.stream.brings(home());
        await runtime.advance(livedMs);
        connector.stream.ends("closed");
        await runtime.advance(5_000);
      }
      assert.deepEqual(failures(), [1, 2, 0, 1]);
    });

    it("and is not fooled by a clock that was set forward", async () => {
      await live();
      runtime.jump(60 * minuteMs);
      connector.stream.ends("closed");
      await flushPromises();
      assert.deepEqual(failures(), [1]);
    });
  });

  describe("that takes a second look", () => {
    it("opens another stream after a drift, and counts it", async () => {
      await live();
      await look(home({ away: "away" }));
      assert.equal(follower.drifts, 1);
      assert.equal(connector.streams[0]!.isOpen, false);
      assert.deepEqual(standing(), ["waiting", "the stream kept back changes"]);
      assert.equal(runtime.logLines.filter(({ level }) => level === "warn").length, 1);
      await runtime.advance(5_000);
      assert.equal(connector.streams.length, 2);
      connector.stream.brings(home({ away: "away" }));
      await flushPromises();
      assert.ok(follower.isLive);
    });

    it("has been blind since the last confirmation after a drift", async () => {
      await live();
      await look();
      await look(home({ away: "away" }));
      await runtime.advance(5_000);
      connector.stream.brings(home({ away: "away" }));
      await flushPromises();
      const cause = "the stream kept back changes";
      const [fromMs, toMs] = [noonMs + 10 * minuteMs, noonMs + 20 * minuteMs + 5_000];
      assert.deepEqual(blindIntervals.at(-1), { fromMs, toMs, cause });
    });

    it("has been blind since the stream last sent something, although reads for a fan request found changes meanwhile", async () => {
      await live();
      await runtime.advance(minuteMs);
      connector.stream.repeats();
      await runtime.advance(minuteMs);
      follower.readSoon();
      await runtime.advance(2_200);
      connector.lastRead.resolve(home({ name: "Den" }));
      await flushPromises();
      assert.ok(follower.isLive && connector.stream.isOpen, "the stream may still send the change");
      await look(home({ name: "Den" }));
      await look(home({ name: "Den", away: "away" }));
      await runtime.advance(5_000);
      connector.stream.brings(home({ name: "Den", away: "away" }));
      await flushPromises();
      assert.equal(blindIntervals.at(-1)?.fromMs, noonMs + minuteMs);
    });

    it("has been blind since the last equal look after a drift, if the stream sent what a read had found before", async () => {
      await live();
      follower.readSoon();
      await runtime.advance(2_200);
      connector.lastRead.resolve(home({ name: "Den" }));
      await flushPromises();
      connector.stream.brings(home({ name: "Den" }));
      await flushPromises();
      await look(home({ name: "Den" }));
      await look(home({ name: "Den", away: "away" }));
      const { blindness } = record.standing;
      assert.equal(blindness?.sinceMs, noonMs + 2_200 + 10 * minuteMs);
    });

    it("has not been blind before its stream after a drift", async () => {
      await live();
      connector.stream.ends("closed");
      await runtime.advance(5_000);
      connector.stream.bringsPart();
      await runtime.advance(2_200);
      connector.lastRead.resolve(home());
      await flushPromises();
      const [{ toMs } = { toMs: 0 }] = blindIntervals.slice(-1);
      assert.ok(follower.isLive && toMs > noonMs);
      await look(home({ away: "away" }));
      assert.equal(record.standing.blindness?.sinceMs, toMs);
    });

    it("opens another stream after a drift though the connector keeps the first one", async () => {
      connector.ignoresSignals = true;
      await live();
      await look(home({ away: "away" }));
      await runtime.advance(5_000 + connector.pauseBetweenMs);
      assert.equal(connector.streams.length, 2);
      assert.equal(connector.pauses[0]?.end.reason, "stopped");
    });

    it("keeps a stream that had nothing to send", async () => {
      await live();
      await look();
      await look();
      assert.equal(follower.drifts, 0);
      assert.equal(connector.streams.length, 1);
      assert.ok(follower.isLive);
    });

    it("counts no drift when it completes an incomplete snapshot", async () => {
      await live();
      connector.stream.brings(home({ incomplete: 1 }));
      await runtime.advance(2_200);
      connector.lastRead.resolve(home({ away: "away" }));
      await flushPromises();
      assert.equal(store.requests.length, 2, "the look was stored");
      assert.equal(follower.drifts, 0);
      assert.ok(connector.stream.isOpen && follower.isLive);
    });

    it("counts no drift while the lane still waits for the store", async () => {
      await live();
      store.isHeld = true;
      connector.stream.brings(home({ name: "Den" }));
      connector.stream.brings(home({ name: "Lair" }));
      await look(home({ name: "Lair" }));
      await store.completeAll();
      assert.equal(follower.drifts, 0);
      assert.ok(connector.stream.isOpen && follower.isLive);
    });

    it("ends the stream when its token is refused; the next stream's end decides", async () => {
      await live();
      await runtime.advance(10 * minuteMs);
      connector.lastRead.reject(new EcosystemRefused("The token isn't good."));
      await flushPromises();
      assert.equal(connector.stream.isOpen, false);
      assert.deepEqual(standing(), ["waiting", "the token was refused"]);
      await runtime.advance(5_000);
      connector.stream.ends("unauthorized", "401");
      await flushPromises();
      assert.deepEqual(standing(), ["needs_reauth", "401"]);
    });

    it("has been blind since its token was refused, though the connector keeps the stream", async () => {
      connector.ignoresSignals = true;
      await live();
      await runtime.advance(10 * minuteMs);
      const refusedMs = runtime.nowMs();
      connector.lastRead.reject(new EcosystemRefused("The token isn't good."));
      await flushPromises();
      connector.stream.brings(home({ away: "away" }));
      await runtime.advance(5_000);
      assert.deepEqual(standing(), ["waiting", "the token was refused"]);
      assert.equal(record.standing.blindness?.sinceMs, refusedMs);
    });

    it("does so only while there is a stream", async () => {
      await live();
      connector.pauseBetweenMs = 60 * minuteMs;
      connector.stream.ends("closed");
      await runtime.advance(59 * minuteMs);
      assert.equal(connector.reads.length, 0);
    });
  });

  describe("is confirmed", () => {
    const confirmed = () => follower.confirmedMs - noonMs;

    it("as of when the stored account was received, not of when it was stored", async () => {
      store.isHeld = true;
      follower.start();
      await runtime.advance(3_000);
      connector.stream.brings(home({ away: "away" }));
      await runtime.advance(20_000);
      assert.equal(confirmed(), -60 * minuteMs);
      await store.completeAll();
      assert.equal(confirmed(), 3_000);
    });

    it("by a repeated account, and by a second look that found nothing new", async () => {
      await live();
      await runtime.advance(minuteMs);
      connector.stream.repeats();
      await flushPromises();
      assert.equal(confirmed(), minuteMs);
      await look();
      assert.equal(confirmed(), 11 * minuteMs);
    });

    it("by a repeated account only when the one before it is stored", async () => {
      await live();
      store.isHeld = true;
      connector.stream.brings(home({ away: "away" }));
      await runtime.advance(1_000);
      connector.stream.repeats();
      await flushPromises();
      assert.equal(confirmed(), 0);
      await store.completeAll();
      await flushPromises();
      assert.equal(confirmed(), 1_000);
    });

    it("not by a repeated account when the one before it was dropped", async () => {
      await live();
      store.isHeld = true;
      connector.stream.brings(home({ smoke: "emergency" }));
      await runtime.advance(1_000);
      connector.stream.repeats();
      await store.fail(new StoreUnavailable("down"));
      await follower.stop();
      assert.equal(confirmed(), 0);
    });

    it("by nothing else: not by time, an open stream, its end, or a failed second look", async () => {
      await live();
      await runtime.advance(10 * minuteMs);
      connector.lastRead.reject(new EcosystemUnreachable("unreachable"));
      await runtime.advance(5_000);
      connector.stream.ends("closed");
      await runtime.advance(10_000);
      assert.equal(connector.streams.length, 2);
      assert.equal(confirmed(), 0);
    });

    it("never to an earlier time, though the clock was set back", async () => {
      await live();
      runtime.jump(-60 * minuteMs);
      connector.stream.brings(home({ away: "away" }));
      connector.stream.repeats();
      await flushPromises();
      assert.equal(confirmed(), 0);
    });
  });

  describe("that is stopped", () => {
    it("ends its stream and its second looks, and connects no more", async () => {
      await live();
      await follower.stop();
      assert.equal(connector.stream.isOpen, false);
      assert.equal(runtime.timers, 0);
      await runtime.advance(60 * minuteMs);
      assert.deepEqual([connector.streams.length, connector.reads.length], [1, 0]);
    });

    it("while it waits for its turn or between streams does not wait for it", async () => {
      follower.start();
      await follower.stop();
      assert.ok(connector.streams.every(({ isOpen }) => !isOpen));
      begin();
      await live();
      connector.stream.ends("closed");
      await flushPromises();
      await follower.stop();
      assert.equal(runtime.timers, 0);
      assert.equal(connector.streams.length, 1);
    });

    it("waits for the running commit", async () => {
      await live();
      store.isHeld = true;
      connector.stream.brings(home({ smoke: "emergency" }));
      await flushPromises();
      const stopped = follower.stop();
      let isStopped = false;
      void stopped.then(() => {
        isStopped = true;
      });
      await flushPromises();
      assert.equal(isStopped, false);
      await store.complete();
      await stopped;
    });

    it("gives up a stream that goes on, and hears it no more", { timeout: 20_000 }, async () => {
      connector.ignoresSignals = true;
      await live();
      const stopped = follower.stop();
      await runtime.advance(5_000);
      await stopped;
      assert.ok(connector.stream.isOpen);
      connector.stream.brings(home({ smoke: "emergency" }));
      connector.stream.repeats();
      connector.stream.bringsPart();
      await flushPromises();
      assert.deepEqual([store.requests, faults, runtime.timers], [[], [], 0]);
    });

    it("is no longer a follower with its token", async () => {
      await live();
      assert.equal(follower.isFollowingWith("c.token"), true);
      assert.equal(follower.isFollowingWith("c.another"), false);
      await follower.stop();
      assert.equal(follower.isFollowingWith("c.token"), false);
    });
  });
});
