import type { LinkSessionRow } from "../store/tables/link-sessions.ts";

/** The address back to the client: the registered one, with the session's id and the client's state. */
export function returnAddress({
  id,
  returnUrl,
  clientState,
}: Pick<LinkSessionRow, "id" | "returnUrl" | "clientState">): string | undefined {
  if (returnUrl === null) return undefined;
  const pairs = [`linkSession=${encodeURIComponent(id)}`];
  if (clientState !== null) pairs.push(`state=${encodeURIComponent(clientState)}`);
  // A query in the registered address is kept.
  return `${returnUrl}${returnUrl.includes("?") ? "&" : "?"}${pairs.join("&")}`;
}
