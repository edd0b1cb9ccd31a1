import http, { type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import https from "node:https";
import { isIP, connect as openPlain, type Socket } from "node:net";
import { connect as openEncrypted } from "node:tls";

export interface Outgoing {
  readonly method: "GET" | "PUT" | "DELETE";
  readonly headers: OutgoingHttpHeaders;
  readonly body?: string;
}

/**
 * One request on a socket of its own, up to the head of the answer; rejects when there is none. No agent: a stream is
 * never shared nor reused, and an agent's idle limits would cut a quiet one. Redirects are the caller's to judge, and
 * nothing is ever sent twice.
 */
export function send(url: URL, outgoing: Outgoing, signal: AbortSignal): Promise<IncomingMessage> {
  const { method, headers, body } = outgoing;
  return new Promise((resolve, reject) => {
    const open = url.protocol === "https:" ? https.request : http.request;
    const request: ClientRequest = open(url, { method, headers, createConnection: () => connect(url) });
    const giveUp = (error?: Error) => {
      letGo();
      reject(error ?? new Error("closed without an answer"));
    };
    const abort = () => {
      giveUp(new Error("aborted"));
      request.destroy();
    };
    // A held stream lives for hours: nothing of how it came about stays with it.
    const letGo = () => {
      signal.removeEventListener("abort", abort);
      request.off("error", giveUp).off("close", giveUp);
    };
    // Whoever reads the body hears of its end in other ways; unheard, an error event would end the process.
    request.on("error", ignore);
    request.on("error", giveUp);
    // Some ends come without an error, such as an answer that switches protocols.
    request.on("close", giveUp);
    request.once("response", (response) => {
      letGo();
      resolve(response.on("error", ignore));
    });
    signal.addEventListener("abort", abort, { once: true });
    request.end(body);
    if (signal.aborted) abort();
  });
}

function connect(url: URL): Socket {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  if (url.protocol === "http:") return openPlain({ host, port: Number(url.port || 80) });
  const servername = isIP(host) === 0 ? host : "";
  return openEncrypted({ host, port: Number(url.port || 443), servername, ALPNProtocols: ["http/1.1"] });
}

function ignore(): void {}
