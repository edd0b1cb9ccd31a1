import { it, type TestContext } from "node:test";
import { type Deployment, isSpread } from "./deployment.ts";
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
 * The statements of a suite that runs on several deployments: `statements.it` is `it`, but on PostgreSQL `npm test` leaves
 * out all except every n-th. It is a getter so that the report names the file that calls it. Statements about concurrent
 * transactions call `it` itself.
 */
export function statementsOn(database: Deployment, { everyNth }: { readonly everyNth: number }) {
  let place = 0;
  return {
    get it(): (name: string, act: (test: TestContext) => Promise<void>) => unknown {
      const isChosen = database === "sqlite" || isAll || isSpread || place++ % everyNth === 0;
      return isChosen ? it : () => undefined;
    },
  };
}
