/** Where a put's structures and devices lie in its bytes. */
export interface Layout {
  /** In the order of the bytes. */
  readonly objects: readonly LaidObject[];
  /** From 0 to the length, in rising order: what lies between objects, the first object, what lies behind it, and so on. */
  readonly bounds: readonly number[];
}

export interface LaidObject {
  readonly kind: LaidKind;
  readonly id: string;
}

/** The same for the fields of one object. */
export interface FieldLayout {
  readonly names: readonly string[];
  readonly bounds: readonly number[];
}

export type LaidKind = "structures" | "thermostats" | "smoke_co_alarms";

/**
 * Finds the objects in a put that is known to be JSON. Undefined when their places wouldn't tell which object counts: a
 * key that comes twice or is spelled with escapes, something else in the place of an object.
 */
export function layoutOf(put: Buffer): Layout | undefined {
  const objects: LaidObject[] = [];
  const bounds = [0];
  const scanner = new Scanner(put);
  const listing = (kind: LaidKind) =>
    scanner.object((id) => {
      const start = scanner.at;
      if (put[start] !== openBrace || !scanner.skip()) return false;
      objects.push({ kind, id });
      bounds.push(start, scanner.at);
      return true;
    });
  const device = (key: string) => (key === "thermostats" || key === "smoke_co_alarms" ? listing(key) : scanner.skip());
  const part = (key: string) => {
    if (key === "devices") return scanner.object(device);
    return key === "structures" ? listing(key) : scanner.skip();
  };
  const isFound = scanner.object((key) => (key === "data" ? scanner.object(part) : scanner.skip()));
  if (!isFound) return undefined;
  bounds.push(put.length);
  return { objects, bounds };
}

/** Where an object's fields lie in its bytes; undefined for the same reasons. */
export function fieldsOf(object: Buffer): FieldLayout | undefined {
  const names: string[] = [];
  const bounds = [0];
  const scanner = new Scanner(object);
  const isFound = scanner.object((name) => {
    names.push(name);
    bounds.push(scanner.at);
    if (!scanner.skip()) return false;
    bounds.push(scanner.at);
    return true;
  });
  if (!isFound) return undefined;
  bounds.push(object.length);
  return { names, bounds };
}

/** Behind the value that begins there; -1 when it doesn't end. What is inside is not looked at. */
export function endOfValue(bytes: Buffer, start: number): number {
  const scanner = new Scanner(bytes, start);
  return scanner.skip() ? scanner.at : -1;
}

/** Behind the object or list that begins there; -1 when it doesn't end. What is inside is not looked at. */
function endOfNested(bytes: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) {
      at = endOfText(bytes, at) - 1;
      if (at < 0) return -1;
    } else if (byte === openBrace || byte === openBracket) depth += 1;
    else if (byte === closeBrace || byte === closeBracket) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** Goes through JSON from left to right. Each step answers false when it meets what it can't make sense of. */
class Scanner {
  readonly #bytes: Buffer;
  at: number;

  constructor(bytes: Buffer, at = 0) {
    this.#bytes = bytes;
    this.at = at;
  }

  /** An object; `take` is told each key and goes through its value. */
  object(take: (key: string) => boolean): boolean {
    if (!this.#sign(openBrace)) return false;
    const seen = new Set<string>();
    for (this.#space(); this.#bytes[this.at] !== closeBrace; this.#space()) {
      if (seen.size > 0 && !this.#sign(comma)) return false;
      const key = this.#key();
      if (key === undefined || seen.has(key) || !this.#sign(colon)) return false;
      seen.add(key);
      this.#space();
      if (!take(key)) return false;
    }
    this.at += 1;
    return true;
  }

  /** Any value. */
  skip(): boolean {
    const byte = this.#bytes[this.at];
    if (byte === openBrace || byte === openBracket) this.at = endOfNested(this.#bytes, this.at);
    else if (byte === quote) this.at = endOfText(this.#bytes, this.at);
    else while (this.at < this.#bytes.length && !endsWord(this.#bytes[this.at]!)) this.at += 1;
    return this.at > 0;
  }

  #key(): string | undefined {
    this.#space();
    const start = this.at;
    if (this.#bytes[start] !== quote) return undefined;
    this.at = endOfText(this.#bytes, start);
    if (this.at < 0) return undefined;
    const key = this.#bytes.toString("utf8", start + 1, this.at - 1);
    return key.includes("\\") ? undefined : key;
  }

  #sign(byte: number): boolean {
    this.#space();
    if (this.#bytes[this.at] !== byte) return false;
    this.at += 1;
    return true;
  }

  #space(): void {
    while (isSpace(this.#bytes[this.at])) this.at += 1;
  }
}

/** Behind the closing quote of the text that begins there; -1 when there is none. */
function endOfText(bytes: Buffer, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) return at + 1;
    if (byte === backslash) at += 1;
  }
  return -1;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function endsWord(byte: number): boolean {
  return byte === comma || byte === closeBrace || byte === closeBracket || isSpace(byte);
}
