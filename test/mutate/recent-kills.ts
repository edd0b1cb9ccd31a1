import type { Mutant } from "./mutants.ts";
import type { RecordedTest, TestKey } from "./orders.ts";

/** How many tests of a function are remembered. */
const kept = 3;

/** The tests that killed the last mutants of each function. They are likely to kill the next one, too. */
export class RecentKills {
  readonly #names = new Map<string, readonly string[]>();

  note({ mutant, by }: { readonly mutant: Mutant; readonly by?: string }): void {
    if (by === undefined) return;
    const before = this.#names.get(keyOf(mutant)) ?? [];
    this.#names.set(keyOf(mutant), [by, ...before.filter((name) => name !== by)].slice(0, kept));
  }

  /** These tests first, the others by their speed. */
  inOrder(mutant: Mutant, tests: readonly RecordedTest[]): readonly RecordedTest[] {
    const names = this.#names.get(keyOf(mutant)) ?? [];
    const isKiller = (test: RecordedTest) => names.includes(nameOfTest(test));
    return tests.toSorted((a, b) => Number(isKiller(b)) - Number(isKiller(a)) || a.ms - b.ms);
  }
}

export function nameOfTest({ file, name }: TestKey): string {
  return `${file}: ${name}`;
}

function keyOf({ file, function: around }: Mutant): string {
  return `${file}: ${around}`;
}
