import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RE2JS } from "re2js";
import { Chain } from "../../src/alerts/chain.ts";
import { estimatedCost } from "../../src/alerts/pattern-cost.ts";
import { estimatedSize } from "../../src/alerts/pattern-size.ts";
import { largestProgram, Patterns } from "../../src/alerts/patterns.ts";
import { writeLimits } from "../../src/devices/write.ts";
import type { UserId } from "../../src/model/ids.ts";
import { numbersFrom } from "../set-up/seeded-random.ts";
import { collector, madeMatching } from "./made-matching.ts";

describe("the pattern of an alert", () => {
  const { matches, faultOf } = new Patterns();

  it("must match the whole value", () => {
    assert.equal(matches("away", "auto-away"), false);
    for (const pattern of [".*away", "away|auto-away", "(auto-)?away"]) {
      for (const value of ["away", "auto-away"]) assert.equal(matches(pattern, value), true, `${pattern} ${value}`);
      for (const value of ["home", "away ", "faraway!"]) assert.equal(matches(pattern, value), false);
    }
    assert.equal(matches("^home$", "home"), true);
    assert.equal(matches("(?i)home", "HOME"), true);
    assert.equal(matches("\\p{L}+", "Straße"), true);
  });

  it("is RE2: look-around, back-references and too many repeats are refused", () => {
    for (const pattern of ["home", "^(a+)+$", "(.*a){20}", "[^;]{1,100}", "\\d+(\\.\\d+)?"]) {
      assert.equal(faultOf(pattern), undefined, pattern);
    }
    for (const pattern of ["(?=a)", "(?!a)", "(?<=a)b", "(a)\\1", "(", "[", "a**", "a{2000}", "(.*a){1000}"]) {
      assert.match(faultOf(pattern) ?? "", /^The pattern .*\.$/, pattern);
    }
  });

  it("may have a program that one change can evaluate on the longest value, and no larger one", () => {
    const overhead = RE2JS.compile("a").programSize() - 1;
    const sized = (size: number) => "a".repeat(size - overhead);
    assert.equal(RE2JS.compile(sized(largestProgram)).programSize(), largestProgram);
    assert.equal(faultOf(sized(largestProgram)), undefined);
    assert.match(faultOf(sized(largestProgram + 1)) ?? "", /too complex/);
    const longest = "x".repeat(writeLimits.valueBytes);
    const accepted = [sized(largestProgram), "(.*a){40}", ".{200}", "(?:a?b?){50}", "a{0,100}"];
    for (const pattern of accepted) {
      assert.equal(faultOf(pattern), undefined, pattern);
      // A chain in a node that has just started: the pattern is not in memory.
      const matching = madeMatching();
      const judged = matching.judge({}, new Chain(), 1 as UserId, { operation: "regex", pattern }, longest);
      assert.equal(typeof judged, "boolean", pattern);
    }
  });

  it("keeps no memory that grows with the values, whatever its program and the values are", () => {
    const [collect, random] = [collector(), numbersFrom(7)];
    const value = () => Array.from({ length: 8_192 }, () => (random() < 0.5 ? "a" : "b")).join("");
    const values = Array.from({ length: 3 }, value);
    const patterns = new Patterns();
    // An automaton for one of these has thousands of states.
    const all = Array.from({ length: 12 }, (_, i) => `[ab]*a[ab]{13}\\pLx${i}`);
    for (const pattern of all) assert.equal(patterns.faultOf(pattern), undefined);
    assert.equal(patterns.matches(all[0]!, values[0]!), false);
    collect();
    const before = process.memoryUsage().heapUsed;
    for (const pattern of all) for (const one of values) assert.equal(patterns.matches(pattern, one), false);
    collect();
    assert.ok(process.memoryUsage().heapUsed - before < 8_000_000);
  });

  it("never reaches the expressions of JavaScript, in which some would not end", (t) => {
    const value = `${"a".repeat(8_000)}!`;
    const real = RegExp.prototype.exec;
    t.mock.method(RegExp.prototype, "exec", function (this: RegExp, text: string) {
      assert.notEqual(text, value);
      return real.call(this, text);
    });
    for (const pattern of ["^(a+)+$", "(.*a){20}", "(a|aa)+", "(a*)*b", "(?:a?){50}a{50}"]) {
      assert.equal(matches(pattern, value), false, pattern);
    }
  });

  it("is refused before it is compiled when its program would be huge", (t) => {
    const huge = [
      `${"(".repeat(120)}a${")".repeat(120)}{1000}`,
      `(?:${"\\pL".repeat(80)}){1000}`,
      "((a{100}){100}){100}",
      "([a-z{}]{500}x){400,}",
      "(\\Qa{2}\\E{300}){300}",
      // Few instructions, and up to a second to compile.
      `(?i)${"\\pL".repeat(80)}`,
      `(?i)[^${"\\pL".repeat(80)}]`,
      `[${"\\p{L}".repeat(40)}]`,
      "(?i)[B-\u{1e942}]",
      "(?s)a(?mi:[\\x{42}-\\x{1E942}])",
      "(?i)[\\x42-\u{1e942}]",
      "(?i)[\\102-\u{1e942}]",
      "(?i)[^x\\a-\u{1e942}]",
    ];
    const compile = t.mock.method(RE2JS, "compile");
    for (const pattern of huge) assert.match(faultOf(pattern) ?? "", /too complex/, pattern);
    assert.equal(compile.mock.callCount(), 0);
  });

  it("has an estimated size close to that of its program", () => {
    const ordinary = [
      "home",
      "^(a+)+$",
      "(.*a){20}",
      "[^;]{1,200}",
      "\\d+(\\.\\d+)?",
      "(auto-)?away|home",
      "[]{3000}]+x",
      "[[:alpha:]]{3,40}",
      "\\p{Greek}{7}\\x{10FFFF}",
      "\\Q{9999}\\E",
      "(?i:ok|error [0-9]{3}){2,5}",
      "((a{5}){5}){5}",
    ];
    for (const pattern of ordinary) {
      const ratio = estimatedSize(pattern) / RE2JS.compile(pattern).programSize();
      assert.ok(ratio > 0.4 && ratio < 3, `${pattern} ${ratio}`);
    }
  });

  it("is estimated instruction by instruction, repeats multiplied", () => {
    const sizes: readonly (readonly [pattern: string, instructions: number])[] = [
      ["", 0],
      ["ab", 2],
      ["ab{3}", 4],
      ["a{3}", 3],
      ["a{2,5}", 5],
      ["a{3}{2}", 6],
      ["a*", 2],
      ["a*{3}", 6],
      ["[{3}]\\w", 2],
      ["\\Qab\\E{3}", 4],
      ["(ab){3}", 12],
      ["\\Q(a*\\E", 3],
      ["[(*]{2}", 2],
      ["a({3}b)", 4],
      ["(a)(b)", 6],
      // What is not closed, or closes nothing, still counts.
      ["x(y(z", 3],
      [")", 2],
    ];
    for (const [pattern, instructions] of sizes) assert.equal(estimatedSize(pattern), instructions, pattern);
  });

  it("costs more to compile with classes, most of all with case-insensitive ones", () => {
    const costs: readonly (readonly [pattern: string, cost: number])[] = [
      ["", 20],
      ["ab{3}", 24],
      ["\\d\\S[[:alpha:]]", 29],
      ["(?i)\\d", 35],
      ["\\pL", 322],
      ["(?i)\\PL", 626],
      ["[a-z]", 21],
      // 26 characters, of which 10 take the time of one instruction.
      ["(?i)[a-z]", 28],
      ["(?i)[\\x{61}-\\x7a]", 28],
      ["(?i)[z-a]", 25],
      // Escapes stand for any character that they can name.
      ["(?i)[\\t-\\r]", 70],
      ["(?i)[!-\u{10ffff}]", 12_544],
    ];
    for (const [pattern, cost] of costs) assert.equal(estimatedCost(pattern), cost, pattern);
    assert.equal(estimatedCost("(?i)[A-K]") - estimatedCost("(?i)[A-J]"), 1, "ten characters of a range cost one");
  });

  it("takes steps to compile only when it is not in memory, and its cost and size are known without it", () => {
    const patterns = new Patterns();
    assert.deepEqual([patterns.faultOf("kept"), patterns.stepsToCompile("kept")], [undefined, 0]);
    assert.equal(patterns.stepsToCompile("other"), 60 * estimatedCost("other"));
    assert.equal(patterns.costOf("kept"), estimatedCost("kept"));
    assert.deepEqual([patterns.knownSize("kept"), patterns.knownSize("other")], [6, undefined]);
    patterns.remember("other", 7);
    assert.deepEqual([patterns.knownSize("other"), patterns.stepsToCompile("other") > 0], [7, true]);
  });

  it("is forgotten with its cost and size when many others were seen since", () => {
    const patterns = new Patterns();
    patterns.remember("kept", 6);
    for (let i = 1; i < 10_000; i++) patterns.costOf(`pattern ${i}`);
    assert.equal(patterns.knownSize("kept"), 6);
    patterns.costOf("one more");
    assert.equal(patterns.knownSize("kept"), undefined);
  });

  it("of an older version is compiled once for its steps and its match, however costly it is", (t) => {
    const patterns = new Patterns();
    assert.equal(patterns.matches("small", "small"), true);
    const compile = t.mock.method(RE2JS, "compile");
    const pattern = `(?i)${"\\pL".repeat(84)}`;
    assert.ok(estimatedCost(pattern) > 50_000);
    patterns.sizeOf(pattern);
    assert.equal(patterns.matches(pattern, "x".repeat(84)), true);
    assert.equal(compile.mock.callCount(), 1);
    assert.equal(patterns.matches("small", "small"), true);
    assert.equal(compile.mock.callCount(), 2, "it has left no room for others");
    assert.equal(patterns.matches("small", "small"), true);
    assert.equal(compile.mock.callCount(), 2, "and goes itself for the next one");
  });

  it("is compiled once while it is in use, and again when many others were used since", (t) => {
    const patterns = new Patterns();
    const compile = t.mock.method(RE2JS, "compile");
    const compiledFor = (pattern: string, value: string) => {
      const before = compile.mock.callCount();
      assert.equal(patterns.matches(pattern, value), true);
      return compile.mock.callCount() - before;
    };
    assert.equal(compiledFor("kept", "kept"), 1);
    for (let i = 0; i < 3_000; i++) {
      assert.equal(compiledFor(`value ${i}[0-9]*`, `value ${i}`), 1);
      assert.equal(compiledFor("kept", "kept"), 0, `after ${i} others`);
    }
    assert.equal(compiledFor("value 2000[0-9]*", "value 20001"), 0);
    assert.equal(compiledFor("value 0[0-9]*", "value 01"), 1);
  });

  it("is compiled again when many others were used once", (t) => {
    const patterns = new Patterns();
    for (let i = 0; i < 3_000; i++) assert.equal(patterns.matches(`value ${i}`, ""), false);
    const compile = t.mock.method(RE2JS, "compile");
    patterns.matches("value 2999", "");
    assert.equal(compile.mock.callCount(), 0);
    patterns.matches("value 0", "");
    assert.equal(compile.mock.callCount(), 1);
  });
});
