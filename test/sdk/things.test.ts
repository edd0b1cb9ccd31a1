import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  Breezeway,
  InvalidArgument,
  NotFound,
  NotSignedIn,
  type Thing,
  type ThingKind,
  type ThingTrait,
  type ThingTraits,
} from "../../sdk/src/index.ts";
import type { Traits } from "../../src/home/catalogue.ts";
import type { ThingKind as KnownKind } from "../../src/home/thing.ts";
import { eventually } from "../stories/world.ts";
import { json, scripted, sdkWorld } from "./sdk-world.ts";

/** Compares types. The compiler refuses `true` when they differ. */
type Same<One, Other> = [One] extends [Other] ? ([Other] extends [One] ? true : false) : false;
type Members<All, Member extends string> = {
  [Name in keyof All]-?: Member extends keyof NonNullable<All[Name]> ? keyof NonNullable<All[Name]>[Member] : never;
};

const kindsAreThoseOfTheService: Same<ThingKind, KnownKind> = true;
const fieldsAreThoseOfTheCatalogue: Same<
  Members<ThingTraits, "state">,
  { [Name in keyof Traits]-?: Members<Traits, "state">[Name] | "available" }
> = true;
const capabilitiesAreThoseOfTheCatalogue: Same<
  Members<ThingTraits, "capabilities">,
  Members<Traits, "capabilities">
> = true;
void [kindsAreThoseOfTheService, fieldsAreThoseOfTheCatalogue, capabilitiesAreThoseOfTheCatalogue];

const baseUrl = "https://a.example";
const made = { thingId: "t_1", deviceId: 1, kind: "light", stale: true, traits: {} };

async function all<Value>(values: AsyncIterable<Value>): Promise<readonly Value[]> {
  const found: Value[] = [];
  for await (const value of values) found.push(value);
  return found;
}

describe("things(), of the SDK", () => {
  it("reads a page when it is needed, with the filter, and ends after the last page", async () => {
    const first = json(200, { things: [made, { ...made, thingId: "t_2" }], cursor: "c 1" });
    const { fetch, requests } = scripted(first, json(200, { things: [{ ...made, thingId: "t_3" }] }));
    const breezeway = new Breezeway({ baseUrl, accessToken: "bwa_1", fetch });
    const things = breezeway.things({ kind: "light", room: "Living room", source: "nest" });
    assert.deepEqual(requests, []);
    assert.equal((await things.next()).value?.thingId, "t_1");
    assert.equal((await things.next()).value?.thingId, "t_2");
    assert.equal(requests.length, 1);
    assert.equal((await things.next()).value?.thingId, "t_3");
    assert.equal((await things.next()).done, true);
    const asked = `${baseUrl}/v3/things?kind=light&room=Living+room&source=nest`;
    assert.deepEqual(
      requests.map(({ url }) => url),
      [asked, `${asked}&cursor=c+1`],
    );
  });

  it("refuses a misspelled filter, and a call without an access token", () => {
    const { fetch, requests } = scripted();
    const breezeway = new Breezeway({ baseUrl, accessToken: "bwa_1", fetch });
    assert.throws(() => breezeway.things({ kinds: "light" } as never), InvalidArgument);
    assert.throws(() => new Breezeway({ baseUrl, fetch }).things(), NotSignedIn);
    assert.deepEqual(requests, []);
  });

  it("lists the things of a linked account, which thing() reads with their traits", async (t) => {
    const world = await sdkWorld(t);
    const deviceId = await world.linked();
    const { byAccessToken } = world;
    const things = await all(byAccessToken.things());
    assert.deepEqual(things.map(({ kind }) => kind).toSorted(), [
      ...["alarm", "home"],
      ...["thermostat", "thermostat", "thermostat"],
    ]);
    const [alarm, ...others] = await all(byAccessToken.things({ kind: "alarm", source: "nest" }));
    assert.deepEqual(others, []);
    assert.deepEqual([alarm!.deviceId, alarm!.stale, alarm!.goneTime], [deviceId, false, undefined]);
    assert.ok(alarm!.confirmedTime! > 0);
    assert.deepEqual(await all(byAccessToken.things({ room: "no such room" })), []);
    const { traits } = await byAccessToken.thing(alarm!.thingId);
    assert.deepEqual([traits.smoke?.state.state?.value, traits.smoke?.state.available?.value], ["clear", true]);
    assert.equal(traits.smoke?.capabilities.graded, true);
    assert.equal(traits.thermostat, undefined);
  });
});

describe("thing(), of the SDK", () => {
  it("reads only what changed after a time, and shows that a device does not answer", async (t) => {
    const world = await sdkWorld(t);
    await world.linked();
    const { byAccessToken, simulator, accountId } = world;
    const [alarm] = await all(byAccessToken.things({ kind: "alarm" }));
    const since = latest(alarm!);
    assert.deepEqual((await byAccessToken.thing(alarm!.thingId, { since })).traits, {});
    await simulator.playScene(accountId, { scene: "smoke" });
    await eventually(t.signal, async () => {
      const { traits } = await byAccessToken.thing(alarm!.thingId, { since });
      assert.equal(traits.smoke?.state.state?.value, "alarm");
      assert.deepEqual([traits.smoke?.state.testing, traits.carbonMonoxide], [undefined, undefined]);
    });
    await simulator.playScene(accountId, { scene: "alarm-offline" });
    await eventually(t.signal, async () => {
      const { traits } = await byAccessToken.thing(alarm!.thingId);
      assert.deepEqual([traits.smoke?.state.available?.value, traits.smoke?.state.state?.value], [false, "alarm"]);
    });
    const past = await all(byAccessToken.thingHistory(alarm!.thingId, { fields: ["smoke.state"] }));
    assert.deepEqual(
      past.map(({ what, fields, cause }) => [what, fields["smoke.state"]?.value, cause?.by]),
      [
        ["added", "clear", "ecosystem"],
        ["state", "alarm", "ecosystem"],
      ],
    );
    const [, later] = past;
    const from = { fields: ["smoke.state"], from: later!.updateTime };
    assert.deepEqual(await all(byAccessToken.thingHistory(alarm!.thingId, from)), [later]);
  });

  it("shows since when a thing is gone, and rejects with NotFound for an unknown id", async (t) => {
    const world = await sdkWorld(t);
    await world.linked();
    const { byAccessToken, simulator, accountId } = world;
    const [alarm] = await all(byAccessToken.things({ kind: "alarm" }));
    await simulator.playScene(accountId, { scene: "remove-alarm" });
    await eventually(t.signal, async () => {
      const { goneTime, stale, traits } = await byAccessToken.thing(alarm!.thingId);
      assert.deepEqual([typeof goneTime, stale, traits.smoke?.state.state?.value], ["number", true, "clear"]);
    });
    assert.deepEqual(await all(byAccessToken.things({ kind: "alarm" })), []);
    await assert.rejects(byAccessToken.thing("t_none"), (error: unknown) => {
      return error instanceof NotFound && error.code === "unknown_thing";
    });
    await assert.rejects(byAccessToken.thing("a/b?c"), NotFound);
  });
});

/** The latest time of all fields. */
function latest({ traits }: Thing): number {
  const fields = Object.values(traits).flatMap(({ state }: ThingTrait) => Object.values(state));
  return Math.max(...fields.map(({ updateTime }) => updateTime));
}
