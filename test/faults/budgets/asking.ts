import { Agent, request } from "node:http";
import type { Target } from "./attack.ts";
import { Tallied, type Tally } from "./tally.ts";

/** Attackers come from an address of their own, so that limits by source tell them from their neighbours. */
export const attackersAddress = "127.0.0.66";

export interface Asked {
  readonly method?: string;
  readonly path: string;
  readonly token?: string;
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, string>>;
  /** As it is, with the type of JSON. */
  readonly text?: string;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

const agents = new Map<string, Agent>();

/** One request from that address, on a kept connection. Rejects when the connection breaks. */
export function ask(url: string, asked: Asked, localAddress = attackersAddress): Promise<Answer> {
  const { path, token, json, form, text } = asked;
  const body =
    text ?? (form ? String(new URLSearchParams(form)) : json === undefined ? undefined : JSON.stringify(json));
  const type = form ? "application/x-www-form-urlencoded" : "application/json";
  const key = `${localAddress} ${url}`;
  const agent = agents.get(key) ?? new Agent({ keepAlive: true, maxSockets: 256 });
  agents.set(key, agent);
  return new Promise((resolve, reject) => {
    const headers = {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { "content-type": type, "content-length": String(Buffer.byteLength(body)) }),
    };
    const sent = request(
      new URL(path, url),
      { method: asked.method ?? (body === undefined ? "GET" : "POST"), agent, localAddress, headers },
      (response) => {
        let received = "";
        response.setEncoding("utf8");
        response.on("data", (piece) => {
          received += piece;
        });
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text: received }));
        response.on("error", reject);
        response.on("aborted", () => reject(new Error("the answer broke off")));
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

/** Closes the kept connections. */
export function hangUp(): void {
  for (const agent of agents.values()) agent.destroy();
  agents.clear();
}

export interface Asking {
  /** How many at most. */
  readonly count: number;
  readonly atOnce: number;
  /** For how long at most. */
  readonly forMs: number;
}

/** Asks again and again, several at once, and counts what it gets. */
export async function askOften(
  { url }: Pick<Target, "url">,
  { count, atOnce, forMs }: Asking,
  next: (place: number) => Asked,
): Promise<Tally> {
  const got = new Tallied();
  const untilMs = performance.now() + forMs;
  const places = Array.from({ length: count }, (_, place) => place).values();
  const asker = async () => {
    for (const place of places) {
      if (performance.now() > untilMs) return;
      got.add(await ask(url, next(place)).then(shownAnswer, shownFailure));
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, asker));
  return got.tally;
}

/** The status, and the code of the error where there is one. */
export function shownAnswer({ status, text }: Answer): string {
  const [, code] = /"error":"(\w+)"/.exec(text.slice(0, 500)) ?? [];
  return code === undefined ? `${status}` : `${status} ${code}`;
}

export function shownFailure(error: NodeJS.ErrnoException): string {
  return `no answer (${error.code ?? error.message})`;
}
