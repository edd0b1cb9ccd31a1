import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { NotFederated, UnknownEcosystem } from "../../src/model/errors.ts";
import { heartbeat } from "../../src/nodes/membership.ts";
import { plain } from "../contracts/store/home.ts";
import { homeWith, many, structure } from "../home/home-parts.ts";
import { madeFederation, otherNode } from "./made-federation.ts";
import { home } from "./made-homes.ts";
import { flushPromises, noonMs } from "./manual-runtime.ts";
import { followBy } from "./stored-links.ts";

describe("the status of a link", () => {
  it("of a new link is waiting, with a blind interval that began when the ecosystem accepted its token", async (t) => {
    const { federation, userId, link } = await madeFederation(t);
    const deviceId = await link();
    assert.deepEqual(await federation.status(userId, "Nest"), {
      deviceId,
      ecosystem: "nest",
      state: "waiting",
      reason: "just linked",
      isPresent: false,
      isStale: true,
      confirmedTimeMs: noonMs,
      overLimit: { structures: 0, thermostats: 0, alarms: 0 },
      oddities: { incomplete: 0, unknownAlarmStates: 0, unknownAwayStates: 0, strayAlarms: 0, partialPuts: 0 },
      drifts: 0,
      blindIntervals: [{ fromMs: noonMs, toMs: null, cause: "just linked" }],
    });
  });

  it("shows that a blind interval ends when the link is live, and a new one begins when the stream ends", async (t) => {
    const { federation, userId, runtime, connector, linkLive } = await madeFederation(t);
    await linkLive();
    const live = await federation.status(userId, "nest");
    assert.deepEqual([live.state, live.isPresent], ["live", true]);
    assert.deepEqual(live.blindIntervals.map(plain), [{ fromMs: noonMs, toMs: noonMs, cause: "just linked" }]);
    await runtime.advance(60_000);
    connector.stream.ends("closed", "bye");
    await flushPromises();
    const waiting = await federation.status(userId, "nest");
    assert.deepEqual([waiting.state, waiting.reason, waiting.isPresent], ["waiting", "closed: bye", false]);
    assert.deepEqual(waiting.blindIntervals.map(plain), [
      { fromMs: noonMs, toMs: noonMs, cause: "just linked" },
      { fromMs: noonMs + 60_000, toMs: null, cause: "closed: bye" },
    ]);
  });

  it("says that a live link is read more slowly, and the node counts such links until the stream ends", async (t) => {
    const { federation, userId, connector, linkLive } = await madeFederation(t);
    await linkLive();
    const slowed = async () => {
      const { state, reason } = await federation.status(userId, "nest");
      return [state, reason, federation.tally().slowed];
    };
    assert.deepEqual(await slowed(), ["live", "", 0]);
    connector.stream.isReadMoreSlowly(true);
    assert.deepEqual(await slowed(), ["live", "its home sends more than its share, so it is read more slowly", 1]);
    connector.stream.ends("closed", "bye");
    await flushPromises();
    assert.deepEqual(await slowed(), ["waiting", "closed: bye", 0]);
  });

  it("is waiting while a stream that is open leaves its home in doubt, and live again with the stream's word", async (t) => {
    const { federation, userId, connector, linkLive, runtime } = await madeFederation(t);
    await linkLive();
    const status = async () => {
      const { state, reason, blindIntervals } = await federation.status(userId, "nest");
      return [state, reason, blindIntervals.length];
    };
    await runtime.advance(60_000);
    connector.stream.isDoubtful({ reason: "no list yet", forMs: 15_000 });
    assert.deepEqual(await status(), ["waiting", "no list yet", 2]);
    connector.stream.brings(home({ name: "New" }));
    await flushPromises();
    await runtime.advance(1_000);
    assert.deepEqual(await status(), ["waiting", "no list yet", 2], "other changes do not settle it");
    connector.stream.isDoubtful(undefined);
    // The end of the interval is stored a little later.
    while ((await status())[0] === "waiting" || (await status())[2] !== 2) await flushPromises();
    assert.deepEqual(await status(), ["live", "", 2]);
    const { blindIntervals } = await federation.status(userId, "nest");
    assert.equal(blindIntervals.at(-1)!.fromMs, noonMs + 45_000);
    connector.stream.isDoubtful({ reason: "no list yet", forMs: 15_000 });
    connector.stream.ends("closed", "bye");
    await flushPromises();
    await runtime.advance(5_000);
    connector.stream.brings(home());
    // The next stream is not in doubt.
    while ((await status())[0] === "waiting") await flushPromises();
  });

  it("does not begin with a new share of CPU on each stream", async (t) => {
    const { connector, linkLive, runtime } = await madeFederation(t);
    await linkLive();
    const { cpuShare } = connector.stream;
    connector.stream.ends("closed", "bye");
    await flushPromises();
    await runtime.advance(60_000);
    assert.equal(connector.streams.length, 2);
    assert.ok(cpuShare && connector.stream.cpuShare === cpuShare);
  });

  it("on the owner node shows a state that the node could not store yet", async (t) => {
    const { federation, store, connection, userId, connector, linkLive } = await madeFederation(t);
    const deviceId = await linkLive();
    connection.isDown = true;
    connector.stream.ends("unauthorized", "the ecosystem revoked the token");
    await flushPromises();
    assert.equal((await federation.status(userId, "nest")).state, "needs_reauth");
    assert.equal((await store.read((tx) => tx.links.ofDevice(userId, deviceId)))?.state, "live");
  });

  it("on any other node is the stored status", async (t) => {
    const { federation, store, userId, linkLive } = await madeFederation(t, { isShared: true });
    const deviceId = await linkLive();
    const blindness = { sinceMs: noonMs + 5_000, cause: "silent: nothing was heard for too long" };
    await store.transaction(async (tx) => {
      await tx.nodes.beat(otherNode);
      await tx.links.takeOver(userId, deviceId, otherNode);
      await tx.links.setState(userId, deviceId, { state: "waiting", reason: "unreachable: refused", blindness });
    });
    await federation.keeper.drop(deviceId);
    const status = await federation.status(userId, "nest");
    assert.deepEqual([status.state, status.reason], ["waiting", "unreachable: refused"]);
    assert.deepEqual(status.blindIntervals.at(-1), { fromMs: blindness.sinceMs, toMs: null, cause: blindness.cause });
  });

  it("is waiting after a takeover, blind since the last confirmation, until the new owner has a stream", async (t) => {
    const { federation, store, userId, linkLive } = await madeFederation(t, { isShared: true });
    const deviceId = await linkLive();
    await store.transaction(async (tx) => {
      await tx.nodes.beat(otherNode);
      await tx.links.takeOver(userId, deviceId, otherNode);
    });
    await federation.keeper.drop(deviceId);
    const { state, reason, isPresent, isStale, blindIntervals } = await federation.status(userId, "nest");
    assert.deepEqual([state, reason, isPresent, isStale], ["waiting", "starting", false, true]);
    assert.deepEqual(blindIntervals.at(-1), { fromMs: noonMs, toMs: null, cause: "not followed by any node" });
  });

  it("is waiting while the owner is dead and no node has claimed the link yet", async (t) => {
    const { federation, store, runtime, userId, linkLive } = await madeFederation(t, { isShared: true });
    const deviceId = await linkLive();
    await followBy(store, otherNode, userId, deviceId);
    await federation.keeper.drop(deviceId);
    assert.equal((await federation.status(userId, "nest")).state, "live");
    await runtime.advance(heartbeat.leaseMs);
    const { state, reason, blindIntervals } = await federation.status(userId, "nest");
    assert.deepEqual([state, reason], ["waiting", "no service follows this link"]);
    assert.deepEqual(blindIntervals.at(-1), { fromMs: noonMs, toMs: null, cause: "not followed by any node" });
    assert.equal((await store.read((tx) => tx.links.ofDevice(userId, deviceId)))?.state, "live");
  });

  it("counts drifts", async (t) => {
    const { federation, userId, runtime, connector, linkLive } = await madeFederation(t);
    await linkLive();
    await runtime.advance(11 * 60_000);
    connector.lastRead.resolve(home({ away: "away" }));
    const drifts = async () => (await federation.status(userId, "nest")).drifts;
    while ((await drifts()) === 0) await flushPromises();
    assert.equal(await drifts(), 1);
  });

  it("counts the structures that have no slot", async (t) => {
    const { federation, userId, link } = await madeFederation(t);
    await link(homeWith({ structures: many(3, "s", () => structure()) }));
    assert.equal((await federation.status(userId, "nest")).overLimit.structures, 1);
  });

  it("is refused for a user without a link, and for an unknown ecosystem", async (t) => {
    const { federation, userId } = await madeFederation(t);
    await assert.rejects(federation.status(userId, "nest"), NotFederated);
    await assert.rejects(federation.status(userId, "hive"), UnknownEcosystem);
  });
});
