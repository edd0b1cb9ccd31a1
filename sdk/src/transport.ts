import { InvalidArgument, UnexpectedAnswer, Unreachable } from "./errors.ts";
import { backoffMs, pause } from "./waiting.ts";

/** What every call can be told. */
export interface CallOptions {
  /** Ends the call: it rejects with the signal's reason. Whether a write was carried out is then unknown. */
  readonly signal?: AbortSignal | undefined;
}

/** What a write with an access token can be told. */
export interface WriteOptions extends CallOptions {
  /**
   * Names this change, so that it is carried out once however often it is sent: up to 255 printable ASCII characters, a
   * new one for each change. The SDK makes one for each call; hand in your own to repeat a call later, even from another
   * process, within 24 hours.
   */
  readonly idempotencyKey?: string | undefined;
}

/** @internal */
export interface Call extends CallOptions {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Whether doing it twice is as good as once. Reading is, unless said otherwise. */
  readonly isRepeatable?: boolean;
  /** What is in the call and must be in no error. */
  readonly secrets: readonly string[];
}

/** @internal */
export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly retryAfterSeconds: number | undefined;
  readonly requestId: string | undefined;
  /** Blackens the call's secrets, should somebody have repeated them. */
  readonly conceal: (text: string) => string;
}

/** @internal */
export interface TransportOptions {
  readonly fetch?: typeof fetch | undefined;
  readonly timeoutMs?: number | undefined;
  readonly retries?: number | undefined;
}

const firstPauseMs = 200;
/** Who has to wait longer is told so instead. */
const longestPauseSeconds = 10;

/**
 * HTTP as all calls need it: a time limit, no cookies, no redirects that would carry a token elsewhere, and another try
 * for what is safe to repeat.
 * @internal
 */
export class Transport {
  readonly #fetch: typeof fetch;
  readonly #timeoutMs: number;
  readonly #attempts: number;

  constructor({ fetch: given, timeoutMs = 60_000, retries = 2 }: TransportOptions) {
    // Looked up at each call, so that a later replacement of the global `fetch` takes effect.
    this.#fetch = given ?? ((...call) => globalThis.fetch(...call));
    this.#timeoutMs = timeoutMs;
    this.#attempts = 1 + retries;
  }

  async send(call: Call): Promise<Answer> {
    const isRepeatable = call.isRepeatable ?? call.method === "GET";
    for (let attempt = 1; ; attempt++) {
      const isLast = !isRepeatable || attempt >= this.#attempts;
      const outcome = await this.#try(call);
      const waitSeconds = "status" in outcome ? waitAfter(outcome) : 0;
      if (waitSeconds === undefined || waitSeconds > longestPauseSeconds || isLast) {
        if ("status" in outcome) return outcome;
        throw outcome;
      }
      await pause(Math.max(waitSeconds * 1_000, backoffMs(attempt - 1, firstPauseMs)), call.signal);
    }
  }

  /** An answer that goes on: its head within the time limit, its body for as long as it lasts. */
  async open(call: Call, stop: AbortController): Promise<Response> {
    return this.#within(stop, call.signal, () => this.#request(call, stop.signal));
  }

  async #try(call: Call): Promise<Answer | Unreachable> {
    const stop = new AbortController();
    try {
      return await this.#within(stop, call.signal, async () => {
        const response = await this.#request(call, stop.signal);
        return readAnswer(response, await response.text(), call.secrets);
      });
    } catch (error) {
      if (error instanceof Unreachable) return error;
      throw error;
    }
  }

  async #request({ method, url, headers = {}, body, secrets }: Call, signal: AbortSignal): Promise<Response> {
    // `fetch` would quote the header, and the token in it, in its error.
    if (secrets.some((secret) => /[^\x20-\x7e]/.test(secret)) && "authorization" in headers) {
      throw new InvalidArgument("The token holds characters that no token has.");
    }
    const response = await this.#fetch(url, {
      method,
      headers,
      ...(body !== undefined && { body }),
      signal,
      // Never followed: a redirect would take tokens and secrets to another address.
      redirect: "manual",
      credentials: "omit",
      cache: "no-store",
      referrerPolicy: "no-referrer",
    });
    if (!isRedirect(response)) return response;
    void response.body?.cancel();
    throw redirected(response, url);
  }

  /** Runs it with the time limit and the caller's signal on it, and says which of them ended it. */
  async #within<Value>(
    stop: AbortController,
    signal: AbortSignal | undefined,
    act: () => Promise<Value>,
  ): Promise<Value> {
    signal?.throwIfAborted();
    const abort = () => stop.abort(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    let isTooLate = false;
    const timer = setTimeout(() => {
      isTooLate = true;
      stop.abort();
    }, this.#timeoutMs);
    try {
      return await act();
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof InvalidArgument || error instanceof UnexpectedAnswer) throw error;
      if (isTooLate) throw new Unreachable(`No answer came within ${this.#timeoutMs} ms.`);
      throw new Unreachable("The service can't be reached, or the connection broke.", { cause: error });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
  }
}

/** Browsers hide a redirect's status and address. */
function isRedirect({ type, status }: Response): boolean {
  return type === "opaqueredirect" || (status >= 300 && status < 400 && status !== 304);
}

function redirected({ status, headers }: Response, url: string): UnexpectedAnswer {
  const to = headers.get("location") ?? "";
  const target = URL.canParse(to, url) ? ` to ${new URL(to, url).origin}` : "";
  return new UnexpectedAnswer(
    `${new URL(url).origin} answered with a redirect${target}. It was not followed, because the request may carry credentials. Use the address of the service itself.`,
    status,
  );
}

/** How long to wait before another try makes sense; undefined when none does. */
function waitAfter({ status, retryAfterSeconds }: Answer): number | undefined {
  if (retryAfterSeconds !== undefined) return retryAfterSeconds;
  return status === 429 || status === 502 || status === 503 || status === 504 ? 0 : undefined;
}

/** @internal */
export function readAnswer(response: Response, text: string, secrets: readonly string[]): Answer {
  return {
    status: response.status,
    text,
    retryAfterSeconds: readRetryAfter(response.headers.get("retry-after")),
    requestId: response.headers.get("x-request-id") ?? undefined,
    conceal: (told) => secrets.reduce((rest, secret) => (secret === "" ? rest : rest.replaceAll(secret, "…")), told),
  };
}

/** Seconds, or a date. */
function readRetryAfter(value: string | null): number | undefined {
  if (value === null) return undefined;
  if (/^\d+$/.test(value)) return Number(value);
  const untilMs = Date.parse(value);
  return Number.isNaN(untilMs) ? undefined : Math.max(0, Math.ceil((untilMs - Date.now()) / 1_000));
}
