/** What is wrong with a JSON document, and where: `jsonPath` is such as `traits.onOff.on.words`. */
export interface JsonProblem {
  readonly jsonPath: string;
  /** A clause that follows the path, such as "must be a number". */
  readonly problem: string;
}

/** Ends the reading of a document at its first mistake. `checkJson` turns it into a result. */
class JsonMistake extends Error {
  readonly found: JsonProblem;
  constructor(found: JsonProblem) {
    super(`${found.jsonPath} ${found.problem}`);
    this.found = found;
  }
}

export function mistake(jsonPath: string, problem: string): never {
  throw new JsonMistake({ jsonPath, problem });
}

/** The result of a reader, or the mistake that ended it. */
export function checkJson<Read extends object>(read: () => Read): Read | JsonProblem {
  try {
    return read();
  } catch (error) {
    if (error instanceof JsonMistake) return error.found;
    throw error;
  }
}

export function isJsonProblem<Read extends object>(result: Read | JsonProblem): result is JsonProblem {
  return "problem" in result && "jsonPath" in result;
}

/** A member of an object, for the path of a mistake. An unprintable or long name is left out of messages. */
export function memberOf(jsonPath: string, name: string): string {
  const shown = /^[\w .-]{1,60}$/.test(name) ? name : "(a member)";
  return jsonPath === "" ? shown : `${jsonPath}.${shown}`;
}

export type JsonObject = Readonly<Record<string, unknown>>;

export function objectAt(jsonPath: string, value: unknown): JsonObject {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JsonObject;
  return mistake(jsonPath === "" ? "The document" : jsonPath, "must be an object");
}

/** Refuses members that the document's format does not have: a misspelled member must not go unnoticed. */
export function onlyMembers(jsonPath: string, object: JsonObject, known: readonly string[]): void {
  for (const name of Object.keys(object)) {
    if (!known.includes(name)) mistake(memberOf(jsonPath, name), `is unknown; known are: ${known.join(", ")}`);
  }
}

/** The member of that name, never an inherited property. */
export function member(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

export function numberAt(jsonPath: string, value: unknown, { min, max }: { min: number; max: number }): number {
  if (typeof value === "number" && value >= min && value <= max) return value;
  return mistake(jsonPath, `must be a number from ${min} to ${max}`);
}

export function wholeNumberAt(jsonPath: string, value: unknown, range: { min: number; max: number }): number {
  if (!Number.isInteger(value)) return mistake(jsonPath, `must be a whole number from ${range.min} to ${range.max}`);
  return numberAt(jsonPath, value, range);
}

export function flagAt(jsonPath: string, value: unknown): boolean {
  return typeof value === "boolean" ? value : mistake(jsonPath, "must be true or false");
}

/** The longest text in a document. */
const longestText = 128;

/** A text that can be stored, shown and written to a device. */
export function textAt(jsonPath: string, value: unknown): string {
  const isText =
    typeof value === "string" &&
    value.trim() !== "" &&
    value.length <= longestText &&
    value.isWellFormed() &&
    !/[\p{Cc}\uFFFE\uFFFF]/u.test(value);
  return isText
    ? value
    : mistake(jsonPath, `must be a text of 1 to ${longestText} characters without control characters`);
}

export function choiceAt<Choice extends string>(jsonPath: string, value: unknown, choices: readonly Choice[]): Choice {
  const choice = choices.find((one) => one === value);
  return choice ?? mistake(jsonPath, `must be one of: ${choices.join(", ")}`);
}
