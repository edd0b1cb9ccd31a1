import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { OnLimitReached } from "../../model/limits.ts";
import { errorAnswer } from "../answer/error-response.ts";
import { shapeBelow } from "../answer/error-shape.ts";
import { type Refusal, refusals } from "../answer/refusal.ts";
import { type Exchanges, newRequestId } from "../open-exchanges.ts";
import { pipelineOf } from "./pipeline.ts";

/** Headers that must not occur twice: a proxy in front might read another request than this server does. */
const onlyOnce = ["host", "authorization"];

/** Refuses requests that HTTP or Node permit but this server doesn't. */
export function refusalOf(request: IncomingMessage): Refusal | undefined {
  const target = request.url ?? "";
  if (!target.startsWith("/")) return refusals.malformed("The request target must be a path.");
  if (/[^\x21-\x7e]/.test(target)) return refusals.malformed("The request target must be percent-encoded.");
  return headersRefusal(request);
}

/** Checks the headers alone. */
export function headersRefusal(request: IncomingMessage): Refusal | undefined {
  for (const name of onlyOnce) {
    if (countHeader(request, name) > 1) return refusals.malformed(`The ${name} header must be there once.`);
  }
  // A proxy that decodes the body would read another request than this server does.
  if (countHeader(request, "content-encoding") > 0) return refusals.encodedBody();
  if (request.httpVersion !== "1.0" && !request.headers.host) return refusals.malformed("The host header is missing.");
  return undefined;
}

/**
 * Answers bytes that never became a request: malformed HTTP, too large headers, too slow. Complete requests before them
 * get their own answers first. The bytes are never logged.
 */
export function refuseConnection(
  error: Error & { readonly code?: string; readonly rawPacket?: unknown },
  socket: Duplex,
  exchanges: Exchanges,
  onLimitReached: OnLimitReached,
): void {
  if (error.code === "HPE_HEADER_OVERFLOW") onLimitReached("requestHeadBytes");
  // Other errors belong to the connection: nothing can be written, or the TLS handshake failed.
  const isReadable = /^(HPE_|ERR_HTTP_)/.test(error.code ?? "");
  const pipeline = pipelineOf(socket);
  if (!isReadable || !pipeline) {
    socket.destroy();
    return;
  }
  const target = pipeline.arrivingTarget ?? targetOf(error.rawPacket);
  pipeline.refuse(() => {
    // The last answer has closed the connection.
    if (socket.writableEnded) return;
    if (!socket.writable || pipeline.isAnswering) socket.destroy();
    else sendRefusal(connectionRefusal(error.code), target, socket, exchanges);
  });
}

/** The start of the request target, if the unparsable bytes begin with a request line. */
function targetOf(bytes: unknown): string {
  if (!Buffer.isBuffer(bytes)) return "";
  const [, target = ""] = /^[A-Z]+ (\S*)/.exec(bytes.toString("latin1", 0, 200)) ?? [];
  return target;
}

function sendRefusal(refusal: Refusal, target: string, socket: Duplex, exchanges: Exchanges): void {
  const requestId = newRequestId();
  const { status, headers, body } = errorAnswer(refusal, shapeBelow(target), requestId);
  const lines = Object.entries({
    ...exchanges.headersFor(requestId),
    ...headers,
    "content-length": String(Buffer.byteLength(body)),
    connection: "close",
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`);
  linger(socket);
  const { remoteAddress: address } = socket as Partial<Socket>;
  const failure = { code: refusal.code };
  exchanges.log({ requestId, route: undefined, end: undefined, failure, address }, undefined, status, 0, true);
}

/**
 * Closes a little later: closing at once with unread bytes would reset the connection, and the answer would be lost.
 */
function linger(socket: Duplex): void {
  const timer = setTimeout(() => socket.destroy(), 500);
  socket.once("end", () => socket.destroy());
  socket.once("close", () => clearTimeout(timer));
}

function connectionRefusal(code: string | undefined): Refusal {
  if (code === "HPE_HEADER_OVERFLOW") return refusals.headersTooLarge();
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return refusals.tooSlow();
  return refusals.malformed("The request is malformed.");
}

function countHeader(request: IncomingMessage, name: string): number {
  let count = 0;
  for (let at = 0; at < request.rawHeaders.length; at += 2) {
    const sent = request.rawHeaders[at]!;
    if (sent.length === name.length && sent.toLowerCase() === name) count++;
  }
  return count;
}
