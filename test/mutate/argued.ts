import type { Mutant } from "./mutants.ts";

/**
 * A mutant that may survive, and why. It is named by what it changes, not by its line, so that it stays valid when other
 * lines change; it stands for all equal mutants of its function.
 */
export interface Argued {
  readonly file: string;
  readonly function: string;
  readonly operator: string;
  readonly before: string;
  readonly after: string;
  readonly reason: string;
}

type Survivor = readonly [operator: string, before: string, after: string, reason: string];

/** The entries of one function of a file. */
export function arguedIn(file: string, around: string, survivors: readonly Survivor[]): readonly Argued[] {
  return survivors.map(([operator, before, after, reason]) => ({
    file,
    function: around,
    operator,
    before,
    after,
    reason,
  }));
}

export function isArguedBy({ file, function: around, operator, before, after }: Mutant, entry: Argued): boolean {
  return (
    entry.file === file &&
    entry.function === around &&
    entry.operator === operator &&
    entry.before === before &&
    entry.after === after
  );
}

/** Entries that name no mutant any more, of the files that were looked at. */
export function staleEntries(entries: readonly Argued[], mutants: readonly Mutant[]): readonly Argued[] {
  const files = new Set(mutants.map(({ file }) => file));
  return entries.filter((entry) => files.has(entry.file) && !mutants.some((mutant) => isArguedBy(mutant, entry)));
}
