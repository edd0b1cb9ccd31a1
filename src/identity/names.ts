import { BadParameter } from "../model/errors.ts";

/** The platform's limit for names and passwords (platform-protocol.md, userLogin). */
export const longestName = 60;

/**
 * A name as it is kept and looked up: trimmed (phone keyboards add a space) and in one Unicode form, so that the same
 * letters typed on two machines are the same name.
 */
export function readName(parameter: string, text: string): string {
  return readText(parameter, text).trim();
}

/** A name that is to be kept: what can be typed and shown again. */
export function checkNewName(parameter: string, name: string): string {
  if (name === "") throw new BadParameter(parameter, `The ${parameter} must not be empty.`);
  if (/\p{Cc}/u.test(name)) throw new BadParameter(parameter, `The ${parameter} must not hold control characters.`);
  if (countCharacters(name) > longestName) {
    throw new BadParameter(parameter, `The ${parameter} must have at most ${longestName} characters.`);
  }
  return name;
}

/** Text from outside in one Unicode form; refused when a database couldn't keep or compare it as it is. */
export function readText(parameter: string, text: string): string {
  if (text.includes("\0") || !text.isWellFormed()) {
    throw new BadParameter(parameter, `The ${parameter} holds characters that can't be stored.`);
  }
  return text.normalize("NFC");
}

/** Code points rather than UTF-16 units: an emoji is no more than a letter. */
export function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
