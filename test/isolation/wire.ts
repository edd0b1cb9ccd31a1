import { connect } from "node:net";

export type HeaderLines = readonly (readonly [name: string, value: string])[];

/** A raw request: nothing is normalised; host and body length are added when they are missing. */
export interface WireRequest {
  readonly method: string;
  readonly target: string;
  readonly headers?: HeaderLines;
  readonly body?: string | Buffer | undefined;
  readonly version?: "1.0" | "1.1";
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: HeaderLines;
  readonly text: string;
}

/** Sends one request on its own connection and reads the answer. */
export function send(baseUrl: string, request: WireRequest): Promise<WireAnswer> {
  return sendBytes(baseUrl, bytesOf(baseUrl, request));
}

/** Sends bytes that need not be HTTP. */
export function sendBytes(baseUrl: string, bytes: Buffer): Promise<WireAnswer> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    const pieces: Buffer[] = [];
    socket.on("data", (piece: Buffer) => {
      pieces.push(piece);
      // An event stream does not end: its head and its first event are enough.
      if (firstEvent.test(Buffer.concat(pieces).toString("latin1"))) socket.destroy();
    });
    // A server that refuses a large body closes before all of it was sent: what counts is whether an answer came first.
    let failure: Error | undefined;
    socket.on("error", (error) => {
      failure = error;
    });
    socket.on("close", () => {
      const answer = readAnswer(Buffer.concat(pieces));
      if (answer) resolve(answer);
      else reject(failure ?? new Error("the connection was closed without an answer"));
    });
    socket.write(bytes);
  });
}

const firstEvent = /^HTTP[^\0]*?content-type: text\/event-stream[^\0]*?\r\n\r\n[^\0]*?event: [^\0]*?\n\n/;

export function header({ headers }: WireAnswer, name: string): string | undefined {
  return headers.find(([one]) => one.toLowerCase() === name)?.[1];
}

/** The whole answer as text, to search for forbidden content. */
export function allOf({ headers, text }: WireAnswer): string {
  return `${headers.map(([name, value]) => `${name}: ${value}`).join("\n")}\n\n${text}`;
}

/** Status and text of an answer, for the message of a failed test. */
export function summaryOf({ status, text }: WireAnswer): string {
  const words = text.startsWith("<!doctype") ? text.replace(/<style[\s\S]*<\/style>|<[^>]*>/g, " ") : text;
  return `${status} ${words.replace(/\s+/g, " ").slice(0, 300)}`;
}

function bytesOf(baseUrl: string, { method, target, headers = [], body = "", version = "1.1" }: WireRequest): Buffer {
  const has = (name: string) => headers.some(([one]) => one.toLowerCase() === name);
  const content = typeof body === "string" ? Buffer.from(body) : body;
  const lines = [
    ...(has("host") ? [] : [["Host", new URL(baseUrl).host]]),
    ...headers,
    ...(has("content-length") || has("transfer-encoding") || content.length === 0
      ? []
      : [["Content-Length", String(content.length)]]),
    ["Connection", "close"],
  ].map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([
    Buffer.from(`${method} ${target} HTTP/${version}\r\n${lines.join("")}\r\n`, "latin1"),
    content,
  ]);
}

function readAnswer(bytes: Buffer): WireAnswer | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [statusLine = "", ...lines] = bytes.subarray(0, end).toString("latin1").split("\r\n");
  const status = Number(statusLine.split(" ")[1]);
  // 100 Continue: the answer follows.
  if (status === 100) return readAnswer(bytes.subarray(end + 4));
  const headers = lines.map((line) => line.split(/:\s*(.*)/s).slice(0, 2) as [string, string]);
  return { status, headers, text: bytes.subarray(end + 4).toString("utf8") };
}
