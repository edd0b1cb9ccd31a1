import { BadParameter, NotFound } from "../model/errors.ts";

export interface KnownId {
  readonly id: string;
  /** What a person knows it by. */
  readonly words: string;
}

/** A mistyped variable leaves `bwc_` or nothing of an id: that must not name the only client there is. */
const fewestLetters = 4;
const mostCandidates = 10;

/**
 * The id that was typed, whole or by a prefix that only one known id has. For random ids alone: ids that are numbers are
 * always typed whole, since 4 must not stand for 41.
 */
export function idByPrefix(kind: string, typed: string, known: readonly KnownId[]): string {
  if (known.some(({ id }) => id === typed)) return typed;
  const found = known.filter(({ id }) => id.startsWith(typed));
  if (found.length === 0) throw new NotFound(`There is no ${kind} ${typed}. See all with: breezeway ${listing(kind)}`);
  const letters = typed.slice(typed.indexOf("_") + 1).length;
  if (letters < fewestLetters) {
    const least = `at least ${fewestLetters} characters of it${typed.includes("_") ? ", after the underscore" : ""}`;
    throw new BadParameter(kind, `${typed} is too short for the id of a ${kind}. Type ${least}.`);
  }
  if (found.length === 1) return found[0]!.id;
  const candidates = found.slice(0, mostCandidates).map(({ id, words }) => `  ${id}  ${words}`);
  const more = found.length > mostCandidates ? [`  and ${found.length - mostCandidates} more`] : [];
  throw new BadParameter(
    kind,
    [`${typed} is the beginning of ${found.length} ids. Type more of the one you mean:`, ...candidates, ...more].join(
      "\n",
    ),
  );
}

function listing(kind: string): string {
  return kind === "account" ? "sim accounts" : `${kind} list`;
}
