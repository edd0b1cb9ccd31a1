const longest = 400;
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}]/gu;

/**
 * A sentence for people that may repeat what a caller has typed, such as the name of a tenant that does not exist: without
 * characters that change a terminal or the direction of text, and of a bounded length.
 */
export function plainSentence(sentence: string): string {
  const plain = sentence.replace(unprintable, "\uFFFD");
  return plain.length <= longest ? plain : `${plain.slice(0, longest - 1).toWellFormed()}…`;
}
