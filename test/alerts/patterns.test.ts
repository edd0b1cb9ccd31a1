import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RE2JS } from "re2js";
import { estimatedSize } from "../../src/alerts/pattern-size.ts";
import { Patterns } from "../../src/alerts/patterns.ts";

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
    for (const pattern of ["home", "^(a+)+$", "(.*a){20}", "[^;]{1,200}", "\\d+(\\.\\d+)?"]) {
      assert.equal(faultOf(pattern), undefined, pattern);
    }
    for (const pattern of ["(?=a)", "(?!a)", "(?<=a)b", "(a)\\1", "(", "[", "a**", "a{2000}", "(.*a){1000}"]) {
      assert.match(faultOf(pattern) ?? "", /^The pattern .*\.$/, pattern);
    }
  });

  it("may have a program of 1,000 instructions, and no larger one", () => {
    const overhead = RE2JS.compile("a").programSize() - 1;
    const sized = (size: number) => "a".repeat(size - overhead);
    assert.equal(RE2JS.compile(sized(1_000)).programSize(), 1_000);
    assert.equal(faultOf(sized(1_000)), undefined);
    assert.match(faultOf(sized(1_001)) ?? "", /too complex/);
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
});
