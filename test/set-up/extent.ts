/** `npm run test:all` runs everything. `npm test` runs fewer rounds of what is long, and some tests on SQLite alone. */
export const isAll: boolean = process.env.TEST_ALL === "true";

/** How many rounds of a long test are run: all of them with `npm run test:all`, a few with `npm test`. */
export function rounds({ all, few }: { readonly all: number; readonly few: number }): number {
  return isAll ? all : few;
}

/** `npm test` runs one program of other people of each kind, `npm run foreign` and `npm run test:all` run all of them. */
export const hasAllForeign: boolean = isAll || process.env.TEST_FOREIGN === "true";

/** `npm run check` leaves PostgreSQL out. */
export const hasPostgres: boolean = process.env.TEST_WITHOUT_POSTGRES !== "true";
