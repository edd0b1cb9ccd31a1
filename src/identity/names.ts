import { countCharacters } from "../model/attribute-text.ts";
import { BadParameter } from "../model/errors.ts";
import { hiddenCharacter, hiddenCharacterProblem } from "../model/hidden-characters.ts";

/** The most characters of a name and of a password. The platform call `userLogin` has this limit. */
export const longestName = 60;

/**
 * Normalises a name before it is stored or looked up: trimmed (phone keyboards add a space) and in Unicode form NFC, so
 * that the same letters typed on two machines are equal.
 */
export function readName(parameter: string, text: string): string {
  return readText(parameter, text).trim();
}

/**
 * Returns a normalised new name. Throws BadParameter if it is empty, too long, or has control or invisible characters. A
 * stored name that stays as it is passes: an earlier version may have accepted it.
 */
export function checkNewName(parameter: string, name: string, storedName?: string): string {
  if (name === storedName) return name;
  if (name === "") throw new BadParameter(parameter, `The ${parameter} must not be empty.`);
  if (/\p{Cc}/u.test(name)) throw new BadParameter(parameter, `The ${parameter} must not hold control characters.`);
  const hidden = hiddenCharacter(name);
  if (hidden) throw new BadParameter(parameter, `The ${parameter} ${hiddenCharacterProblem(hidden)}`);
  if (countCharacters(name) > longestName) {
    throw new BadParameter(parameter, `The ${parameter} must have at most ${longestName} characters.`);
  }
  return name;
}

/** Normalises text to NFC. Refuses NUL and lone surrogates, which a database can't store unchanged. */
export function readText(parameter: string, text: string): string {
  if (text.includes("\0") || !text.isWellFormed()) {
    throw new BadParameter(parameter, `The ${parameter} holds characters that can't be stored.`);
  }
  return text.normalize("NFC");
}
