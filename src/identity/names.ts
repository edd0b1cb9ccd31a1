import { BadParameter } from "../model/errors.ts";

/** The platform's limit for names and passwords (`userLogin`). */
export const longestName = 60;

/**
 * Normalises a name before it is stored or looked up: trimmed (phone keyboards add a space) and in Unicode form NFC, so
 * that the same letters typed on two machines are equal.
 */
export function readName(parameter: string, text: string): string {
  return readText(parameter, text).trim();
}

/** Checks a new name: not empty, no control characters, not too long. */
export function checkNewName(parameter: string, name: string): string {
  if (name === "") throw new BadParameter(parameter, `The ${parameter} must not be empty.`);
  if (/\p{Cc}/u.test(name)) throw new BadParameter(parameter, `The ${parameter} must not hold control characters.`);
  if (countCharacters(name) > longestName) {
    throw new BadParameter(parameter, `The ${parameter} must have at most ${longestName} characters.`);
  }
  return name;
}

/** Normalises text to NFC. Refuses text that a database can't store unchanged. */
export function readText(parameter: string, text: string): string {
  if (text.includes("\0") || !text.isWellFormed()) {
    throw new BadParameter(parameter, `The ${parameter} holds characters that can't be stored.`);
  }
  return text.normalize("NFC");
}

/** Counts code points, not UTF-16 units: an emoji counts as one. */
export function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
