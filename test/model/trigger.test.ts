import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Condition, isMet, readCondition } from "../../src/model/condition.ts";
import { BadParameter } from "../../src/model/errors.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import {
  type AlertRule,
  bytesOf,
  type Evaluation,
  evaluationsKept,
  mergeRecords,
  type Outcome,
  stepTrigger,
  truncateValue,
} from "../../src/model/trigger.ts";
import { readTargets } from "../../src/model/trigger-targets.ts";

const never = () => assert.fail("a pattern was looked at");

describe("a condition", () => {
  const cases: readonly (readonly [condition: Condition, met: readonly string[], unmet: readonly (string | null)[]])[] =
    [
      [{ operation: "equals", text: "home" }, ["home"], ["Home", "home ", "away", "", null]],
      [{ operation: ">", threshold: 20 }, ["20.1", "1e3", "+21"], ["20", "19", "-21", "warm", "", "0x20", null]],
      [{ operation: ">=", threshold: 20 }, ["20", "20.0", "21"], ["19.999", "Infinity", "NaN", null]],
      [{ operation: "<", threshold: -1.5 }, ["-2", "-1e9"], ["-1.5", "0", "-", ".", "1 2", null]],
      [{ operation: "<=", threshold: 0 }, ["0", "-0", "0.0", "-1"], ["0.01", " 0", "", "0n", null]],
      [
        { operation: "==", threshold: 7 },
        ["7", "7.0", "07", "0.7e1", "7".padStart(64, "0")],
        ["7.1", "seven", "7,0", "7".padStart(65, "0"), null],
      ],
    ];
  for (const [condition, met, unmet] of cases) {
    it(`${condition.operation} is true of what it says and of nothing else`, () => {
      for (const value of met) assert.equal(isMet(condition, value, never), true, value);
      for (const value of unmet) assert.equal(isMet(condition, value, never), false, String(value));
    });
  }

  it("regex uses the pattern matcher, but never for a blank value", () => {
    const condition: Condition = { operation: "regex", pattern: "a|b" };
    const asked: string[] = [];
    const matches = (pattern: string, value: string) => asked.push(`${pattern} ${value}`) > 0;
    assert.equal(isMet(condition, "away", matches), true);
    assert.equal(isMet(condition, null, matches), false);
    assert.deepEqual(asked, ["a|b away"]);
  });

  it("is read from what a client sends, and refused when it could never be true", () => {
    const read = (operation: string, stringThreshold = "", threshold = "") =>
      readCondition({ operation, threshold, stringThreshold }, (pattern) => (pattern === "(" ? "Bad." : undefined));
    assert.deepEqual(read("regex", "home"), { operation: "regex", pattern: "home" });
    assert.deepEqual(read("equals", "home", "7"), { operation: "equals", text: "home" });
    assert.deepEqual(read(">=", "home", "-7.5"), { operation: ">=", threshold: -7.5 });
    assert.deepEqual(read("regex", "🏠".repeat(256)), { operation: "regex", pattern: "🏠".repeat(256) });
    const refused: readonly (readonly string[])[] = [
      [""],
      ["Regex", "home"],
      ["constructor", "home"],
      ["regex"],
      ["equals"],
      ["regex", "a".repeat(257)],
      ["regex", "("],
      [">", "7"],
      ["==", "", "seven"],
      ["<", "", "0x10"],
      ["<", "", "1e999"],
    ];
    for (const [operation = "", ...more] of refused) assert.throws(() => read(operation, ...more), BadParameter);
    assert.throws(() => read("Regex", "home"), { parameter: "operation" });
  });
});

describe("targetDeviceAttributes", () => {
  const read = (text: string) =>
    readTargets(text).map(({ deviceId, attributeName, value }) => [deviceId, attributeName, value]);

  it("is one target or several, quoted or not", () => {
    assert.deepEqual(read(""), []);
    assert.deepEqual(read('5,power:"on"'), [[5, "power", "on"]]);
    assert.deepEqual(read("5,power:on"), [[5, "power", "on"]]);
    assert.deepEqual(read('5,power:"on";6,colour:"red"'), [
      [5, "power", "on"],
      [6, "colour", "red"],
    ]);
    assert.deepEqual(read('5,a:x y ; 6 , b:"1" ;'), [
      [5, "a", "x y "],
      [6, "b", "1"],
    ]);
    assert.deepEqual(read('5,a:"x"; \n'), [[5, "a", "x"]]);
    assert.deepEqual(read('5,d.structures[1].d.thermostats[2].fan_timer_active.requestWrite:"true"'), [
      [5, "d.structures[1].d.thermostats[2].fan_timer_active.requestWrite", "true"],
    ]);
  });

  it("keeps whatever a quoted value holds", () => {
    for (const value of ["", ";", "a;b,c:d", "é🏠\n", '"', '"quoted"', "a\\b", "x".repeat(8_000), '"'.repeat(4_000)]) {
      assert.deepEqual(read(`5,a:"${value.replaceAll('"', '\\"')}";6,b:"1"`), [
        [5, "a", value],
        [6, "b", "1"],
      ]);
    }
    assert.deepEqual(read("5,a:"), [[5, "a", ""]]);
    assert.deepEqual(read('5,a:say "hi";6,b:2'), [
      [5, "a", 'say "hi"'],
      [6, "b", "2"],
    ]);
  });

  it("is refused when it is anything else", () => {
    const malformed = [";", "5", "5,a", "a,b:c", '5,a:"', '5,a:"x', '5,a:"x"y', '5,a:"x" 6,b:"y"', ",a:b", "-5,a:b"];
    for (const text of [...malformed, "0,a:b", "99999999999,a:b", "5;6", '5,a:"\\"', " ", '5,a:"x";;6,b:"y"']) {
      assert.throws(() => readTargets(text), BadParameter, text);
    }
  });
});

describe("the size of an alert", () => {
  const deviceId = 5 as DeviceId;
  const flags = { autoDisarm: true, autoDelete: false, autoDisable: false };
  const empty: AlertRule = {
    condition: { operation: "equals", text: "" },
    action: "",
    targets: [],
    commands: [],
    address: "",
    message: "",
    ...flags,
  };
  const emptySize = '{"operation":"equals","text":""}[]'.length;

  it("is all its texts in UTF-8, with the name of its attribute, or the id and the field of its thing", () => {
    assert.equal(bytesOf({ ...empty, deviceId, attributeName: "größe" }), emptySize + 7);
    assert.equal(bytesOf({ ...empty, deviceId, thingId: "t_1", field: "light.colour" }), emptySize + 3 + 12);
    const rule = { ...empty, action: "mail", address: "a@b.example", message: "Wärme" };
    assert.equal(bytesOf({ ...rule, deviceId, attributeName: "a" }), emptySize + 4 + 11 + 6 + 1);
    const condition: Condition = { operation: "equals", text: "é" };
    const targets = [{ deviceId, attributeName: "b", value: "é" }];
    assert.equal(
      bytesOf({ ...empty, condition, targets, deviceId, attributeName: "a" }),
      emptySize + 2 + '{"deviceId":5,"attributeName":"b","value":""}'.length + 2 + 1,
    );
  });

  it("counts commands as they are stored, and nothing when there are none", () => {
    const { commands: _, ...without } = empty;
    assert.equal(bytesOf({ ...without, deviceId, attributeName: "a" }), emptySize + 1);
    assert.equal(bytesOf({ ...empty, deviceId, attributeName: "a" }), emptySize + 1);
    const commands = [{ thingId: "t_1", trait: "fan", command: "stop", params: {} }];
    assert.equal(
      bytesOf({ ...empty, commands, deviceId, attributeName: "a" }),
      emptySize + 1 + '[{"thingId":"t_1","trait":"fan","command":"stop","params":{}}]'.length,
    );
  });
});

describe("an alert that sees events", () => {
  const run = (flags: Partial<Parameters<typeof stepTrigger>[0]>, events: string) => {
    let arming = { autoDisarm: false, autoDelete: false, autoDisable: false, isArmed: true, ...flags };
    const outcomes: Outcome[] = [];
    let fate = "stays";
    for (const event of events) {
      const step = stepTrigger(arming, event === "t");
      outcomes.push(step.outcome);
      arming = { ...arming, isArmed: step.isArmed };
      fate = step.fate;
      if (fate !== "stays") break;
    }
    return { outcomes: outcomes.join(" "), isArmed: arming.isArmed, fate };
  };

  it("fires at every true one without autoDisarm", () => {
    assert.deepEqual(run({}, "ttft"), { outcomes: "fired fired unmet fired", isArmed: true, fate: "stays" });
  });

  it("fires once with autoDisarm, until its condition has been false", () => {
    const { outcomes, isArmed } = run({ autoDisarm: true }, "fttffttf");
    assert.equal(outcomes, "unmet fired ignored rearmed unmet fired ignored rearmed");
    assert.equal(isArmed, true);
    assert.equal(run({ autoDisarm: true }, "t").isArmed, false);
    assert.equal(run({ autoDisarm: true, isArmed: false }, "tt").outcomes, "ignored ignored");
  });

  it("is deleted, or else disabled, after firing if its definition says so", () => {
    assert.deepEqual(run({ autoDelete: true, autoDisable: true }, "ftt").fate, "deleted");
    assert.deepEqual(run({ autoDisable: true }, "ftt"), { outcomes: "unmet fired", isArmed: true, fate: "disabled" });
    assert.deepEqual(run({ autoDisable: true, autoDelete: true }, "ff").fate, "stays");
  });
});

describe("the record of an alert", () => {
  const at = (timeMs: number): Evaluation => ({ timeMs, value: "x", outcome: "unmet" });

  it("merges stored evaluations with later ones, and keeps the last 50", () => {
    assert.deepEqual(mergeRecords([at(1), at(3)], [at(2), at(3), at(4)]), [at(1), at(3), at(4)]);
    const many = Array.from({ length: 80 }, (_, i) => at(i + 1));
    assert.deepEqual(mergeRecords(many.slice(0, 40), many.slice(40)), many.slice(-evaluationsKept));
    assert.deepEqual(mergeRecords([], []), []);
  });

  it("takes a bounded number of bytes, and keeps the newest evaluations that fit", () => {
    const long = (timeMs: number): Evaluation => ({ timeMs, value: "€".repeat(100), outcome: "fired" });
    const many = Array.from({ length: evaluationsKept }, (_, i) => long(i + 1));
    const kept = mergeRecords(many, []);
    assert.ok(kept.length < many.length && kept.length > 15, `${kept.length} kept`);
    assert.deepEqual(kept, many.slice(-kept.length));
    assert.ok(Buffer.byteLength(JSON.stringify(kept)) <= 8_192);
  });

  it("counts each value and each note, and is full at 8,192 bytes", () => {
    const four = (fields: Partial<Evaluation>) => Array.from({ length: 4 }, (_, i) => ({ ...at(i + 1), ...fields }));
    // 80 bytes for each evaluation, and three for each character.
    const fits = "x".repeat((8_192 / 4 - 80) / 3);
    for (const [fields, kept] of [
      [{ value: fits }, 4],
      [{ value: `${fits}x` }, 3],
      [{ value: null, note: fits }, 4],
      [{ value: null, note: `${fits}x` }, 3],
      [{ value: "x", note: fits }, 3],
    ] as const) {
      assert.equal(mergeRecords(four(fields), []).length, kept, Object.keys(fields).join());
    }
  });

  it("shows long values shortened, never half a character", () => {
    assert.equal(truncateValue(null), null);
    assert.equal(truncateValue("x".repeat(100)), "x".repeat(100));
    assert.equal(truncateValue(`${"x".repeat(99)}🏠`), `${"x".repeat(99)}\ufffd…`);
  });
});
