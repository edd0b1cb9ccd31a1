import type { Pairs } from "../../http/request/incoming.ts";
import type { ConsolePage, PageContext } from "./console-page.ts";

interface Match {
  readonly userId: number;
}

/** Matches that are read to see whether all of them are of one user. */
const perKind = "10";

/**
 * A page with a filter by user takes a part of the name of a home or a user too. Returns the page's address for the only user
 * that matches, or that of a search, which lists all matches. Undefined if the address names no user, or an id.
 */
export async function addressByName(
  { path }: ConsolePage,
  { parameter, call, address, tenant }: PageContext,
  query: Pairs,
): Promise<string | undefined> {
  const name = parameter("user")?.trim() ?? "";
  if (name === "" || /^\d+$/.test(name) || path.includes(":user")) return undefined;
  const input = { filter: name, "page-size": perKind, ...(tenant && { tenant: String(tenant.tenantId) }) };
  const [homes, users] = await Promise.all([call("link find", input), call("user list", input)]);
  const matches: readonly Match[] = [...homes.links, ...users.users];
  const [userId, ...others] = new Set(matches.map((match) => match.userId));
  const isOne = userId !== undefined && others.length === 0 && (homes.cursor ?? users.cursor) === undefined;
  if (!isOne) return address("/search", { q: name });
  const { cursor: _, ...filters } = Object.fromEntries(query);
  return address(path, { ...filters, user: String(userId) });
}
