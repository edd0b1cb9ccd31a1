import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { commandStates } from "../../src/home/command-states.ts";
import {
  type FanView,
  fanErrorText,
  fanMessage,
  fanRefusal,
  isAbout,
  noAnswer,
} from "../../src/virtual-device/fan-request.ts";

describe("the receipt of a fan request", () => {
  it("has one of the states that the interface names", () => {
    const states = "queued sending accepted confirmed contradicted rejected expired";
    assert.equal(commandStates.join(" "), states);
  });
});

const noonMs = Date.UTC(2026, 0, 1, 12);

/** A thermostat with a fan in a home where somebody is, except for what the test says. */
const view = (fields: Partial<FanView> = {}): FanView => ({
  linkState: "live",
  thermostatId: "t1",
  hasFan: "true",
  isOnline: "true",
  away: "home",
  needsHome: true,
  blockedUntilMs: null,
  nowMs: noonMs,
  ...fields,
});

const refusals: readonly (readonly [string, Partial<FanView>])[] = [
  ["The account must be linked again", { linkState: "needs_reauth" }],
  ["Thermostat not found", { thermostatId: null }],
  ["blocked until 2026-01-01T12:00:00.001Z", { blockedUntilMs: noonMs + 1 }],
  ["Thermostat does not have a fan", { hasFan: "false" }],
  ["Thermostat is not online", { isOnline: "false" }],
  ["Cannot change fan_timer_active while structure is away", { away: "away" }],
];

describe("a fan request", () => {
  it("is left to the ecosystem when no known fact forbids it", () => {
    for (const value of ["true", "false"]) assert.equal(fanRefusal(value, view()), undefined);
  });

  it("is refused when it is neither true nor false, whatever else is known", () => {
    for (const value of [
      "True",
      "TRUE",
      " true",
      "1",
      "on",
      "truefalse",
      "true, false",
      "error: x, true, y",
      "\u{1F300}",
    ]) {
      for (const [, fields] of [["", {}] as const, ...refusals]) {
        assert.equal(fanRefusal(value, view(fields)), "Invalid value for fan_timer_active");
      }
    }
  });

  for (const [refusal, fields] of refusals) {
    it(`is refused with "${refusal}" when it is so`, () => {
      for (const value of ["true", "false"]) assert.equal(fanRefusal(value, view(fields)), refusal);
    });
  }

  it("is refused for the first reason that applies", () => {
    for (let first = 0; first < refusals.length; first++) {
      const fields = Object.assign({}, ...refusals.slice(first).map(([, one]) => one));
      assert.equal(fanRefusal("true", view(fields)), refusals[first]![0]);
    }
  });

  it("is left to the ecosystem when the link is not live, because the mirror may be stale", () => {
    const old = { linkState: "waiting", hasFan: "false", isOnline: "false", away: "away" } as const;
    assert.equal(fanRefusal("true", view(old)), undefined);
    assert.equal(fanRefusal("true", view({ ...old, thermostatId: null })), "Thermostat not found");
    assert.match(fanRefusal("true", view({ ...old, blockedUntilMs: noonMs + 1 })) ?? "", /^blocked until /);
  });

  it("is left to the ecosystem where facts are unknown", () => {
    assert.equal(fanRefusal("true", view({ hasFan: null, isOnline: null, away: null })), undefined);
    assert.equal(fanRefusal("true", view({ away: "unknown" })), undefined);
  });

  it("needs somebody at home only where the ecosystem requires it", () => {
    for (const away of ["away", "auto-away"]) {
      assert.ok(fanRefusal("true", view({ away })));
      assert.equal(fanRefusal("true", view({ away, needsHome: false })), undefined);
    }
  });

  it("is no longer blocked exactly at the end of the block", () => {
    assert.equal(fanRefusal("true", view({ blockedUntilMs: noonMs })), undefined);
    assert.equal(fanRefusal("true", view({ blockedUntilMs: noonMs - 1 })), undefined);
  });
});

describe("the text of a refused fan request", () => {
  it("can be parsed by its last comma and the written value, whatever commas they hold", () => {
    for (const message of ["blocked", "One, two, and, three", "", ", ,"]) {
      for (const value of ["true", "a, b", ", "]) {
        const text = fanErrorText(message, value, noonMs);
        const time = text.slice(text.lastIndexOf(", ") + 2);
        assert.equal(time, "2026-01-01T12:00:00.000Z");
        assert.equal(text, `error: ${message}, ${value}, ${time}`);
        assert.equal(text.slice("error: ".length, -`, ${value}, ${time}`.length), message);
      }
    }
  });

  it("keeps the ecosystem's words on one line, storable in every database", () => {
    assert.equal(fanMessage("No write permission(s) for field(s): a, b"), "No write permission(s) for field(s): a, b");
    assert.equal(fanMessage("one\r\ntwo\nthree\rfour\u2028five"), "one two three four five");
    assert.equal(fanMessage("a\0b\ud800c"), "a\uFFFDb\uFFFDc");
    assert.equal(fanMessage(" ".repeat(2_000_000)).length, 8_192);
  });
});

describe("what requestWrite shows", () => {
  const request = { value: "true", settledMs: noonMs };
  it("is about a request when it is its value, its missing answer, or nothing", () => {
    for (const shown of [null, "true", fanErrorText(noAnswer, "true", noonMs)]) assert.ok(isAbout(request, shown));
  });

  it("is about another one when it is anything else", () => {
    const others = [
      "false",
      "error: x, true, y",
      fanErrorText(noAnswer, "true", noonMs + 1),
      fanErrorText(noAnswer, "false", noonMs),
    ];
    for (const shown of others) assert.equal(isAbout(request, shown), false);
    assert.equal(isAbout({ value: "true", settledMs: null }, fanErrorText(noAnswer, "true", noonMs)), false);
  });
});
