import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { longestSentence, readSentence, understoodForms } from "../../../simulator/assistants/sentence.ts";
import { meant, spokenName } from "../../../simulator/assistants/spoken-names.ts";

describe("a sentence to an assistant", () => {
  it("is understood in the forms that the page lists, whatever its spelling", () => {
    const read: Readonly<Record<string, object>> = {
      "turn on the hall fan": { kind: "switch", name: "hall fan", isOn: true },
      "Switch the lamp off.": { kind: "switch", name: "lamp", isOn: false },
      "please turn off  lamp": { kind: "switch", name: "lamp", isOn: false },
      "set the den to 21": { kind: "setTemperature", name: "den", celsius: 21 },
      "Set the Den to 20.5 degrees": { kind: "setTemperature", name: "den", celsius: 20.5 },
      "set the freezer to -18 °C": { kind: "setTemperature", name: "freezer", celsius: -18 },
      "set the den to heat": { kind: "setMode", name: "den", mode: "heat" },
      "make the den cooler": { kind: "adjustTemperature", name: "den", deltaCelsius: -1 },
      "dim the ceiling to 40 percent": { kind: "setBrightness", name: "ceiling", percent: 40 },
      "set the ceiling to 40%": { kind: "setBrightness", name: "ceiling", percent: 40 },
      "What's the temperature in the den?": { kind: "askTemperature", name: "den" },
      "is the kettle on?": { kind: "askState", name: "kettle" },
    };
    for (const [sentence, wish] of Object.entries(read)) assert.deepEqual(readSentence(sentence), wish, sentence);
    const first = (form: string) => form.split(/[ ,]/)[0]!;
    const forms = new Set(understoodForms.map(first));
    for (const word of forms) assert.ok(Object.keys(read).some((sentence) => sentence.toLowerCase().startsWith(word)));
  });

  it("is not understood in any other form", () => {
    const others = ["", "turn on", "set the den to 21 bananas", "set the den to 1234", "sing", "is on"];
    for (const sentence of [...others, `turn on the ${"x".repeat(longestSentence)}`]) {
      assert.equal(readSentence(sentence), undefined, sentence);
    }
  });
});

describe("the name of a device in a sentence", () => {
  const devices = [
    { name: "Hallway (144A)", room: "Hallway" },
    { name: "Hall lamp", room: "Hall" },
    { name: "Ceiling", room: "Kitchen" },
    { name: "Lamp", room: undefined },
  ];
  const names = (spoken: string) => meant(spoken, devices).map(({ name }) => name);

  it("may be the beginning of each of its words, or its room", () => {
    assert.deepEqual(names("hallway"), ["Hallway (144A)"]);
    assert.deepEqual(names("ha la"), ["Hall lamp"]);
    assert.deepEqual(names("kitchen ceiling"), ["Ceiling"]);
    assert.deepEqual(names("144a"), ["Hallway (144A)"]);
  });

  it("can mean several, unless it is the whole name of one; nothing else means nothing", () => {
    assert.deepEqual(names("hall"), ["Hallway (144A)", "Hall lamp"]);
    assert.deepEqual(names("lamp"), ["Lamp"]);
    for (const spoken of ["all", "attic", "()", ""]) assert.deepEqual(names(spoken), [], spoken);
  });

  it("is spoken without what stands in brackets", () => {
    assert.equal(spokenName("Hallway (144A)"), "hallway");
    assert.equal(spokenName("(144A)"), "(144a)");
  });
});
