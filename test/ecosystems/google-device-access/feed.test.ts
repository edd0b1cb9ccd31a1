import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { Device } from "../../../simulator/google-device-access/account.ts";
import { namedFaults } from "../../../simulator/google-device-access/faults.ts";
import type { Home } from "../../../src/home/home.ts";
import { rounds } from "../../set-up/extent.ts";
import { numbersFrom } from "../../set-up/seeded-random.ts";
import { eventually } from "../../stories/world.ts";
import { listen } from "../listening.ts";
import { generous, startedConnector, startedGoogle } from "./harness.ts";

const traits = "sdm.devices.traits.";
const unending = new AbortController().signal;

describe("the events of a Google account", () => {
  const faulty = { shuffles: 5, duplicates: true, merges: false, delayMs: 0, loses: false };
  const ways = [
    ["shuffled and repeated", faulty],
    ["merged", { ...faulty, merges: true }],
    ["delayed", { ...faulty, shuffles: 0, delayMs: 30 }],
    ["lost for a while", { ...faulty, duplicates: false, loses: true }],
  ] as const;
  for (const [name, faults] of ways) {
    it(`that are ${name} lead to the home that a list shows, and no value goes back`, async (t) => {
      const { google, account, hall, feed, clock } = await followedAccount(t);
      const stream = listen(feed.connector(), google.tokens.consent(account).accessToken);
      t.after(() => stream.stop());
      await stream.until(1);
      // Later than the tolerance for clock differences: from here on the changes come from events alone.
      clock.aheadMs = 10_000;
      Object.assign(google.delivery.faults, faults);
      const random = numbersFrom(7);
      for (let celsius = 40; celsius < 40 + rounds({ all: 60, few: 15 }); celsius += 1) {
        account.change(hall.name, { [`${traits}Temperature`]: { ambientTemperatureCelsius: celsius / 2 } });
        if (random() < 0.5) account.change(hall.name, { [`${traits}Humidity`]: { ambientHumidityPercent: celsius } });
        if (random() < 0.3) await new Promise((resolve) => setImmediate(resolve));
      }
      google.delivery.flush();
      Object.assign(google.delivery.faults, {
        shuffles: 0,
        duplicates: false,
        merges: false,
        delayMs: 0,
        loses: false,
      });
      // One list settles what events have left open.
      account.relate("UPDATED", "", hall.name);
      await eventually(t.signal, async () => {
        const homes = stream.heard.filter((heard): heard is Home => typeof heard === "object");
        assert.equal(google.subscription.backlog, 0);
        assert.equal(celsiusIn(homes.at(-1)!, hall), hall.traits[`${traits}Temperature`]!.ambientTemperatureCelsius);
        assert.equal(humidityIn(homes.at(-1)!, hall), hall.traits[`${traits}Humidity`]!.ambientHumidityPercent);
      });
      const homes = stream.heard.filter((heard): heard is Home => typeof heard === "object");
      const shown = homes.map((home) => celsiusIn(home, hall) ?? 0);
      // The temperature only rises.
      assert.deepEqual(
        shown,
        shown.toSorted((a, b) => a - b),
      );
      assert.deepEqual(await feed.connector().read(google.tokens.consent(account).accessToken, unending), homes.at(-1));
      stream.stop();
      await stream.ended;
    });
  }

  it("reach all links of the account, and those of an unknown account are acknowledged and counted", async (t) => {
    const { google, account, hall, feed } = await followedAccount(t);
    const stranger = google.addAccount("Grace");
    stranger.isListed = true;
    const streams = [0, 1].map(() => listen(feed.connector(), google.tokens.consent(account).accessToken));
    for (const stream of streams) await stream.until(1);
    const [theirs] = stranger.devices.values();
    stranger.change(theirs!.name, { [`${traits}Info`]: { customName: "elsewhere" } });
    google.subscription.publish("not an event");
    account.change(hall.name, { [`${traits}Temperature`]: { ambientTemperatureCelsius: 25 } });
    for (const stream of streams) {
      await stream.until(2);
      assert.equal(celsiusIn(stream.heard.at(-1) as Home, hall), 25);
      stream.stop();
      await stream.ended;
    }
    assert.deepEqual([feed.unknown, feed.unreadable, google.subscription.backlog], [1, 1, 0]);
  });

  it("come again when they could not be stored, and after the feed has failed", async (t) => {
    const { google, account, hall, feed } = await followedAccount(t);
    const stream = listen(feed.connector(), google.tokens.consent(account).accessToken);
    await stream.until(1);
    feed.isStoreDown = true;
    account.change(hall.name, { [`${traits}Temperature`]: { ambientTemperatureCelsius: 25 } });
    await eventually(t.signal, async () => assert.ok(feed.faults.includes("the store is not available")));
    assert.equal(google.subscription.acknowledged, 0);
    google.faults.set("feed", namedFaults.unavailable);
    feed.isStoreDown = false;
    await eventually(t.signal, async () => assert.ok(feed.faults.includes("Google answered 503 UNAVAILABLE")));
    google.faults.set("feed", undefined);
    google.tokens.expireServiceTokens();
    await stream.until(2);
    assert.equal(celsiusIn(stream.heard[1] as Home, hall), 25);
    stream.stop();
    await stream.ended;
  });
});

describe("a list of a Google account", () => {
  it("that an event calls for comes before the next confirmation", async (t) => {
    const { google, account, hall, feed } = await followedAccount(t);
    const stream = listen(feed.connector(), google.tokens.consent(account).accessToken);
    t.after(() => stream.stop());
    await stream.until(1);
    feed.quiet();
    assert.deepEqual(stream.heard.slice(1), ["unchanged"]);
    google.faults.set("devices", namedFaults.unavailable);
    account.relate("UPDATED", "", hall.name);
    await eventually(t.signal, async () => assert.equal(google.subscription.acknowledged, 1));
    feed.quiet();
    account.tell(hall.name, { [`${traits}Connectivity`]: { status: "ONLINE" } });
    await eventually(t.signal, async () => assert.equal(google.subscription.acknowledged, 2));
    feed.quiet();
    assert.equal(stream.heard.length, 2, "Google has not listed the account yet");
    google.faults.set("devices", undefined);
    await stream.until(3);
    await eventually(t.signal, async () => {
      feed.quiet();
      assert.deepEqual(stream.heard.slice(2, 4), ["unchanged", "unchanged"]);
    });
  });

  it("that shows changes although no event has arrived ends the stream as silent", async (t) => {
    const { google, account, hall, feed } = await followedAccount(t, { relistMs: 2_000 });
    google.delivery.faults.loses = true;
    const stream = listen(feed.connector(), google.tokens.consent(account).accessToken);
    await stream.until(1);
    account.change(hall.name, { [`${traits}Temperature`]: { ambientTemperatureCelsius: 25 } });
    const end = await stream.ended;
    assert.deepEqual([end.reason, end.detail], ["silent", "the home has changed, but no event has arrived"]);
    assert.ok(end.unheardMs! > 0);
    assert.equal(celsiusIn(stream.heard.findLast((heard) => typeof heard === "object") as Home, hall), 25);
  });

  it("that an event has called for is merged with the events that follow it, without another list", async (t) => {
    const { google, account, hall, feed } = await followedAccount(t);
    const stream = listen(feed.connector(), google.tokens.consent(account).accessToken);
    t.after(() => stream.stop());
    await stream.until(1);
    const listsBefore = google.rates.taken.list;
    account.relate("UPDATED", "", hall.name);
    await eventually(t.signal, async () => assert.equal(google.rates.taken.list, listsBefore + 2));
    for (const celsius of [24, 25, 26]) {
      account.change(hall.name, { [`${traits}Temperature`]: { ambientTemperatureCelsius: celsius } });
      await eventually(t.signal, async () => {
        const last = stream.heard.findLast((heard) => typeof heard === "object");
        assert.equal(celsiusIn(last as Home, hall), celsius);
      });
    }
    assert.equal(google.rates.taken.list, listsBefore + 2);
  });

  it("that waits for Google's limit makes the home doubtful until it is taken", async (t) => {
    const lists = [{ calls: 3, perMs: 3_000 }];
    const { google, account, hall, feed } = await followedAccount(t, { limits: { ...generous, lists } });
    const doubts: (string | undefined)[] = [];
    const stream = listen(feed.connector(), google.tokens.consent(account).accessToken, undefined, {
      doubtful: (doubt) => void doubts.push(doubt?.reason),
    });
    t.after(() => stream.stop());
    await stream.until(1);
    account.relate("UPDATED", "", hall.name);
    const reason = "a list that events call for waits for Google's rate limit";
    await eventually(t.signal, async () => assert.deepEqual(doubts, [reason]));
    await eventually(t.signal, async () => assert.deepEqual(doubts, [reason, undefined]));
  });

  it("shows nothing of an update that Google sends by mistake", async (t) => {
    const { google, account, hall, feed } = await followedAccount(t);
    const stream = listen(feed.connector(), google.tokens.consent(account).accessToken);
    t.after(() => stream.stop());
    await stream.until(1);
    const listsBefore = google.rates.taken.list;
    const shown = () => {
      const homes = stream.heard.filter((heard) => typeof heard === "object");
      return homes.map((home) => {
        const sighting = home.thermostats.byId.get(hall.name);
        const { mode, ecoHeatCelsius } = (sighting?.isRead && sighting.object.traits.thermostat?.state) || {};
        return [mode, ecoHeatCelsius];
      });
    };
    const [first] = shown();
    google.playScene(account, "mistake");
    await eventually(t.signal, async () => assert.ok(google.rates.taken.list > listsBefore));
    account.change(hall.name, { [`${traits}Temperature`]: { ambientTemperatureCelsius: 25 } });
    await eventually(t.signal, async () => assert.ok(shown().length > 1));
    for (const states of shown()) assert.deepEqual(states, first);
  });

  it("waits for its turn within Google's limit", async (t) => {
    const lists = [{ calls: 5, perMs: 1_000 }];
    const { google, account, feed } = await followedAccount(t, {
      limits: { lists, commands: lists, thermostat: lists },
    });
    google.rates.limits = { ...google.rates.limits, list: lists };
    const { accessToken } = google.tokens.consent(account);
    // Four lists of two calls each.
    for (let i = 0; i < 4; i++) await feed.connector().read(accessToken, unending);
    assert.equal(google.rates.refused.list, 0);
  });

  it("is empty when nothing is shared, and shrinks with the devices that are withdrawn", async (t) => {
    const { google, account, hall, feed } = await followedAccount(t);
    const { accessToken } = google.tokens.consent(account);
    const connector = feed.connector();
    account.share(hall.name, false);
    assert.deepEqual(
      [...(await connector.read(accessToken, unending)).thermostats.byId.values()].map(
        (one) => one.isRead && one.object.name,
      ),
      ["Attic heater"],
    );
    for (const name of account.devices.keys()) account.share(name, false);
    const { thermostats, structures } = await connector.read(accessToken, unending);
    assert.deepEqual([thermostats.isWhole, thermostats.byId.size, structures.byId.size], [true, 0, 1]);
  });
});

async function followedAccount(t: TestContext, options: Parameters<typeof startedConnector>[2] = {}) {
  const clock = { aheadMs: 0 };
  const google = await startedGoogle(t, { nowMs: () => Date.now() + clock.aheadMs });
  const account = google.addAccount("Ada");
  const hall = [...account.devices.values()].find(({ parentRelations: [room] }) => room?.displayName === "Hall")!;
  const { feed, connector } = await startedConnector(t, google, options);
  return { google, clock, feed, connector, account, hall };
}

function humidityIn({ thermostats }: Home, { name }: Device): number | null | undefined {
  const sighting = thermostats.byId.get(name);
  return sighting?.isRead ? sighting.object.traits.humidity?.state.percent : undefined;
}

function celsiusIn({ thermostats }: Home, { name }: Device): number | null | undefined {
  const sighting = thermostats.byId.get(name);
  return sighting?.isRead ? sighting.object.traits.temperature?.state.celsius : undefined;
}
