import { InvalidArgument, UnexpectedAnswer, Unreachable } from "./errors.ts";
import { backoffMs, pause, timerMs } from "./waiting.ts";

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call: it rejects with the signal's reason. The outcome of a write is then unknown. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of a write with an access token. */
export interface WriteOptions extends CallOptions {
  /**
   * Identifies this write, so that the service executes it once, however often it is sent: up to 255 printable ASCII
   * characters, a new key for each write. By default the SDK generates one. Pass your own to repeat a call later, also
   * from another process, within 24 hours.
   */
  readonly idempotencyKey?: string | undefined;
}

/** @internal */
export interface Call extends CallOptions {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Whether the call is idempotent. By default only GET is. */
  readonly isRepeatable?: boolean;
  /** Whether an answer ends early, for a reason that another attempt may overcome. */
  readonly isUnfinished?: ((answer: Answer) => boolean) | undefined;
  /** Secrets of the call, which no error may hold. */
  readonly secrets: readonly string[];
}

/** @internal */
export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly retryAfterSeconds: number | undefined;
  readonly requestId: string | undefined;
  /** Removes the call's secrets from a text of the answer. */
  readonly redact: (text: string) => string;
}

/** @internal */
export interface TransportOptions {
  readonly fetch?: typeof fetch | undefined;
  readonly timeoutMs?: number | undefined;
  readonly retries?: number | undefined;
}

const firstPauseMs = 200;
/** If the service asks for a longer pause, the call fails instead. */
const maxPauseSeconds = 10;

/**
 * HTTP with a time limit and retries of idempotent calls, without cookies, and without redirects, which would send the
 * token to another address.
 * @internal
 */
export class Transport {
  readonly #fetch: typeof fetch;
  readonly #timeoutMs: number;
  readonly #attempts: number;

  constructor({ fetch: customFetch, timeoutMs = 60_000, retries = 2 }: TransportOptions) {
    // Looked up at each call, so that a later replacement of the global `fetch` takes effect.
    this.#fetch = customFetch ?? ((...call) => globalThis.fetch(...call));
    this.#timeoutMs = timeoutMs;
    this.#attempts = 1 + retries;
  }

  async send(call: Call): Promise<Answer> {
    const isRepeatable = call.isRepeatable ?? call.method === "GET";
    for (let attempt = 1; ; attempt++) {
      const isLast = !isRepeatable || attempt >= this.#attempts;
      const outcome = await this.#try(call);
      const waitSeconds = "status" in outcome ? waitAfter(outcome, call) : 0;
      if (waitSeconds === undefined || waitSeconds > maxPauseSeconds || isLast) {
        if ("status" in outcome) return outcome;
        throw outcome;
      }
      await pause(Math.max(waitSeconds * 1_000, backoffMs(attempt - 1, firstPauseMs)), call.signal);
    }
  }

  /** Opens a stream. The time limit applies to the head of its answer, and to all of a refusal. */
  async open(
    call: Call,
    stop: AbortController,
  ): Promise<Answer | { readonly status: number; readonly response: Response }> {
    return this.#within(stop, call.signal, async () => {
      const response = await this.#request(call, stop.signal);
      if (response.ok) return { status: response.status, response };
      const text = await response.text().catch((error) => {
        if (stop.signal.aborted) throw error;
        return "";
      });
      return readAnswer(response, text, call.secrets);
    });
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
    // The error of `fetch` would quote the header with the token.
    if (secrets.some((secret) => /[^\x20-\x7e]/.test(secret)) && "authorization" in headers) {
      throw new InvalidArgument("The token holds characters that no token has.");
    }
    const response = await this.#fetch(url, {
      method,
      headers,
      ...(body !== undefined && { body }),
      signal,
      redirect: "manual",
      credentials: "omit",
      cache: "no-store",
      referrerPolicy: "no-referrer",
    });
    if (!isRedirect(response)) return response;
    void response.body?.cancel();
    throw redirected(response, url);
  }

  /** Runs a call with the time limit and the caller's signal, and throws the error of the one that ended it. */
  async #within<Value>(
    stop: AbortController,
    signal: AbortSignal | undefined,
    run: () => Promise<Value>,
  ): Promise<Value> {
    signal?.throwIfAborted();
    const abort = () => stop.abort(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    let isTimedOut = false;
    const timer = setTimeout(() => {
      isTimedOut = true;
      stop.abort();
    }, timerMs(this.#timeoutMs));
    try {
      return await run();
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof InvalidArgument || error instanceof UnexpectedAnswer) throw error;
      if (isTimedOut) throw new Unreachable(`No answer came within ${this.#timeoutMs} ms.`);
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
  const location = headers.get("location") ?? "";
  const target = URL.canParse(location, url) ? ` to ${new URL(location, url).origin}` : "";
  return new UnexpectedAnswer(
    `${new URL(url).origin} answered with a redirect${target}. It was not followed, because the request may carry credentials. Use the address of the service itself.`,
    status,
  );
}

/** The pause before another attempt; undefined if another attempt makes no sense. */
function waitAfter(answer: Answer, { isUnfinished }: Call): number | undefined {
  const { status, retryAfterSeconds } = answer;
  if (retryAfterSeconds !== undefined) return retryAfterSeconds;
  if (isUnfinished?.(answer)) return 0;
  return status === 429 || status === 502 || status === 503 || status === 504 ? 0 : undefined;
}

/** @internal */
export function readAnswer(response: Response, text: string, secrets: readonly string[]): Answer {
  return {
    status: response.status,
    text,
    retryAfterSeconds: readRetryAfter(response.headers.get("retry-after")),
    requestId: response.headers.get("x-request-id") ?? undefined,
    redact: (message) =>
      secrets.reduce((rest, secret) => (secret === "" ? rest : rest.replaceAll(secret, "…")), message),
  };
}

/** Parses seconds or a date. */
function readRetryAfter(value: string | null): number | undefined {
  if (value === null) return undefined;
  if (/^\d+$/.test(value)) return Number(value);
  const untilMs = Date.parse(value);
  return Number.isNaN(untilMs) ? undefined : Math.max(0, Math.ceil((untilMs - Date.now()) / 1_000));
}
