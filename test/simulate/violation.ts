/** A promise that was not kept, in a sentence. */
export class Violation extends Error {}

/** Sentences are made only when they are needed: most demands hold. */
export function demand(isSo: boolean, sentence: () => string): void {
  if (!isSo) throw new Violation(sentence());
}
