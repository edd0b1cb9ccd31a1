import type { TestContext } from "node:test";

/**
 * Random numbers of a seed that is another each time, or the one that SEED names. Of a test that fails it is told, so
 * that it can be run with the same once more.
 */
export function seededRandom(test: TestContext): () => number {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e6));
  test.after(() => {
    if (!test.passed) test.diagnostic(`SEED=${seed} spreads the requests over the nodes in the same way`);
  });
  return numbersFrom(seed);
}

/** The same seed, the same numbers (a linear congruential generator). */
export function numbersFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
