import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

/** An HTTP answer, byte for byte, as a server may send it that follows no rule. */
export interface RawAnswer {
  /** How people call it: `2 MB of {}`. */
  readonly size: string;
  /** The pieces of the answer. It may never end. */
  readonly pieces: () => Iterable<string | Buffer>;
  /** The pause between two pieces. */
  readonly everyMs?: number;
}

/** The fate of an answer on its connection. */
export interface RawFate {
  readonly bytes: number;
  readonly tookMs: number;
  /** The service closed the connection before the answer was sent. */
  readonly wasCutOff: boolean;
}

/** An endless answer is given up after this time: the service reads it for ever. */
const longestMs = 8_000;

/** Writes the answer, and waits until the service has read it or closed the connection. */
export async function sendRaw(socket: Socket, { pieces, everyMs }: RawAnswer): Promise<RawFate> {
  const startedMs = performance.now();
  const isLate = () => performance.now() - startedMs > longestMs;
  let bytes = 0;
  let wasCutOff = false;
  socket.on("error", () => undefined);
  for (const piece of pieces()) {
    if (socket.destroyed || isLate()) break;
    socket.write(piece);
    bytes += piece.length;
    if (everyMs !== undefined) await pause(everyMs);
    while (!socket.destroyed && !isLate() && socket.writableLength > 262_144) await pause(5);
  }
  while (!socket.destroyed && !isLate() && socket.writableLength > 0) await pause(5);
  wasCutOff = socket.destroyed;
  const tookMs = performance.now() - startedMs;
  const isWritten = socket.writableLength === 0 && !isLate();
  const unsent = socket.writableLength;
  // No second request may come on this connection: no server reads it.
  if (isWritten) socket.end();
  else socket.destroy();
  return { bytes: bytes - unsent, tookMs, wasCutOff };
}

export function shownFate({ bytes, tookMs, wasCutOff }: RawFate): string {
  const kilobytes = `${Math.ceil(bytes / 1_000).toLocaleString("en")} kB in ${(tookMs / 1_000).toFixed(1)} s`;
  return wasCutOff ? `connection ended after ${kilobytes}` : `read ${kilobytes}`;
}

export interface Head {
  readonly status?: number;
  readonly type?: string;
  readonly headers?: string;
}

/** An answer with this body. */
export function answerOf(
  size: string,
  body: string,
  { status = 200, type = "application/json", headers = "" }: Head = {},
): RawAnswer {
  const head = `HTTP/1.1 ${status} Answer\r\ncontent-type: ${type}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n`;
  return { size, pieces: () => [`${head}${headers}\r\n${body}`] };
}

/** `[{},{},…]` in this many bytes. `at` puts the list at a place in a document: `{"devices":@}`. */
export function emptyObjects(bytes: number, at = "@"): string {
  return at.replace("@", `[{}${",{}".repeat(Math.floor((bytes - at.length - 3) / 3))}]`);
}

export function deepList(depth: number, at = "@"): string {
  return at.replace("@", `${"[".repeat(depth)}${"]".repeat(depth)}`);
}

/** Answers that are hostile whatever was asked. `at`: where a JSON document may hold a list. */
export function hostileAnswers(at: string, head: Head = {}): readonly RawAnswer[] {
  const { status = 200, type = "application/json" } = head;
  const line = `HTTP/1.1 ${status} Answer\r\n`;
  const endless = `${line}content-type: ${type}\r\ntransfer-encoding: chunked\r\n\r\n`;
  const chunk = `10000\r\n${" ".repeat(65_536)}\r\n`;
  return [
    answerOf("60 kB of {}", emptyObjects(60_000, at), head),
    answerOf("2 MB of {}", emptyObjects(2_000_000, at), head),
    answerOf("100,000 levels", deepList(100_000, at), head),
    { size: "an endless body", pieces: () => repeated(endless, chunk) },
    { size: "an endless head", pieces: () => repeated(line, `x-${"h".repeat(1_000)}: ${"v".repeat(60_000)}\r\n`) },
    { size: "endless answers 103", pieces: () => repeated("", "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(1_000)) },
  ];
}

function* repeated(first: string, piece: string): Iterable<string> {
  yield first;
  for (;;) yield piece;
}
