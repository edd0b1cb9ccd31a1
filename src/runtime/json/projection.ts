import { isJsonObject, type JsonObject } from "./untrusted-json.ts";

/**
 * What a caller reads of a document. It is plain data, so that it can be sent to a thread. The event loop takes over all
 * of it in one piece, however large it is: only `whole` holds values that the projection does not name, and it has a limit.
 */
export type Projection =
  /** A text of at most 16,384 characters, a number, a boolean or null. */
  | true
  /** Any value, without its texts over 16,384 characters. With more values than this the document is not read. */
  | { readonly whole: number }
  /** A text of at most so many characters. */
  | { readonly text: number }
  /** An object: these members only. */
  | { readonly pick: Readonly<Record<string, Projection>> }
  /** An array: the first items, each projected. */
  | { readonly each: Projection; readonly limit: number }
  /** An object with any names: the first members, each projected. */
  | { readonly members: Projection; readonly limit: number }
  /** An object: the value of its member `by` chooses the projection. */
  | {
      readonly by: string;
      readonly cases: Readonly<Record<string, Projection>>;
      readonly otherwise: Projection;
    }
  /** An array, an object or another value: a frame is one message, or a list of them. */
  | { readonly list?: Projection; readonly object?: Projection; readonly single: Projection };

const longestText = 16_384;

/**
 * The named part of a value. A value of another shape is left out. Undefined when it is the whole, and when a `whole`
 * part has too many values.
 */
export function project(value: unknown, projection: Projection): unknown {
  try {
    return projected(value, projection);
  } catch (error) {
    if (error instanceof TooManyValues) return undefined;
    throw error;
  }
}

/** A part that is left out could look as if the document did not have it: so all of it is not read. */
class TooManyValues extends Error {}

function projected(value: unknown, projection: Projection): unknown {
  if (projection === true) return typeof value === "object" && value !== null ? undefined : shortOnly(value);
  if ("whole" in projection) return wholeOf(value, { left: projection.whole });
  if ("text" in projection) return typeof value === "string" && value.length <= projection.text ? value : undefined;
  if ("single" in projection) return projected(value, shapeOf(value, projection) ?? projection.single);
  if ("each" in projection) {
    return Array.isArray(value) ? projectItems(value.slice(0, projection.limit), projection.each) : undefined;
  }
  if (!isJsonObject(value)) return undefined;
  if ("members" in projection) {
    const entries = Object.entries(value).slice(0, projection.limit);
    return projectMembers(entries.map(([name, member]) => [name, member, projection.members]));
  }
  if ("pick" in projection) {
    const names = Object.keys(projection.pick).filter((name) => Object.hasOwn(value, name));
    return projectMembers(names.map((name) => [name, value[name], projection.pick[name]!]));
  }
  return projected(value, caseOf(value, projection.by, projection.cases) ?? projection.otherwise);
}

function caseOf(value: JsonObject, by: string, cases: Readonly<Record<string, Projection>>): Projection | undefined {
  const word = Object.hasOwn(value, by) ? value[by] : undefined;
  // An object from outside may have no usable toString.
  const name = typeof word === "object" ? "" : String(word);
  return Object.hasOwn(cases, name) ? cases[name] : undefined;
}

function projectItems(items: readonly unknown[], projection: Projection): readonly unknown[] {
  return items.map((item) => projected(item, projection)).filter((item) => item !== undefined);
}

function projectMembers(members: readonly (readonly [name: string, value: unknown, Projection])[]): JsonObject {
  const entries = members.map(([name, value, projection]) => [name, projected(value, projection)] as const);
  // Object.fromEntries defines a member `__proto__`. An assignment would change the prototype.
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function shapeOf(value: unknown, { list, object }: { readonly list?: Projection; readonly object?: Projection }) {
  if (Array.isArray(value)) return list;
  return isJsonObject(value) ? object : undefined;
}

function shortOnly(value: unknown): unknown {
  return typeof value === "string" && value.length > longestText ? undefined : value;
}

function wholeOf(value: unknown, count: { left: number }): unknown {
  if (--count.left < 0) throw new TooManyValues();
  if (Array.isArray(value)) return value.map((item) => wholeOf(item, count)).filter((item) => item !== undefined);
  if (!isJsonObject(value)) return shortOnly(value);
  const entries = Object.entries(value).map(([name, member]) => [name, wholeOf(member, count)] as const);
  return Object.fromEntries(entries.filter(([, member]) => member !== undefined));
}
