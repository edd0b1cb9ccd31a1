import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import {
  accentProblem,
  type Color,
  contrastOf,
  readColor,
  shadeOn,
  textOn,
  writeColor,
} from "../../src/model/contrast.ts";

const color = (text: string) => readColor(text)!;
const part = fc.integer({ min: 0, max: 255 });
const anyColor: fc.Arbitrary<Color> = fc.tuple(part, part, part);

describe("a colour", () => {
  it("is read from #rrggbb in either case, and from nothing else", () => {
    assert.deepEqual(readColor("#0a64FF"), [10, 100, 255]);
    for (const other of ["", "#fff", "0a64ff", "#0a64f", "#0a64ff0", "#0a64fg", " #0a64ff", "#0a64ff\n", "red"]) {
      assert.equal(readColor(other), undefined, other);
    }
  });

  it("reads back as it was written", () => {
    fc.assert(fc.property(anyColor, (any) => assert.deepEqual(readColor(writeColor(any)), any)));
  });
});

describe("the contrast of two colours", () => {
  // The ratios that the usual checkers show for these pairs.
  const published = [
    ["#ffffff", "#000000", 21],
    ["#ffffff", "#ffffff", 1],
    ["#777777", "#ffffff", 4.48],
    ["#767676", "#ffffff", 4.54],
    ["#ff0000", "#ffffff", 4.0],
    ["#0000ff", "#ffffff", 8.59],
    ["#00ff00", "#000000", 15.3],
  ] as const;
  for (const [one, other, ratio] of published) {
    it(`is ${ratio} for ${one} and ${other}, either way round`, () => {
      assert.equal(contrastOf(color(one), color(other)).toFixed(1), ratio.toFixed(1));
      assert.equal(contrastOf(color(one), color(other)), contrastOf(color(other), color(one)));
    });
  }
});

describe("the text on an accent", () => {
  it("is white on dark colours and near-black on light ones", () => {
    for (const dark of ["#000000", "#12205a", "#b3261e", "#0b6470"])
      assert.equal(writeColor(textOn(color(dark))), "#ffffff");
    for (const light of ["#ffffff", "#ffd400", "#7fd1a0"]) assert.equal(writeColor(textOn(color(light))), "#14171c");
  });
});

describe("an accent", () => {
  it("is accepted when text on it is readable", () => {
    for (const good of ["#0b6470", "#c2410c", "#ffd400", "#12205a", "#FFFFFF", "#000000", "#767676"]) {
      assert.equal(accentProblem(good), undefined, good);
    }
  });

  it("is refused between the two, where neither white nor near-black text reaches 4.5:1", () => {
    for (const poor of ["#787878", "#7c7c7c", "#dd4b11"])
      assert.match(accentProblem(poor) ?? "", /contrast of 4\.5:1/, poor);
  });

  it("is refused when it is not a colour, without repeating it", () => {
    const problem = accentProblem("red;}body{display:none");
    assert.match(problem ?? "", /#rrggbb/);
    assert.ok(!problem!.includes("display"));
  });

  it("that is accepted carries text of 4.5:1, and a refused one could not", () => {
    fc.assert(
      fc.property(anyColor, (any) => {
        const best = Math.max(contrastOf(any, color("#ffffff")), contrastOf(any, color("#14171c")));
        assert.equal(accentProblem(writeColor(any)) === undefined, best >= 4.5);
      }),
      { numRuns: 500 },
    );
  });
});

describe("the shade of a colour on a background", () => {
  const surfaces = [color("#f4f6f8"), color("#1a1f26")];

  it("is the colour itself when it has enough contrast", () => {
    assert.deepEqual(shadeOn(color("#12205a"), surfaces[0]!, 4.5), color("#12205a"));
    assert.deepEqual(shadeOn(color("#ffd400"), surfaces[1]!, 4.5), color("#ffd400"));
  });

  it("reaches the contrast on light and dark, whatever the colour", () => {
    fc.assert(
      fc.property(anyColor, fc.constantFrom(...surfaces), fc.constantFrom(3, 4.5), (any, surface, least) => {
        assert.ok(contrastOf(shadeOn(any, surface, least), surface) >= least);
      }),
      { numRuns: 500 },
    );
  });

  it("stays a shade of it: a navy gets a brighter blue in the dark, not a grey", () => {
    const [red, green, blue] = shadeOn(color("#12205a"), surfaces[1]!, 3);
    assert.ok(blue > 200 && blue > 2 * green && green > red);
  });

  it("is the nearest that reaches the contrast: as bright as its hue gets, and only then paler", () => {
    const cases = [
      ["#000080", "#000000", 2, "#0000db"],
      ["#000080", "#000000", 6, "#8080ff"],
      ["#000000", "#000000", 4.5, "#787878"],
      ["#ffd400", "#ffffff", 4.5, "#877100"],
    ] as const;
    for (const [any, surface, least, shade] of cases) {
      assert.equal(writeColor(shadeOn(color(any), color(surface), least)), shade);
    }
  });

  it("is black or white when no shade reaches the contrast", () => {
    assert.equal(writeColor(shadeOn(color("#ffd400"), color("#ffffff"), 22)), "#000000");
    assert.equal(writeColor(shadeOn(color("#000080"), color("#000000"), 22)), "#ffffff");
  });

  it("of black in the dark is a grey", () => {
    const [red, green, blue] = shadeOn([0, 0, 0], surfaces[1]!, 4.5);
    assert.ok(red === green && green === blue && red > 100);
  });
});
