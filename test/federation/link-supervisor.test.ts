import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Home } from "../../src/home/home.ts";
import { madeFederation, otherNode, thisNode } from "./made-federation.ts";
import { home } from "./made-homes.ts";
import { flushPromises } from "./manual-runtime.ts";
import { storeLinks } from "./stored-links.ts";

const minuteMs = 60_000;
const tokenReason = "its token can't be opened with the keys of this node";

describe("a link whose token can't be opened", () => {
  it("waits with the reason, and keeps none of the links behind it from being followed", async (t) => {
    let hasKey = false;
    let tries = 0;
    const openToken = (sealed: string) => {
      if (sealed !== "sealed 1") return sealed;
      tries += 1;
      if (!hasKey) throw new Error("a value was sealed with key abc, this process has def");
      return sealed;
    };
    const { federation, connector, store, runtime, faults } = await madeFederation(t, { openToken });
    const [locked, ...others] = await storeLinks(store, 20, () => ({}));
    await federation.start();
    await runtime.advance(1_000);
    assert.equal(connector.streams.length, 19);
    assert.ok(others.every(({ deviceId }) => federation.keeper.standing(deviceId)?.reason === "starting"));
    const status = await federation.status(locked!.userId, "nest");
    assert.deepEqual([status.state, status.reason, status.isPresent], ["waiting", tokenReason, false]);
    assert.equal(status.blindIntervals.at(-1)?.toMs, null);
    assert.deepEqual(federation.tally().paused, { error: 0, token: 1 });
    assert.equal((await store.read((tx) => tx.links.ofUser(locked!.userId)))[0]?.reason, tokenReason);

    await runtime.advance(60 * minuteMs);
    assert.ok(tries > 100 && tries <= 122, `${tries} tries in an hour`);
    assert.equal(faults.filter((kind) => kind === "token").length, tries);
    const reports = runtime.logLines.filter(({ level }) => level === "error");
    assert.deepEqual(
      reports.map(({ fields }) => (fields as { failures: number }).failures),
      [1, 2, 4, 8, 16, 32, 64],
    );

    hasKey = true;
    const before = connector.streams.length;
    await runtime.advance(30_000);
    assert.equal(connector.streams.length, before + 1, "the key file holds the key now");
    assert.deepEqual(federation.tally().paused, { error: 0, token: 0 });
  });

  it("is followed at once when its user links again", async (t) => {
    const openToken = (sealed: string) => {
      if (sealed === "sealed 1") throw new Error("a sealed value has an unknown form");
      return sealed;
    };
    const { federation, connector, store, runtime } = await madeFederation(t, { openToken });
    const [locked] = await storeLinks(store, 1, () => ({}));
    await federation.start();
    assert.equal(connector.streams.length, 0);
    const linked = federation.relink(locked!.userId, "nest", "c.new");
    while (connector.reads.length === 0) await flushPromises();
    connector.lastRead.resolve(home());
    await linked;
    await runtime.advance(10);
    assert.equal(connector.streams.length, 1);
  });

  it("can be unlinked: its token is removed, not revoked", async (t) => {
    const openToken = () => {
      throw new Error("a sealed value was touched");
    };
    const { federation, store } = await madeFederation(t, { openToken });
    const [locked] = await storeLinks(store, 1, () => ({}));
    await federation.start();
    const { isTokenRevoked } = await federation.unlink(locked!.userId, "nest");
    assert.equal(isTokenRevoked, false);
    await assert.rejects(federation.status(locked!.userId, "nest"), { code: "not_federated" });
  });

  it("stays in need of a new token when that is what it needed before", async (t) => {
    const openToken = () => {
      throw new Error("a sealed value was touched");
    };
    const { federation, store } = await madeFederation(t, { openToken });
    const [refused] = await storeLinks(store, 1, () => ({ state: "needs_reauth", reason: "revoked" }));
    await federation.start();
    assert.equal(federation.keeper.standing(refused!.deviceId)?.state, "needs_reauth");
  });
});

describe("a link whose stored rows can't be read", () => {
  it("is paused with growing pauses, up to five minutes, and the link beside it is live", async (t) => {
    const { federation, connector, store, runtime } = await madeFederation(t);
    const [broken, sound] = await storeLinks(store, 2, (number) => (number === 1 ? { indexMap: '[0,[["' } : {}));
    await federation.start();
    const reasons = new Set<string>();
    for (let seconds = 0; seconds < 30 * 60; seconds++) {
      for (const stream of connector.streams.splice(0)) if (stream.isOpen) stream.brings(home());
      await runtime.advance(1_000);
      const { state, reason } = federation.keeper.standing(broken!.deviceId)!;
      assert.equal(state, "waiting");
      if (reason !== "starting") reasons.add(reason);
    }
    const pauses = [...reasons].map((reason) => Number(/next try in (\d+) s/.exec(reason)?.[1]));
    assert.deepEqual(pauses.slice(0, 10), [1, 2, 4, 8, 16, 32, 64, 128, 256, 300]);
    assert.equal(federation.keeper.standing(sound!.deviceId)?.state, "live");
    assert.equal((await store.read((tx) => tx.blindIntervals.ofDevice(sound!.userId, sound!.deviceId))).length, 1);
  });

  it("has a status though its notices are broken, which the next snapshot replaces", async (t) => {
    const { federation, connector, store } = await madeFederation(t);
    const [broken] = await storeLinks(store, 1, () => ({ notices: "{" }));
    await federation.start();
    while (connector.streams.length === 0) await flushPromises();
    const { overLimit, reason } = await federation.status(broken!.userId, "nest");
    assert.deepEqual([overLimit.structures, reason], [0, "starting"]);
    connector.stream.brings(home());
    const notices = async () => (await store.read((tx) => tx.links.ofUser(broken!.userId)))[0]!.notices;
    while ((await notices()) === "{") await flushPromises();
    assert.equal((await federation.status(broken!.userId, "nest")).reason, "");
  });
});

describe("a link that was paused by a fault", () => {
  const hostile = (): Home =>
    Object.defineProperty({ ...home({ away: "away" }) }, "structures", {
      get() {
        throw new TypeError("hostile");
      },
    });

  it("shows and stores why, with an id that finds the error in the log, and no blind second is missing", async (t) => {
    const { linkLive, connector, runtime, federation, userId, store, faults } = await madeFederation(t);
    const deviceId = await linkLive();
    await runtime.advance(minuteMs);
    const pausedMs = runtime.nowMs();
    connector.follow = () => {
      throw new TypeError("a mistake");
    };
    connector.stream.ends("closed", "bye");
    await runtime.advance(connector.pauseBetweenMs);
    const { reason, blindIntervals } = await federation.status(userId, "nest");
    const [, errorId] = /^paused after an internal error; next try in 1 s \(error id ([0-9a-f]{8})\)$/.exec(reason)!;
    const reported = runtime.logLines.find(({ level }) => level === "error")!;
    assert.equal((reported.fields as { errorId: string }).errorId, errorId);
    assert.equal(reported.sentence, "an internal error paused the link");
    assert.deepEqual(faults, ["stream"]);
    assert.deepEqual(blindIntervals.at(-1), { fromMs: pausedMs, toMs: null, cause: "closed: bye" });
    const stored = async () => (await store.read((tx) => tx.links.ofDevice(userId, deviceId)))?.reason;
    while ((await stored()) !== reason) await flushPromises();
  });

  it("does not look live when its pause could not be recorded", async (t) => {
    const { linkLive, connector, runtime, federation, membership } = await madeFederation(t);
    const deviceId = await linkLive();
    const { confirmedMs } = federation.keeper.supervisor(deviceId)!;
    await runtime.advance(minuteMs);
    const clock = t.mock.method(membership, "nowMs", () => {
      throw new TypeError("no clock");
    });
    connector.stream.brings(home({ away: "away" }));
    await flushPromises();
    clock.mock.restore();
    const { state, reason, blindness } = federation.keeper.standing(deviceId)!;
    assert.equal(state, "waiting");
    assert.match(reason, /^paused after an internal error/);
    assert.deepEqual(blindness, { sinceMs: confirmedMs, cause: reason });
  });

  it("logs no error that quotes its token", async (t) => {
    const { linkLive, connector, runtime } = await madeFederation(t);
    await linkLive();
    connector.follow = () => Promise.reject(new TypeError("outer", { cause: new Error("no route for c.token") }));
    connector.stream.ends("closed", "bye");
    await runtime.advance(connector.pauseBetweenMs);
    const { fields } = runtime.logLines.find(({ level }) => level === "error")!;
    const { error } = fields as { error: Error };
    assert.equal(error.message, "TypeError (its text held the token and is withheld)");
    assert.equal(error.cause, undefined);
  });

  it("begins with short pauses again after a long time without faults", async (t) => {
    const { linkLive, connector, runtime, federation, userId, bringLive } = await madeFederation(t);
    await linkLive();
    const reasons: string[] = [];
    for (const wellMs of [0, 0, 11 * minuteMs]) {
      for (let ms = 0; ms < wellMs; ms += minuteMs) {
        connector.stream.repeats();
        await runtime.advance(minuteMs);
      }
      connector.stream.brings(hostile());
      const paused = () => federation.tally().paused.error === 1;
      while (!paused()) await runtime.advance(100);
      reasons.push((await federation.status(userId, "nest")).reason.split(" (")[0]!);
      const streams = connector.streams.length;
      while (connector.streams.length === streams) await runtime.advance(100);
      await bringLive();
    }
    assert.deepEqual(
      reasons.map((reason) => reason.replace("paused after an internal error; next try in ", "")),
      ["1 s", "2 s", "1 s"],
    );
  });

  it("is stopped without another try", async (t) => {
    const { linkLive, connector, runtime, federation } = await madeFederation(t);
    await linkLive();
    connector.stream.brings(hostile());
    while (federation.tally().paused.error === 0) await runtime.advance(100);
    await federation.stop();
    const streams = connector.streams.length;
    await runtime.advance(10 * minuteMs);
    assert.equal(connector.streams.length, streams);
  });
});

describe("a link that came back to this node with another epoch", () => {
  it("is followed with the new epoch, though the node never saw it absent", async (t) => {
    const { linkLive, connector, federation, store, runtime, userId } = await madeFederation(t, {
      isShared: true,
    });
    await federation.start();
    const deviceId = await linkLive();
    const held = connector.stream;
    await store.transaction((tx) => tx.links.takeOver(userId, deviceId, otherNode));
    const back = await store.transaction((tx) => tx.links.takeOver(userId, deviceId, thisNode));
    const before = federation.keeper.supervisor(deviceId)!.link.ownership.epoch;
    assert.notEqual(back?.epoch, before);
    federation.keeper.wake();
    for (let turn = 0; held.isOpen && turn < 200; turn++) await runtime.advance(5);
    assert.equal(held.isOpen, false, "the stream of the lost epoch has ended");
    assert.equal(federation.keeper.supervisor(deviceId)?.link.ownership.epoch, back?.epoch);
  });
});
