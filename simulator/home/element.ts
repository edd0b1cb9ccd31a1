import type { Json } from "./json.ts";

/** The element at a path of the account document; undefined if the path does not exist. */
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

/** An own property of a listing: an id from a caller, such as `constructor`, never finds an inherited one. */
export function entryOf<T>(listing: Readonly<Record<string, T>> | undefined, id: string): T | undefined {
  return listing !== undefined && Object.hasOwn(listing, id) ? listing[id] : undefined;
}
