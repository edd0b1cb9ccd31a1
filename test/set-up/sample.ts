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
