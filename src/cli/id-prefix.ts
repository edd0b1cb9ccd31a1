import { BadParameter, NotFound } from "../model/errors.ts";

export interface KnownId {
  readonly id: string;
  /** A description for people, such as a name. */
  readonly words: string;
}

/** Guards against a misspelled shell variable that leaves only `bwc_` or nothing: that must not match the only client. */
const fewestLetters = 4;
const mostCandidates = 10;

/**
 * The id for a typed id or unique prefix. Only for random ids: numeric ids are always typed in full, because 4 must not
 * match 41.
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
