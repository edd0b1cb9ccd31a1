import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type CommandError, commandErrorText } from "../../src/home/command-errors.ts";

type Example<Code> = Omit<Extract<CommandError, { readonly code: Code }>, "code">;

/** The compiler asks for an example of every code. */
const examples: { readonly [Code in CommandError["code"]]: readonly [Example<Code>, RegExp] } = {
  unknownThing: [{}, /does not exist\. .*Read the list/],
  notSupported: [
    { command: "fan.setMode", reason: "the fan has no modes" },
    /does not accept fan\.setMode: the fan has no modes\. .*capabilities/,
  ],
  badValue: [{ parameter: "on", problem: "is missing" }, /^The parameter "on" is missing\. Correct it/],
  outOfRange: [
    { parameter: "celsius", min: 9, max: 32, unit: "celsius" },
    /parameter "celsius" .*Choose from 9 °C to 32 °C\.$/,
  ],
  rangeTooClose: [{ gap: 1.5 }, /too close\. .*at least 1\.5 °C above/],
  modeNotSupported: [{ mode: "dry", modes: ["off", "heat"] }, /not have the mode dry\. Choose one of: off, heat\.$/],
  notInMode: [{ mode: "eco" }, /is in mode eco.*Set another mode/],
  offline: [{}, /is offline.*try again/],
  stale: [{}, /does not know the current state.*Try again when/],
  notHome: [{}, /only while somebody is home.*set the home's presence to home/],
  needsReauth: [{}, /credential.*connect the account again/],
  busy: [{}, /Too many commands.*Try again when/],
  rateLimited: [{ retryAfterMs: 12_001 }, /limits.*Try again in 13 seconds\.$/],
  forbidden: [{}, /no permission.*devices:control/],
  refused: [{ text: "Fan is locked" }, /refused.*: Fan is locked$/],
  noAnswer: [{}, /did not answer.*Read the state/],
  notSent: [{}, /could not send.*not carried out.*Try again/],
  superseded: [{}, /newer command replaced.*not carried out/],
};

describe("the text of a command's error", () => {
  it("says what happened, why, and what to do, with the numbers", () => {
    for (const [code, [fields, text]] of Object.entries(examples)) {
      assert.match(commandErrorText({ code, ...fields } as CommandError), text, code);
    }
  });

  it("names a range in its unit, also when one side has no limit", () => {
    const ranges = [
      [{ min: 1, max: null, unit: "minutes" }, "Choose at least 1 min."],
      [{ min: null, max: 30.5, unit: "celsius" }, "Choose at most 30.5 °C."],
      [{ min: 0, max: 100, unit: "percent" }, "Choose from 0 % to 100 %."],
      [{ min: 0, max: 5, unit: "milliseconds" }, "Choose from 0 ms to 5 ms."],
    ] as const;
    for (const [range, end] of ranges) {
      const text = commandErrorText({ code: "outOfRange", parameter: "x", ...range });
      assert.ok(text.endsWith(end), text);
    }
  });

  it("rounds a wait up, and never to nothing", () => {
    const waits = [
      [0, "1 second."],
      [1_000, "1 second."],
      [1_001, "2 seconds."],
    ] as const;
    for (const [retryAfterMs, end] of waits) {
      const text = commandErrorText({ code: "rateLimited", retryAfterMs });
      assert.ok(text.endsWith(` in ${end}`), text);
    }
  });
});
