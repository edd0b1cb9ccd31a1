import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { admin } from "../oauth/oauth-world.ts";
import { eventually, longSuiteOn } from "../stories/world.ts";
import { EventStream } from "./event-stream.ts";
import { home, write } from "./made-home.ts";

for (const database of longSuiteOn("sqlite")) {
  describe(`a stream of events on ${database}`, () => {
    it("sends each change with its time and cause, blank as null", { timeout: 60_000 }, async (t) => {
      const { world, token, lamp, open } = await home(t, { database });
      const stream = await open();
      assert.equal(stream.answer.headers.get("content-type"), "text/event-stream; charset=utf-8");
      assert.equal(stream.answer.headers.get("cache-control"), "no-store");
      assert.equal(stream.answer.headers.get("x-accel-buffering"), "no");
      await write(world, token, lamp, { power: "on", level: 7 });
      await write(world, token, lamp, { power: null });
      const events = await stream.until(3);
      const { body } = await world.get(`/v3/devices/${lamp}?since=0`, token);
      const cause = { by: "client", user: world.userId };
      assert.deepEqual(
        events.map(({ data: { updateTime: _, ...data } }) => data),
        [
          { deviceId: lamp, name: "power", value: "on", cause },
          { deviceId: lamp, name: "level", value: "7", cause },
          { deviceId: lamp, name: "power", value: null, cause },
        ],
      );
      assert.equal(events[0]?.data.updateTime, events[1]?.data.updateTime);
      assert.equal(events[2]?.data.updateTime, body.attributes.power.updateTime);
      assert.deepEqual(
        events.map(({ name }) => name),
        ["attribute", "attribute", "attribute"],
      );
    });

    it("begins with an id, and resumes after any id without a gap or a repetition", { timeout: 60_000 }, async (t) => {
      const { world, token, lamp, open } = await home(t, { database });
      const first = await open();
      const [beginning] = await first.until(1, () => true);
      assert.equal(beginning?.name, "heartbeat");
      for (let i = 0; i < 5; i++) await write(world, token, lamp, { a: `a${i}`, b: `b${i}`, c: `c${i}` });
      const all = await first.until(15);
      first.close();
      await world.restart();
      for (const [i, { id }] of [beginning!, ...all].entries()) {
        const resumed = await open({ lastEventId: id });
        await write(world, token, lamp, { a: `more ${i}` });
        const isNew = ({ data }: { data: { value?: string } }) => data.value?.startsWith("more") === true;
        await resumed.until(1, (event) => isNew(event) && event.data.value === `more ${i}`);
        const missed = resumed.events.filter((event) => !isNew(event));
        assert.deepEqual(missed, all.slice(i), `after ${i} events`);
        resumed.close();
      }
      const ids = all.map(({ id }) => id);
      assert.equal(new Set(ids).size, ids.length);
    });

    it("accepts an id in the query as well", { timeout: 60_000 }, async (t) => {
      const { world, token, lamp, open } = await home(t, { database });
      const first = await open();
      await write(world, token, lamp, { a: "1" });
      const [event] = await first.until(1);
      await write(world, token, lamp, { a: "2" });
      const resumed = await open({ query: `?lastEventId=${event?.id}` });
      assert.equal((await resumed.until(1))[0]?.data.value, "2");
    });

    it("sends resync for an unknown id, and continues", { timeout: 60_000 }, async (t) => {
      const { world, token, lamp, open } = await home(t, { database });
      for (const lastEventId of ["nonsense", "zzzzzzzz-1", "0-0-0-0", "-", "1-01"]) {
        const stream = await open({ lastEventId });
        const [resync] = await stream.until(1);
        assert.deepEqual([resync?.name, resync?.data], ["resync", { reason: "unknown_id" }]);
        await write(world, token, lamp, { a: lastEventId });
        assert.equal((await stream.until(2))[1]?.data.value, lastEventId);
        const resumed = await open({ lastEventId: resync!.id });
        assert.equal((await resumed.until(1))[0]?.data.value, lastEventId);
      }
    });

    it("sends only what the filter selects, in the reader's spelling", { timeout: 60_000 }, async (t) => {
      const { world, token, lamp, open } = await home(t, { database });
      const other = await world.addDevice(world.userId, "Other lamp");
      const ofLamp = await open({ query: `?deviceId=${lamp}` });
      const ofPower = await open({ query: "?attribute=power" });
      const ofBoth = await open({ query: `?deviceId=${other}&attribute=power&attribute=level` });
      await write(world, token, lamp, { power: "on", level: "1" });
      await write(world, token, other, { power: "off", colour: "red", level: "2" });
      await write(world, token, lamp, { power: "end" });
      await write(world, token, other, { power: "end" });
      const shown = async (stream: EventStream, count: number) =>
        (await stream.until(count)).map(
          ({ data }) => `${data.deviceId === lamp ? "lamp" : "other"} ${data.name} ${data.value}`,
        );
      assert.deepEqual(await shown(ofLamp, 3), ["lamp power on", "lamp level 1", "lamp power end"]);
      assert.deepEqual(await shown(ofPower, 4), [
        "lamp power on",
        "other power off",
        "lamp power end",
        "other power end",
      ]);
      assert.deepEqual(await shown(ofBoth, 3), ["other power off", "other level 2", "other power end"]);
    });

    it("never sends events of another user's device, whatever the filter says", { timeout: 60_000 }, async (t) => {
      const { world, token, lamp, open } = await home(t, { database });
      const bob = { name: "bob", password: "another word" };
      const bobs = (await world.tokens(world.client, bob)).access_token;
      const bobsLamp = await world.addDevice(world.bobId, "Bob's lamp");
      const enterprise = await world.addClient({ kind: "enterprise" });
      const acme = (await world.tokens(enterprise, admin)).access_token;
      const stranger = await world.addClient({ tenant: "Other" });
      const strangers = (await world.tokens(stranger)).access_token;
      const strangersLamp = await world.addDevice(world.strangerId, "Far lamp");

      for (const foreign of [bobsLamp, strangersLamp, 999_999, "x"]) {
        const { status, body } = await world.get(`/v3/events?deviceId=${foreign}`, token);
        assert.deepEqual([status, body.error], [404, "unknown_device"]);
      }
      const streams = {
        ada: await open(),
        bob: await EventStream.open(world.baseUrl, bobs),
        acme: await EventStream.open(world.baseUrl, acme),
        stranger: await EventStream.open(world.baseUrl, strangers),
      };
      await write(world, token, lamp, { a: "ada's" });
      await write(world, bobs, bobsLamp, { a: "bob's" });
      await write(world, strangers, strangersLamp, { a: "the stranger's" });
      await write(world, acme, bobsLamp, { a: "by the tenant" });
      for (const [device, holder] of [
        [lamp, token],
        [bobsLamp, bobs],
        [strangersLamp, strangers],
      ] as const) {
        await write(world, holder, device, { a: "end" });
      }
      const told = async (stream: EventStream, ends: number) => {
        await stream.until(ends, ({ data }) => data.value === "end");
        return stream.events.map(({ data }) => data.value).filter((value) => value !== "end");
      };
      assert.deepEqual(await told(streams.ada, 1), ["ada's"]);
      assert.deepEqual(await told(streams.bob, 1), ["bob's", "by the tenant"]);
      assert.deepEqual(await told(streams.stranger, 1), ["the stranger's"]);
      assert.deepEqual(await told(streams.acme, 2), ["ada's", "bob's", "by the tenant"]);
      // Another user's event id is only a position in the log.
      const resumed = await EventStream.open(world.baseUrl, bobs, { lastEventId: streams.ada.received[0]!.id });
      assert.deepEqual(await told(resumed, 1), ["bob's", "by the tenant"]);
    });

    it("ends when its token is revoked, and when it expires", { timeout: 60_000 }, async (t) => {
      const { world, lamp } = await home(t, { database });
      const [revoked, expiring] = [await world.tokens(), await world.tokens()];
      const first = await EventStream.open(world.baseUrl, revoked.access_token);
      await world.revoke(revoked.access_token);
      await first.ended;
      const second = await EventStream.open(world.baseUrl, expiring.access_token);
      await second.until(1, () => true);
      await world.timePasses(3_601_000);
      const fresh = await world.tokens();
      await write(world, fresh.access_token, lamp, { a: "too late" });
      await second.ended;
      assert.deepEqual(second.events, []);
      assert.equal((await world.get("/v3/events", expiring.access_token)).status, 401);
    });

    it("ends when its client opens 16 more for the same user, and no other stream ends", {
      timeout: 60_000,
    }, async (t) => {
      const { world, token, lamp, ...house } = await home(t, { database });
      // The limit counts per node.
      const [node] = world.nodes;
      const open = (given = {}, by = token) => house.open(given, by, node!.url);
      const elsewhere = await open({}, (await world.tokens(await world.addClient())).access_token);
      const bobs = (await world.tokens(world.client, { name: "bob", password: "another word" })).access_token;
      const streams = [await open({}, bobs), elsewhere];
      const oldest = await open();
      const [beginning] = await oldest.until(1, () => true);
      const again = (await world.tokens()).access_token;
      for (let i = 0; i < 15; i++) streams.push(await open({}, i % 2 === 0 ? token : again));
      streams.at(-1)!.close();
      await streams.pop()!.ended;
      const { hub } = node!.service.parts.events;
      await eventually(t.signal, async () => assert.equal(hub.readers, 17));
      for (let i = 0; i < 2; i++) streams.push(await open());
      await oldest.ended;
      await write(world, token, lamp, { a: "1" });
      const [bob, ...others] = streams;
      for (const stream of others) assert.equal((await stream.until(1))[0]?.data.value, "1");
      assert.deepEqual(bob?.events, []);
      const resumed = await open({ lastEventId: beginning!.id });
      assert.equal((await resumed.until(1))[0]?.data.value, "1");
    });

    it("ends when the service stops, which takes no longer for it", { timeout: 60_000 }, async (t) => {
      const { world, open } = await home(t, { database, environment: { BREEZEWAY_EVENT_STREAMS: "20" } });
      const streams = await Promise.all(Array.from({ length: 20 }, () => open()));
      await world.restart();
      await Promise.all(streams.map(({ ended }) => ended));
      for (const { service } of world.nodes) assert.equal(service.parts.events.hub.readers, 0);
    });
  });
}

describe("the head of a stream's answer", () => {
  it("is sent when the beginning is fixed: the client receives every later event", {
    timeout: 60_000,
  }, async (t) => {
    const { world, token, lamp, open } = await home(t, { database: "sqlite" });
    const { events } = world.service.parts;
    const asked = Promise.withResolvers<void>();
    const slow = Promise.withResolvers<void>();
    const { beginning } = events;
    t.mock.method(events, "beginning", async (lastEventId: string | undefined) => {
      asked.resolve();
      await slow.promise;
      return beginning(lastEventId);
    });
    let isOpen = false;
    const opening = open().then((stream) => {
      isOpen = true;
      return stream;
    });
    await asked.promise;
    await write(world, token, lamp, { power: "off" });
    assert.equal(isOpen, false);
    slow.resolve();
    const stream = await opening;
    await write(world, token, lamp, { power: "on" });
    assert.equal((await stream.until(1))[0]?.data.value, "on");
  });
});
