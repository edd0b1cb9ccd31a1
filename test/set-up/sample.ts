import { it, type TestContext } from "node:test";
import type { Deployment } from "./deployment.ts";
import { isAll } from "./extent.ts";

/**
 * A spread sample of cases: all of them with `npm run test:all`, every n-th of them with `npm test`. The choice is the
 * same in every run. Give each row of a table another `from`, so that the rows together cover every case.
 */
export function sampleOf<Case>(
  cases: readonly Case[],
  { everyNth, from = 0 }: { readonly everyNth: number; readonly from?: number },
): readonly Case[] {
  return isAll ? cases : cases.filter((_, place) => (place + from) % everyNth === 0);
}

/**
 * `it` for the statements of a suite that runs on both stores. On PostgreSQL `npm test` runs every n-th statement, and
 * those whose name matches `always`: what depends on how the store handles concurrent transactions.
 */
export function itOn(
  database: Deployment,
  { everyNth, always }: { readonly everyNth: number; readonly always: RegExp },
): (name: string, act: (test: TestContext) => Promise<void>) => void {
  let place = 0;
  return (name, act) => {
    const isChosen = database !== "postgres" || isAll || place++ % everyNth === 0 || always.test(name);
    if (isChosen) void it(name, act);
  };
}
