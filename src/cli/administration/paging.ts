import { BadParameter } from "../../model/errors.ts";
import { type Input, number, optional } from "../input.ts";

/** The page that a caller over HTTP asks for; undefined for a command line, which lists everything. */
export interface WantedPage {
  readonly limit: number;
  readonly after: string | undefined;
}

export const mostPerPage = 200;

export function wantedPage(input: Input): WantedPage | undefined {
  if (optional(input, "page-size") === undefined) return undefined;
  return { limit: Math.floor(number(input, "page-size", 1, mostPerPage)), after: optional(input, "cursor") };
}

/** One page of a list that is small enough to be read whole, restricted to entries whose words contain the filter. */
export function pageOf<Row>(
  rows: readonly Row[],
  input: Input,
  { key, words }: { readonly key: (row: Row) => string; readonly words: (row: Row) => string },
): { readonly rows: readonly Row[]; readonly cursor?: string } {
  const wanted = wantedPage(input);
  const filter = optional(input, "filter")?.toLowerCase();
  const found =
    filter === undefined ? rows : rows.filter((row) => `${words(row)} ${key(row)}`.toLowerCase().includes(filter));
  if (!wanted) return { rows: found };
  const { limit, after } = wanted;
  const start = after === undefined ? 0 : found.findIndex((row) => key(row) === after) + 1;
  if (after !== undefined && start === 0) throw staleCursor();
  const page = found.slice(start, start + limit);
  const last = page.at(-1);
  return found.length > start + limit && last !== undefined ? { rows: page, cursor: key(last) } : { rows: page };
}

/** A cursor that is a number: the id of the last entry of the page before. */
export function afterId({ after }: WantedPage): number | undefined {
  if (after === undefined) return undefined;
  if (!/^[1-9][0-9]{0,15}$/.test(after)) throw staleCursor();
  return Number(after);
}

function staleCursor(): BadParameter {
  return new BadParameter("cursor", "The cursor is not one of this list, or its entry was removed. Start without it.");
}
