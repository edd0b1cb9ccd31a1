import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { linkedInstance } from "../../stories/linked-instance.ts";
import { eventually } from "../../stories/world.ts";

/** An instance with persons at these places, and without a zone that counts any of them. */
async function instanceWith(t: TestContext, places: Readonly<Record<string, string>>) {
  const linked = await linkedInstance(t, {
    instance: { isFurnished: false },
    fill: (instance) => {
      for (const [name, place] of Object.entries(places)) {
        instance.addEntity(`person.${name}`, place, { friendly_name: name });
      }
      instance.set("zone.home", "0", { friendly_name: "Home", persons: [] });
    },
  });
  const away = async () => (await linked.attributes())["d.structures[1].a.away"];
  const untilAway = (value: string) => eventually(t.signal, async () => assert.equal(await away(), value));
  const presence = async () => {
    const [home] = await linked.client.ofKind("home");
    return linked.client.state(home.thingId, "presence");
  };
  return { ...linked, instance: linked.simulator.instance, untilAway, presence };
}

describe("settled: presence unknown", () => {
  for (const lost of ["unknown", "unavailable"]) {
    for (const [place, word] of [
      ["not_home", "away"],
      ["home", "home"],
    ] as const) {
      it(`does not keep ${word} while every person is ${lost}`, async (t) => {
        const { instance, untilAway, presence } = await instanceWith(t, { ada: place, grace: "not_home" });
        await untilAway(word);
        instance.change("person.grace", lost);
        instance.change("person.ada", lost);
        await untilAway("unknown");
        assert.deepEqual(await presence(), { available: false, state: "unknown", word: null });
        instance.change("person.ada", place);
        instance.change("person.grace", "not_home");
        await untilAway(word);
        assert.deepEqual(await presence(), { available: true, state: word, word: null });
      });
    }
  }

  it("does not say away while the place of one person is unknown", async (t) => {
    const { instance, untilAway } = await instanceWith(t, { ada: "not_home", grace: "not_home" });
    await untilAway("away");
    instance.change("person.grace", "unknown");
    await untilAway("unknown");
    instance.change("person.ada", "home");
    await untilAway("home");
  });

  it("follows a zone that counts somebody while the persons are unknown", async (t) => {
    const { instance, untilAway } = await instanceWith(t, { ada: "not_home" });
    await untilAway("away");
    instance.change("person.ada", "unknown");
    instance.change("zone.home", "1");
    await untilAway("home");
    instance.change("zone.home", "unavailable");
    await untilAway("unknown");
  });

  it("does not take a zone that counts nobody for away if there are no persons", async (t) => {
    const { instance, untilAway } = await instanceWith(t, {});
    await untilAway("unknown");
    instance.change("zone.home", "1");
    await untilAway("home");
    instance.change("zone.home", "0");
    await untilAway("unknown");
  });
});
