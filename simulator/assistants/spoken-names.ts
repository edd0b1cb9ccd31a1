/** Something that a person can name. */
export interface Named {
  readonly name: string;
  /** Undefined for an assistant without rooms. */
  readonly room?: string | undefined;
}

/**
 * Everything that the spoken words can mean; empty for nothing. Every spoken word must begin a word of the name or of the
 * room: "hall" means "Hallway (144A)". If the words are the whole name of some, only these are returned.
 */
export function meant<Known extends Named>(spoken: string, all: readonly Known[]): readonly Known[] {
  const words = wordsOf(spoken);
  if (words.length === 0) return [];
  const found = all.filter(({ name, room = "" }) => {
    const known = wordsOf(`${name} ${room}`);
    return words.every((word) => known.some((one) => one.startsWith(word)));
  });
  const whole = found.filter(({ name }) => wordsOf(name).join(" ") === words.join(" "));
  return whole.length > 0 ? whole : found;
}

/** A name as a person would say it: without what stands in brackets. */
export function spokenName(name: string): string {
  return (name.replace(/\s*\([^)]*\)/g, "").trim() || name).toLowerCase();
}

/** The words of a text in lower case, without punctuation. */
function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{Letter}\p{Number}]+/gu) ?? [];
}
