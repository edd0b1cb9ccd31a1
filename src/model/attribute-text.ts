/** The longest name of an attribute, in code points. */
export const longestAttributeName = 128;

/**
 * Characters that names and values of attributes must not have: databases can't store NUL and halves of surrogate
 * pairs; XML can't carry other control characters, not even escaped.
 */
export const forbiddenCharacter = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

/** Whether a device that is not virtual may have an attribute of this name. */
export function isAttributeName(name: string): boolean {
  const length = countCharacters(name);
  return length > 0 && length <= longestAttributeName && !/\p{Cc}/u.test(name) && !forbiddenCharacter.test(name);
}

/** Counts code points, not UTF-16 units: an emoji counts as one character. */
export function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
