import http, { type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import https from "node:https";
import { isIP, type LookupFunction, connect as openPlain, type Socket } from "node:net";
import { connect as openEncrypted } from "node:tls";
import { limitInterimAnswers } from "./interim-answers.ts";

export interface Outgoing {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly headers: OutgoingHttpHeaders;
  readonly body?: string;
  /** Instead of the system's look-up, for an address from outside. */
  readonly lookup?: LookupFunction;
}

/**
 * Sends one request on its own socket and resolves with the head of the answer; rejects when there is none. No agent: a
 * stream is never shared or reused, and an agent's idle limits would cut a quiet one. The caller decides about
 * redirects, and nothing is sent twice.
 */
export function send(url: URL, outgoing: Outgoing, signal: AbortSignal): Promise<IncomingMessage> {
  const { method, headers, body, lookup } = outgoing;
  return new Promise((resolve, reject) => {
    const open = url.protocol === "https:" ? https.request : http.request;
    const request: ClientRequest = open(url, { method, headers, createConnection: () => connect(url, lookup) });
    limitInterimAnswers(request);
    const giveUp = (error?: Error) => {
      removeListeners();
      reject(error ?? new Error("closed without an answer"));
    };
    const abort = () => {
      giveUp(new Error("aborted"));
      request.destroy();
    };
    // An open stream lives for hours: remove the listeners of the request.
    const removeListeners = () => {
      signal.removeEventListener("abort", abort);
      request.off("error", giveUp).off("close", giveUp);
    };
    // The reader of the body notices its end in other ways; without a listener, an error event would end the process.
    request.on("error", ignore);
    request.on("error", giveUp);
    // Some connections end without an error, such as an answer that switches protocols.
    request.on("close", giveUp);
    request.once("response", (response) => {
      removeListeners();
      resolve(response.on("error", ignore));
    });
    signal.addEventListener("abort", abort, { once: true });
    request.end(body);
    if (signal.aborted) abort();
  });
}

function connect(url: URL, lookup: LookupFunction | undefined): Socket {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const resolving = lookup ? { lookup } : {};
  if (url.protocol === "http:") return openPlain({ host, port: Number(url.port || 80), ...resolving });
  const servername = isIP(host) === 0 ? host : "";
  return openEncrypted({ host, port: Number(url.port || 443), servername, ALPNProtocols: ["http/1.1"], ...resolving });
}

function ignore(): void {}
