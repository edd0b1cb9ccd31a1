import assert from "node:assert/strict";
import { describe, it } from "node:test";
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

  it("is RE2: look-around and back-references are refused, and so is what repeats too much", () => {
    for (const pattern of ["home", "^(a+)+$", "(.*a){20}", "[^;]{1,200}", "\\d+(\\.\\d+)?"]) {
      assert.equal(faultOf(pattern), undefined, pattern);
    }
    for (const pattern of ["(?=a)", "(?!a)", "(?<=a)b", "(a)\\1", "(", "[", "a**", "a{2000}", "(.*a){1000}"]) {
      assert.match(faultOf(pattern) ?? "", /^The pattern .*\.$/, pattern);
    }
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

  it("is kept compiled, within bounds", () => {
    const patterns = new Patterns();
    for (let i = 0; i < 3_000; i++) assert.equal(patterns.matches(`value ${i}[0-9]*`, `value ${i}`), true);
    assert.equal(patterns.matches("value 0[0-9]*", "value 01"), true);
  });
});
