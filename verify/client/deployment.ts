import { Failure } from "../outcome.ts";

// biome-ignore lint/suspicious/noExplicitAny: what comes over the wire is what the rows look at
export type Json = any;

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Undefined when it isn't JSON, or doesn't say that it is. */
  readonly json: Json | undefined;
  /** Where it redirects to; empty when it doesn't. */
  readonly location: string;
}

export type Fields = Readonly<Record<string, string | undefined>>;

/** A call that takes longer counts as unanswered. */
const patienceMs = 15_000;

/** The deployment from outside: nothing but HTTP. */
export class Deployment {
  readonly url: string;
  readonly #signal: () => AbortSignal;

  /** The signal ends what is under way; it is asked for at each call. */
  constructor(url: string, signal: () => AbortSignal) {
    this.url = url;
    this.#signal = signal;
  }

  /** One request, which follows no redirect. */
  async call(path: string, init: RequestInit = {}): Promise<Answered> {
    const address = this.#addressOf(path);
    const signal = AbortSignal.any([this.#signal(), AbortSignal.timeout(patienceMs)]);
    try {
      const answer = await fetch(address, { redirect: "manual", signal, ...init });
      const text = await answer.text();
      const isJson = (answer.headers.get("content-type") ?? "").startsWith("application/json");
      const location = answer.headers.get("location") ?? "";
      return {
        status: answer.status,
        headers: answer.headers,
        text,
        json: isJson ? parsed(text) : undefined,
        location,
      };
    } catch (error) {
      this.#signal().throwIfAborted();
      const reason =
        error instanceof Error && error.name === "TimeoutError" ? "not within 15 seconds" : "no connection";
      throw new Failure({
        seen: `${init.method ?? "GET"} ${address.origin}${address.pathname} was not answered (${reason}).`,
        side: "between",
        next: "Look whether the service still runs, and whether whatever stands before it lets this path through.",
      });
    }
  }

  post(path: string, fields: Fields, init: RequestInit = {}): Promise<Answered> {
    return this.call(path, { method: "POST", body: formOf(fields), ...init });
  }

  /** A call under /v3 with an access token. */
  v3(token: string, path: string, method = "GET", body?: object): Promise<Answered> {
    const headers: Record<string, string> = { authorization: `Bearer ${token}` };
    if (body) headers["content-type"] = "application/json";
    return this.call(`/v3/${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  }

  /** A platform operation: XML in the answer. */
  platform(operation: string, fields: Fields): Promise<Answered> {
    return this.post(`/zdk/services/zamapi/${operation}`, fields);
  }

  /** A stream that stays open until the signal says otherwise. */
  open(path: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Response> {
    return fetch(this.#addressOf(path), {
      redirect: "manual",
      headers,
      signal: AbortSignal.any([this.#signal(), signal]),
    });
  }

  /** A whole address stays as it is; a path stands behind {base_url}, which may have one of its own. */
  #addressOf(path: string): URL {
    return new URL(path.startsWith("/") ? `${this.url}${path}` : path);
  }
}

export function formOf(fields: Fields): URLSearchParams {
  const body = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) body.set(name, value);
  return body;
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
