import type { Mutant } from "./mutants.ts";
import type { RecordedTest } from "./orders.ts";

/** This part of the time goes to the first tests in the given order; the rest goes to tests that speak of the mutant. */
const firstPart = 1 / 3;

/**
 * Which of the tests that come by a mutant are run against it. A mutant that hundreds of tests come by can't meet all of
 * them. The fastest ones notice most mutants. For the others it helps to run the tests whose titles have words in common
 * with the mutant: `client.suspendedMs` and "a suspended client is refused".
 */
export function chosenTests(mutant: Mutant, tests: readonly RecordedTest[], budgetMs: number): readonly RecordedTest[] {
  const first = affordable(tests, budgetMs * firstPart);
  const chosen = new Set(first);
  const words = wordsOf(`${mutant.file} ${mutant.function} ${mutant.before}`);
  const others = tests
    .filter((test) => !chosen.has(test))
    .map((test) => ({ test, common: commonWords(words, test) }))
    .sort((a, b) => b.common - a.common || a.test.ms - b.test.ms)
    .map(({ test }) => test);
  return [...first, ...affordable(others, budgetMs - totalMs(first))];
}

function affordable(tests: readonly RecordedTest[], budgetMs: number): readonly RecordedTest[] {
  let leftMs = budgetMs;
  return tests.filter(({ ms }) => {
    if (ms >= leftMs) return false;
    leftMs -= ms;
    return true;
  });
}

function totalMs(tests: readonly RecordedTest[]): number {
  return tests.reduce((sum, { ms }) => sum + ms, 0);
}

function commonWords(words: ReadonlySet<string>, { file, name }: RecordedTest): number {
  return [...wordsOf(`${file} ${name}`)].filter((word) => words.has(word)).length;
}

/** The beginnings of the words, so that "suspended" and "suspension" are the same. Short words say too little. */
function wordsOf(text: string): ReadonlySet<string> {
  const words = text.match(/[A-Z]?[a-z]+/g) ?? [];
  return new Set(words.filter((word) => word.length >= 5).map((word) => word.toLowerCase().slice(0, 6)));
}
