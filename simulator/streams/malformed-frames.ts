import { frameOf } from "./frames.ts";

const deepest = 10_000;

/**
 * Unusual and malformed frames in place of a put. Some mean the same as the ordinary put (other line ends, several data
 * lines, a character split over two chunks, additional lines). Others are wrong. A reader must survive all of them.
 */
const writers = {
  "bad-json": (text: string) => [frameOf("put", text.slice(0, Math.ceil(text.length / 2)))],
  // Lines end with CR; one CR LF is split over two chunks.
  "cr-lf": (text: string) => [Buffer.from(`event: put\rdata: ${text}\r`), Buffer.from("\n\n")],
  bom: (text: string) => [Buffer.from("\ufeff"), frameOf("put", text)],
  // JSON does not allow an unescaped NUL.
  nul: (text: string) => [frameOf("put", `${text.slice(0, -1)},"nothing":"\0"}`)],
  "multi-line": (text: string) => [Buffer.from(`event: put\ndata: {\ndata: ${text.slice(1, -1)}\ndata: }\n\n`)],
  "split-utf8": (text: string) => splitInCharacter(`${text.slice(0, -1)},"note":"🏡"}`),
  "id-and-retry": (text: string) => [Buffer.from(": note\nid: 7\nretry: 1\n"), frameOf("put", text)],
  patch: (text: string) => [frameOf("patch", text)],
  "unknown-event": (text: string) => [frameOf("weather", text)],
  "wrong-type": () => [frameOf("put", '{"path":"/","data":["nothing",7]}')],
  "null-data": () => [frameOf("put", "null")],
  prototype: (text: string) => [frameOf("put", withPrototype(text))],
  part: (text: string) => [frameOf("put", devicesOf(text))],
  deep: () => [frameOf("put", `{"path":"/","data":${'{"devices":'.repeat(deepest)}1${"}".repeat(deepest)}}`)],
} as const satisfies Record<string, (text: string) => readonly Buffer[]>;

export type MalformedKind = keyof typeof writers;
export const malformedKinds = Object.keys(writers) as readonly MalformedKind[];

/** The chunks of a malformed frame. `text` is the data of the ordinary put. */
export function malformedPut(kind: MalformedKind, text: string): readonly Buffer[] {
  return writers[kind](text);
}

/** The put with an additional field of this number of megabytes. */
export function outOfSizePut(megabytes: number, text: string): Buffer {
  return frameOf("put", `${text.slice(0, -1)},"padding":"${"x".repeat(megabytes * 1024 * 1024)}"}`);
}

function splitInCharacter(text: string): readonly Buffer[] {
  const bytes = frameOf("put", text);
  const middle = bytes.lastIndexOf(0xf0) + 2;
  return [bytes.subarray(0, middle), bytes.subarray(middle)];
}

/** Only the devices, with the path `/devices`; without devices, the whole document with that path. */
function devicesOf(text: string): string {
  const { data } = JSON.parse(text) as { readonly data: { readonly devices?: unknown } };
  return JSON.stringify({ path: "/devices", data: data?.devices ?? data });
}

function withPrototype(text: string): string {
  const evil = '"__proto__":{"is_online":true},"constructor":{"prototype":{"away":"away"}}';
  const [before, after] = text.split('"data":{', 2) as [string, string?];
  if (after === undefined) return `{${evil},${text.slice(1)}`;
  return `${before}"data":{${evil}${after.startsWith("}") ? "" : ","}${text.slice(before.length + '"data":{'.length)}`;
}
