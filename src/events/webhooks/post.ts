import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { Attempt } from "../../store/tables/webhook-deliveries.ts";
import { type AddressRules, lookupAmong, NotReachable, reachableAddresses } from "./public-address.ts";

export interface PostOptions extends AddressRules {
  readonly userAgent: string;
}

/** Sends one message, until the signal. Whatever happens is an answer. */
export type Post = (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal,
) => Promise<Attempt>;

/** Over the network. Redirects are none that we follow. */
export function postWith({ userAgent, ...rules }: PostOptions): Post {
  return async (url, headers, body, signal) => {
    try {
      const { protocol, hostname } = new URL(url);
      const lookup = lookupAmong(await reachableAddresses(hostname, rules, signal));
      const named = { "user-agent": userAgent, ...headers };
      const status = await send(url, protocol === "https:", named, body, lookup, signal);
      return { status, text: status >= 200 && status < 300 ? null : refusal(status) };
    } catch (error) {
      return { status: null, text: wordsFor(error) };
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
        // A connection that is kept would go on to an address that was checked long ago.
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
        // Only the status counts. Waiting for the body would let a receiver that never ends it keep the socket.
        response.on("error", () => undefined);
        request.destroy();
      },
    );
    request.on("error", reject);
    request.end(body);
  });
}

function refusal(status: number): string {
  return status >= 300 && status < 400 ? "redirects are not followed" : `answered ${status}`;
}

/** In words for the owner of the webhook, without what our own network looks like. */
function wordsFor(error: unknown): string {
  if (!(error instanceof Error)) return "failed";
  if (error instanceof NotReachable) return error.message;
  if (error.name === "AbortError") return "no answer in time";
  const code = "code" in error ? String(error.code) : "";
  if (code === "ECONNREFUSED") return "the connection was refused";
  if (code.startsWith("ERR_TLS") || /CERT|SELF_SIGNED|ERR_SSL/.test(code)) return "the certificate is not trusted";
  return "the connection failed";
}
