/** A broken guarantee; the message says which. */
export class Violation extends Error {}

/** Throws a violation unless the claim holds. The message is built only when it is needed. */
export function demand(holds: boolean, sentence: () => string): void {
  if (!holds) throw new Violation(sentence());
}
