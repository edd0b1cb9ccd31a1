/** Scripts whose letters a joiner shapes: those that are written joined, and those of India and its neighbours. */
const shapedScripts = [
  ...["Arabic", "Syriac", "Mandaic", "Nko", "Mongolian", "Phags_Pa", "Adlam", "Hanifi_Rohingya"],
  ...["Devanagari", "Bengali", "Gurmukhi", "Gujarati", "Oriya", "Tamil", "Telugu", "Kannada", "Malayalam", "Sinhala"],
  ...["Tibetan", "Myanmar", "Khmer", "Balinese", "Javanese", "Sundanese", "Meetei_Mayek", "Chakma"],
];
const letter = `[${shapedScripts.map((script) => `\\p{Script=${script}}`).join("")}]`;
/** ZWNJ and ZWJ between two letters of such scripts, ZWJ between two emoji. */
const neededJoiner = new RegExp(
  `(?<=${letter}\\p{M}*)[\\u200C\\u200D](?=${letter})|(?<=\\p{Extended_Pictographic}[\\uFE0F\\p{Emoji_Modifier}]*)\\u200D(?=\\p{Extended_Pictographic})`,
  "gu",
);

/**
 * The first character of a name that nobody sees, or that turns the text after it around, as `U+202E`: such names look
 * like others. Undefined if there is none.
 */
export function hiddenCharacter(name: string): string | undefined {
  const [found] = /[\p{Cf}\p{Zl}\p{Zp}]/u.exec(name.replace(neededJoiner, "")) ?? [];
  return found && `U+${found.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** The end of a sentence that refuses such a name. */
export function hiddenCharacterProblem(character: string): string {
  return `must not hold ${character}, which is invisible or changes the direction of text. U+200C and U+200D are allowed between letters that need them.`;
}
