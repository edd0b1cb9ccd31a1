import type { IncomingMessage } from "node:http";
import WebSocket from "ws";
import { limits } from "../../model/limits.ts";
import {
  type AddressRules,
  lookupAmong,
  NotReachable,
  reachableAddresses,
} from "../../runtime/network/public-address.ts";
import type { StreamEnd } from "../connector.ts";

/** The WebSocket of an instance, with a limit on what it reads. */
export interface InstanceSocket extends WebSocket {
  /**
   * Until the first call the socket reads 64 KB in all, which is enough to authenticate. From then on it reads messages
   * of at most so many bytes, and 16 MB at most. A larger message is not assembled: the socket emits an error, and closes.
   */
  limitMessages(bytes: number): void;
}

/**
 * Opens the WebSocket of an instance; the caller resumes it. The address comes from a stranger: the name is resolved and
 * checked for each connection, the socket connects to the checked addresses only, and redirects are not followed. Never
 * throws.
 */
export async function openSocket(
  url: URL,
  rules: AddressRules,
  signal: AbortSignal,
  maxPayload: number = limits.untrustedJsonLargeBytes,
): Promise<InstanceSocket | { readonly end: StreamEnd }> {
  const isAllowed = url.protocol === "https:" || (rules.allowsPrivate && url.protocol === "http:");
  if (!isAllowed) return noSocket("refused", "the address is not https, and private networks are not allowed");
  try {
    const lookup = lookupAmong(await reachableAddresses(url.hostname, rules, signal));
    if (signal.aborted) return noSocket("unreachable", "no answer in time");
    const address = `${url.origin.replace(/^http/, "ws")}${url.pathname.replace(/\/$/, "")}/api/websocket`;
    // A paused socket reads no more from the network, so that what comes meanwhile is read in one piece later.
    const highWaterMark = 1;
    const options = { lookup, followRedirects: false, maxPayload, perMessageDeflate: false, highWaterMark };
    return await opened(limitReading(new WebSocket(address, options)), signal);
  } catch (error) {
    if (error instanceof NotReachable) return noSocket("unreachable", error.message);
    return noSocket("unreachable", `no connection${codeOf(error)}`);
  }
}

/** A chunk that ends one message may begin the next. */
const readAhead = 65_536;

/** Counts the bytes on the connection itself: the library hands a message over only when all of it has arrived. */
function limitReading(socket: WebSocket): InstanceSocket {
  let limit: number = limits.untrustedJsonHandshakeBytes;
  let isHandshake = true;
  let bytes = 0;
  const count = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= (isHandshake ? limit : limit + readAhead)) return;
    socket.emit("error", new RangeError("The instance sent more than it may."));
    socket.terminate();
  };
  socket.once("upgrade", ({ socket: connection }: IncomingMessage) => {
    // A listener of its own before the library listens would take the first bytes away from it.
    socket.once("open", () => connection.prependListener("data", count));
  });
  socket.on("message", () => {
    if (!isHandshake) bytes = 0;
  });
  const limitMessages = (messageBytes: number) => {
    isHandshake = false;
    limit = messageBytes;
  };
  return Object.assign(socket, { limitMessages });
}

function opened(socket: InstanceSocket, signal: AbortSignal): Promise<InstanceSocket | { readonly end: StreamEnd }> {
  return new Promise((resolve) => {
    const abort = () => {
      resolve(noSocket("unreachable", "no answer in time"));
      socket.terminate();
    };
    const settle = (outcome: InstanceSocket | { readonly end: StreamEnd }) => {
      signal.removeEventListener("abort", abort);
      resolve(outcome);
    };
    signal.addEventListener("abort", abort, { once: true });
    // Without a listener, an error after the end of the connection would end the process.
    socket.on("error", (error) => settle(noSocket("unreachable", `no connection${codeOf(error)}`)));
    socket.once("unexpected-response", (_request, response) => {
      settle(noSocket("refused", `the instance answered ${response.statusCode} instead of opening a WebSocket`));
      socket.terminate();
    });
    socket.once("open", () => {
      // The first message may come before the caller listens.
      socket.pause();
      settle(socket);
    });
  });
}

function noSocket(reason: StreamEnd["reason"], detail: string): { readonly end: StreamEnd } {
  return { end: { reason, detail } };
}

/** Only the error code: the message may quote the address. */
function codeOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return typeof code === "string" ? ` (${code})` : "";
}
