import { Failure } from "../outcome.ts";

// biome-ignore lint/suspicious/noExplicitAny: the rows check the type of every field themselves
export type Json = any;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Undefined if the body or its content type is not JSON. */
  readonly json: Json | undefined;
  /** The `Location` header, or an empty text. */
  readonly location: string;
}

export type Fields = Readonly<Record<string, string | undefined>>;

const timeoutMs = 15_000;

/** HTTP client of the deployment. */
export class Deployment {
  readonly url: string;
  readonly #signal: () => AbortSignal;

  /** `signal` is read at each call, because clean-up after an interruption has another one. */
  constructor(url: string, signal: () => AbortSignal) {
    this.url = url;
    this.#signal = signal;
  }

  /** Sends one request. Redirects are not followed. */
  async call(path: string, init: RequestInit = {}): Promise<Answer> {
    const address = this.#addressOf(path);
    const signal = AbortSignal.any([this.#signal(), AbortSignal.timeout(timeoutMs)]);
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
        next: "Check that the service still runs, and that a proxy in front of it passes this path on.",
      });
    }
  }

  post(path: string, fields: Fields, init: RequestInit = {}): Promise<Answer> {
    return this.call(path, { method: "POST", body: formOf(fields), ...init });
  }

  /** A call under /v3 with an access token. */
  v3(token: string, path: string, method = "GET", body?: object): Promise<Answer> {
    const headers: Record<string, string> = { authorization: `Bearer ${token}` };
    if (body) headers["content-type"] = "application/json";
    return this.call(`/v3/${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  }

  /** A platform operation; the answer is XML. */
  platform(operation: string, fields: Fields): Promise<Answer> {
    return this.post(`/zdk/services/zamapi/${operation}`, fields);
  }

  /** Opens a stream, which ends with the signal. A proxy may hold back even the head of the answer. */
  async open(
    path: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
    headWithinMs = timeoutMs,
  ): Promise<Response> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), headWithinMs);
    try {
      return await fetch(this.#addressOf(path), {
        redirect: "manual",
        headers,
        signal: AbortSignal.any([this.#signal(), signal, late.signal]),
      });
    } finally {
      clearTimeout(timer);
    }
  }

  /** Resolves a path against {base_url}, which may have a path itself; a complete address stays unchanged. */
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
