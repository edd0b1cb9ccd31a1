import { Agent, request } from "node:http";
import type { Target } from "./attack.ts";
import { Tallied, type Tally } from "./tally.ts";

/** Attackers have their own address, so that limits by source separate them from their neighbours. */
export const attackersAddress = "127.0.0.66";

export interface RequestOptions {
  readonly method?: string;
  readonly path: string;
  readonly token?: string;
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, string>>;
  /** A raw body, sent as JSON. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly retryAfter?: string | undefined;
  /** The target of a redirect. */
  readonly location?: string | undefined;
  readonly cookies?: readonly string[] | undefined;
}

const agents = new Map<string, Agent>();

/** Sends one request from the address on a keep-alive connection. Rejects when the connection breaks. */
export function sendRequest(url: string, options: RequestOptions, localAddress = attackersAddress): Promise<Answer> {
  const { path, token, json, form, text } = options;
  const body =
    text ?? (form ? String(new URLSearchParams(form)) : json === undefined ? undefined : JSON.stringify(json));
  const type = form ? "application/x-www-form-urlencoded" : "application/json";
  const key = `${localAddress} ${url}`;
  const agent = agents.get(key) ?? new Agent({ keepAlive: true, maxSockets: 1_500 });
  agents.set(key, agent);
  return new Promise((resolve, reject) => {
    const headers = {
      ...options.headers,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { "content-type": type, "content-length": String(Buffer.byteLength(body)) }),
    };
    const sent = request(
      new URL(path, url),
      { method: options.method ?? (body === undefined ? "GET" : "POST"), agent, localAddress, headers },
      (response) => {
        let received = "";
        response.setEncoding("utf8");
        response.on("data", (piece) => {
          received += piece;
        });
        response.on("end", () => {
          const { "retry-after": retryAfter, location, "set-cookie": cookies } = response.headers;
          resolve({ status: response.statusCode ?? 0, text: received, retryAfter, location, cookies });
        });
        response.on("error", reject);
        response.on("aborted", () => reject(new Error("the answer broke off")));
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

/** Closes the keep-alive connections. */
export function hangUp(): void {
  for (const agent of agents.values()) agent.destroy();
  agents.clear();
}

export interface ManyRequests {
  /** The maximum number of requests. */
  readonly count: number;
  readonly atOnce: number;
  /** The maximum duration. */
  readonly forMs: number;
}

/** Sends requests in a loop, several at once, and counts the answers. */
export async function sendMany(
  { url }: Pick<Target, "url">,
  { count, atOnce, forMs }: ManyRequests,
  next: (index: number) => RequestOptions,
): Promise<Tally> {
  const got = new Tallied();
  const untilMs = performance.now() + forMs;
  const indexes = Array.from({ length: count }, (_, index) => index).values();
  const asker = async () => {
    for (const index of indexes) {
      if (performance.now() > untilMs) return;
      got.add(await sendRequest(url, next(index)).then(shownAnswer, shownFailure));
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, asker));
  return got.tally;
}

/** The status, with the error code if there is one. A refusal for now must say when to try again. */
export function shownAnswer({ status, text, retryAfter }: Answer): string {
  const [, code] = /"error":"(\w+)"/.exec(text.slice(0, 500)) ?? [];
  const shown = code === undefined ? `${status}` : `${status} ${code}`;
  return status === 429 && !/^[1-9]\d*$/.test(retryAfter ?? "") ? `${shown} without Retry-After` : shown;
}

export function shownFailure(error: NodeJS.ErrnoException): string {
  return `no answer (${error.code ?? error.message})`;
}
