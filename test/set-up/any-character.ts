import fc from "fast-check";

/**
 * Any Unicode character, as the unit of `fc.string`. The unit "binary" of fast-check means the same, but spends two
 * seconds of CPU time in each process on a table of all characters.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((codePoint) => String.fromCodePoint(codePoint));
