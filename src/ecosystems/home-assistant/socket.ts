import type { ClientRequest, IncomingMessage } from "node:http";
import WebSocket from "ws";
import { limits } from "../../model/limits.ts";
import {
  type AddressRules,
  lookupAmong,
  NotReachable,
  reachableAddresses,
} from "../../runtime/network/public-address.ts";
import type { StreamEnd } from "../connector.ts";
import { UnfinishedMessages } from "../kit/unfinished-messages.ts";
import type { Obstacle } from "./address-advice.ts";
import { measureFrames } from "./frame-cost.ts";

/** The WebSocket of an instance, with a limit on what it reads. */
export interface InstanceSocket extends WebSocket {
  /**
   * Until the first call the socket reads 64 KB in all, which is enough to authenticate. From then on it reads messages
   * of at most so many bytes, and 16 MB at most. A larger message is not assembled: the socket emits an error, and closes.
   */
  limitMessages(bytes: number): void;
  /** CPU time since the last call for taking frames apart, without that of the listeners for messages. */
  takeCostMs(): number;
}

/** Why there is no socket: for the link's status, and for the owner who typed the address. */
export interface NoSocket {
  readonly end: StreamEnd;
  readonly obstacle: Obstacle;
}

interface SocketOptions {
  readonly maxPayload?: number;
  /** Bounds the unfinished messages of all sockets together. */
  readonly unfinished?: UnfinishedMessages;
}

/** A message was dropped for the memory of the node, although it was within its own limit. */
class DroppedMessage extends Error {}

/** What an error of the socket means, for the status of a link. Messages of the library may quote what came. */
export function errorDetail(error: Error): string {
  return error instanceof DroppedMessage ? error.message : "a message was too large or malformed";
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
  { maxPayload = limits.untrustedJsonLargeBytes, unfinished = new UnfinishedMessages() }: SocketOptions = {},
): Promise<InstanceSocket | NoSocket> {
  const isAllowed = url.protocol === "https:" || (rules.allowsPrivate && url.protocol === "http:");
  if (!isAllowed)
    return noSocket("refused", "the address is not https, and private networks are not allowed", "unencrypted");
  try {
    const lookup = lookupAmong(await reachableAddresses(url.hostname, rules, signal));
    if (signal.aborted) return noSocket("unreachable", "no answer in time", "silent");
    const address = `${url.origin.replace(/^http/, "ws")}${url.pathname.replace(/\/$/, "")}/api/websocket`;
    // With this mark a paused socket reads no more from the network: what comes meanwhile is read in one piece later.
    const options = {
      lookup,
      followRedirects: false,
      maxPayload,
      maxFragments,
      perMessageDeflate: false,
      autoPong: false,
      highWaterMark: 1,
      finishRequest,
    };
    const socket = new WebSocket(address, options);
    answerPings(socket);
    return await opened(limitReading(socket, unfinished), signal);
  } catch (error) {
    if (error instanceof NotReachable) return noSocket("unreachable", error.message, "unresolved");
    return noConnection(error);
  }
}

/** Any number of interim answers (1xx) could precede the answer. An instance sends none. */
function finishRequest(request: ClientRequest, socket: WebSocket): void {
  request.once("information", () => socket.terminate());
  request.end();
}

/** A chunk that ends one message may begin the next. */
const readAhead = 65_536;
/** A chunk takes memory of its own, however small it is. */
const smallestChunk = 1_024;
/** A ping or pong counts as so many bytes beside its own: to take 2 bytes apart costs as much as a small message. */
const controlFrameBytes = 512;
/** Fragments of one message, which take 120 bytes each. A proxy that writes 4 KB at a time makes 4,096 of 16 MB. */
const maxFragments = 4_096;

/**
 * Keeps at most one pong unsent, however many pings come: while it waits, only the newest ping is remembered (RFC 6455,
 * 5.5.3).
 */
function answerPings(socket: WebSocket): void {
  let isAnswering = false;
  let newest: Buffer | undefined;
  const answer = (data: Buffer) => {
    isAnswering = true;
    socket.pong(data, undefined, (error) => {
      isAnswering = false;
      const next = newest;
      newest = undefined;
      if (next && !error) answer(next);
    });
  };
  socket.on("ping", (data) => {
    // A copy: the data is a view of a whole chunk.
    if (isAnswering) newest = Buffer.from(data);
    else answer(data);
  });
}

/** Counts the bytes on the connection itself: the library hands a message over only when all of it has arrived. */
function limitReading(socket: WebSocket, unfinished: UnfinishedMessages): InstanceSocket {
  let limit: number = limits.untrustedJsonHandshakeBytes;
  let isHandshake = true;
  let bytes = 0;
  let isEnded = false;
  const end = (error: Error) => {
    isEnded = true;
    socket.emit("error", error);
    socket.terminate();
  };
  const drop = () =>
    end(new DroppedMessage("its message was dropped unfinished: this node receives too many large messages at once"));
  const count = (received: number) => {
    // The library goes on with a chunk although the socket has ended.
    if (isEnded) return;
    bytes += received;
    unfinished.set(drop, bytes);
    if (!isEnded && bytes > (isHandshake ? limit : limit + readAhead))
      end(new RangeError("The instance sent more than it may."));
  };
  const countControlFrame = () => count(controlFrameBytes);
  const frames = measureFrames(socket);
  socket.once("upgrade", ({ socket: connection }: IncomingMessage) => {
    // A listener of its own before the library listens would take the first bytes away from it.
    socket.once("open", () => {
      connection.prependListener("data", (chunk: Buffer) => count(Math.max(chunk.length, smallestChunk)));
      frames.listen(connection);
    });
  });
  socket.on("ping", countControlFrame).on("pong", countControlFrame);
  socket.on("message", () => {
    if (isHandshake) return;
    bytes = 0;
    unfinished.set(drop, 0);
  });
  socket.once("close", () => unfinished.set(drop, 0));
  const limitMessages = (messageBytes: number) => {
    isHandshake = false;
    limit = messageBytes;
  };
  return Object.assign(socket, { limitMessages, takeCostMs: frames.takeCostMs });
}

function opened(socket: InstanceSocket, signal: AbortSignal): Promise<InstanceSocket | NoSocket> {
  return new Promise((resolve) => {
    const abort = () => {
      resolve(noSocket("unreachable", "no answer in time", "silent"));
      socket.terminate();
    };
    const settle = (outcome: InstanceSocket | NoSocket) => {
      signal.removeEventListener("abort", abort);
      resolve(outcome);
    };
    signal.addEventListener("abort", abort, { once: true });
    // Without a listener, an error after the end of the connection would end the process.
    socket.on("error", (error) => settle(noConnection(error)));
    socket.once("unexpected-response", (_request, response) => {
      const detail = `the instance answered ${response.statusCode} instead of opening a WebSocket`;
      settle(noSocket("refused", detail, "foreign"));
      socket.terminate();
    });
    socket.once("open", () => {
      // The first message may come before the caller listens.
      socket.pause();
      settle(socket);
    });
  });
}

function noSocket(reason: StreamEnd["reason"], detail: string, obstacle: Obstacle): NoSocket {
  return { end: { reason, detail }, obstacle };
}

/** Only the error code: the message may quote the address. */
function noConnection(error: unknown): NoSocket {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  if (typeof code !== "string") return noSocket("unreachable", "no connection", "unreachable");
  return noSocket("unreachable", `no connection (${code})`, obstacleOf(code));
}

function obstacleOf(code: string): Obstacle {
  if (code === "ECONNREFUSED") return "closed";
  if (code === "EPROTO" || code === "ERR_SSL_WRONG_VERSION_NUMBER") return "unencrypted";
  return /CERT|SIGNATURE|ERR_TLS/.test(code) ? "untrusted" : "unreachable";
}
