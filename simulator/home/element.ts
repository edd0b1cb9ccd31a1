import type { Json } from "./json.ts";

/**
 * Every element of the account document is a path. Undefined when there is nothing at it; null is a value that a
 * document may hold.
 */
export function elementAt(document: Json, segments: readonly string[]): Json | undefined {
  let element: Json = document;
  for (const segment of segments) {
    if (typeof element !== "object" || element === null) return undefined;
    if (Array.isArray(element) && !/^[0-9]+$/.test(segment)) return undefined;
    if (!Object.hasOwn(element, segment)) return undefined;
    element = (element as Readonly<Record<string, Json>>)[segment]!;
  }
  return element;
}

/** What stands in a listing under an id that a caller sent; never something inherited, whatever the id is called. */
export function entryOf<T>(listing: Readonly<Record<string, T>> | undefined, id: string): T | undefined {
  return listing !== undefined && Object.hasOwn(listing, id) ? listing[id] : undefined;
}
