import { isJsonObject, type JsonObject } from "./untrusted-json.ts";

/** What a caller reads of a document. It is plain data, so that it can be sent to a thread. */
export type Projection =
  /** A whole value, without its texts over 16,384 characters. */
  | true
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
  /** An array or another value: a frame is one message, or a list of them. */
  | { readonly list: Projection; readonly single: Projection };

const longestText = 16_384;

/** The named part of a value. A value of another shape is left out, and undefined when it is the whole. */
export function project(value: unknown, projection: Projection): unknown {
  if (projection === true) return hasLongText(value) ? withoutLongTexts(value) : value;
  if ("text" in projection) return typeof value === "string" && value.length <= projection.text ? value : undefined;
  if ("list" in projection) return project(value, Array.isArray(value) ? projection.list : projection.single);
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
  return project(value, caseOf(value, projection.by, projection.cases) ?? projection.otherwise);
}

function caseOf(value: JsonObject, by: string, cases: Readonly<Record<string, Projection>>): Projection | undefined {
  const word = Object.hasOwn(value, by) ? value[by] : undefined;
  // An object from outside may have no usable toString.
  const name = typeof word === "object" ? "" : String(word);
  return Object.hasOwn(cases, name) ? cases[name] : undefined;
}

function projectItems(items: readonly unknown[], projection: Projection): readonly unknown[] {
  return items.map((item) => project(item, projection)).filter((item) => item !== undefined);
}

function projectMembers(members: readonly (readonly [name: string, value: unknown, Projection])[]): JsonObject {
  const projected = members.map(([name, value, projection]) => [name, project(value, projection)] as const);
  // Object.fromEntries defines a member `__proto__`. An assignment would change the prototype.
  return Object.fromEntries(projected.filter(([, value]) => value !== undefined));
}

function hasLongText(value: unknown): boolean {
  if (typeof value === "string") return value.length > longestText;
  return typeof value === "object" && value !== null && Object.values(value).some(hasLongText);
}

function withoutLongTexts(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return hasLongText(value) ? undefined : value;
  if (Array.isArray(value)) return value.map(withoutLongTexts).filter((item) => item !== undefined);
  const entries = Object.entries(value).map(([name, member]) => [name, withoutLongTexts(member)] as const);
  return Object.fromEntries(entries.filter(([, member]) => member !== undefined));
}
