import WebSocket from "ws";
import {
  type AddressRules,
  lookupAmong,
  NotReachable,
  reachableAddresses,
} from "../../runtime/network/public-address.ts";
import type { StreamEnd } from "../connector.ts";

/** Maximal size of one message of a session. Registries of large homes are larger than any event. */
export const largestRegistryBytes = 16 * 1024 * 1024;

/**
 * Opens the WebSocket of an instance; the caller resumes it. The address comes from a stranger: the name is resolved and checked for each
 * connection, the socket connects to the checked addresses only, and redirects are not followed. Never throws.
 */
export async function openSocket(
  url: URL,
  rules: AddressRules,
  signal: AbortSignal,
  maxPayload = largestRegistryBytes,
): Promise<WebSocket | { readonly end: StreamEnd }> {
  const isAllowed = url.protocol === "https:" || (rules.allowsPrivate && url.protocol === "http:");
  if (!isAllowed) return noSocket("refused", "the address is not https, and private networks are not allowed");
  try {
    const lookup = lookupAmong(await reachableAddresses(url.hostname, rules, signal));
    if (signal.aborted) return noSocket("unreachable", "no answer in time");
    const address = `${url.origin.replace(/^http/, "ws")}${url.pathname.replace(/\/$/, "")}/api/websocket`;
    const options = { lookup, followRedirects: false, maxPayload, perMessageDeflate: false };
    return await opened(new WebSocket(address, options), signal);
  } catch (error) {
    if (error instanceof NotReachable) return noSocket("unreachable", error.message);
    return noSocket("unreachable", `no connection${codeOf(error)}`);
  }
}

function opened(socket: WebSocket, signal: AbortSignal): Promise<WebSocket | { readonly end: StreamEnd }> {
  return new Promise((resolve) => {
    const abort = () => {
      resolve(noSocket("unreachable", "no answer in time"));
      socket.terminate();
    };
    const settle = (outcome: WebSocket | { readonly end: StreamEnd }) => {
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
