import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { limitInterimAnswers } from "../../runtime/network/interim-answers.ts";
import {
  type AddressRules,
  lookupAmong,
  NotReachable,
  reachableAddresses,
} from "../../runtime/network/public-address.ts";
import type { Attempt } from "../../store/tables/webhook-deliveries.ts";

export interface PostOptions extends AddressRules {
  readonly userAgent: string;
}

/** Sends one message. Never throws: every failure is an `Attempt`. The signal aborts it. */
export type Post = (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal,
) => Promise<Attempt>;

/** Sends over the network. Redirects are not followed. */
export function postWith({ userAgent, ...rules }: PostOptions): Post {
  return async (url, headers, body, signal) => {
    try {
      const { protocol, hostname } = new URL(url);
      const lookup = lookupAmong(await reachableAddresses(hostname, rules, signal));
      const named = { "user-agent": userAgent, ...headers };
      const status = await send(url, protocol === "https:", named, body, lookup, signal);
      return { status, text: status >= 200 && status < 300 ? null : refusal(status) };
    } catch (error) {
      return { status: null, text: describeFailure(error) };
    }
  };
}

function send(
  url: string,
  isSecure: boolean,
  headers: Readonly<Record<string, string>>,
  body: string,
  lookup: ReturnType<typeof lookupAmong>,
  signal: AbortSignal,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = (isSecure ? requestHttps : requestHttp)(
      url,
      {
        method: "POST",
        // A kept-alive connection would bypass the check of the address.
        agent: false,
        signal,
        lookup,
        headers: {
          "content-type": "application/json; charset=utf-8",
          "content-length": String(Buffer.byteLength(body)),
          ...headers,
        },
      },
      (response) => {
        resolve(response.statusCode ?? 0);
        // Only the status matters. Waiting for the body would let a receiver keep the socket for ever.
        response.on("error", () => undefined);
        request.destroy();
      },
    );
    limitInterimAnswers(request);
    // An answer that switches protocols comes only here. Without a listener the connection closes without an error.
    request.on("upgrade", (response, socket) => {
      resolve(response.statusCode ?? 0);
      socket.on("error", () => undefined).destroy();
    });
    request.on("error", reject);
    // Any other end without an answer: an attempt that never ends would hold its slot, and the service could not stop.
    request.on("close", () => reject(new Error("closed without an answer")));
    request.end(body);
  });
}

function refusal(status: number): string {
  return status >= 300 && status < 400 ? "redirects are not followed" : `answered ${status}`;
}

/** The failure in words for the webhook's owner, without details of this network. */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return "failed";
  if (error instanceof NotReachable) return error.message;
  if (error.name === "AbortError") return "no answer in time";
  const code = "code" in error ? String(error.code) : "";
  if (code === "ECONNREFUSED") return "the connection was refused";
  if (code.startsWith("ERR_TLS") || /CERT|SELF_SIGNED|ERR_SSL/.test(code)) return "the certificate is not trusted";
  return "the connection failed";
}
