import type { AccessTokens } from "./access-tokens.ts";
import { NotSignedIn, UnexpectedAnswer } from "./errors.ts";
import { randomText } from "./randomness.ts";
import { refusalInJson } from "./refusals.ts";
import type { Answer, Call, Transport, WriteOptions } from "./transport.ts";

/** An undefined parameter is left out; a list becomes a repeated parameter. */
type Query = Readonly<Record<string, string | number | readonly (string | number)[] | undefined>>;

/** @internal */
export interface V3Request extends WriteOptions {
  readonly query?: Query;
  readonly json?: unknown;
  /** A body with one JSON value in each line. */
  readonly lines?: readonly unknown[];
  /** The call only reads, although its method is not GET: it needs no Idempotency-Key and is safe to repeat. */
  readonly isRead?: boolean;
  readonly isUnfinished?: Call["isUnfinished"];
}

/** Answers to lines, in order. With a problem, the lines after them were not answered. */
interface LineAnswers<Line> {
  readonly answers: readonly Line[];
  readonly problem?: UnexpectedAnswer;
}

/** The last line of an answer that ends early. */
interface LastLine {
  readonly isLast?: boolean;
  readonly status?: number;
  readonly error_description?: string;
}

/**
 * Calls of /v3 with an access token. A refused token is renewed once and the call repeated, because a refused call had
 * no effect. Writes carry an Idempotency-Key, so they are safe to repeat when their answer is lost.
 * @internal
 */
export class V3 {
  readonly #transport: Transport;
  readonly #baseUrl: string;
  readonly #tokens: AccessTokens;

  constructor(transport: Transport, baseUrl: string, tokens: AccessTokens) {
    this.#transport = transport;
    this.#baseUrl = baseUrl;
    this.#tokens = tokens;
  }

  async call<Body>(method: Call["method"], path: string, request: V3Request = {}): Promise<Body> {
    const answer = await this.#answer(method, path, request);
    if (answer.status === 204) return undefined as Body;
    return parsed<Body>(answer.text, answer.status);
  }

  /**
   * Sends one JSON value in each line, and returns the answers to them. When the service breaks off for a while, the
   * lines are sent again with the same key.
   */
  async lines<Line>(path: string, lines: readonly unknown[], request: V3Request): Promise<LineAnswers<Line>> {
    const { status, text } = await this.#answer("POST", path, { ...request, lines, isUnfinished: isBrokenOff });
    const answers = linesOf(text).map((line) => parsed<Line & LastLine>(line, status));
    const last = answers.at(-1);
    if (answers.length === lines.length && !last?.isLast) return { answers };
    const problem = new UnexpectedAnswer(last?.error_description ?? "The answer is incomplete.", status);
    return { answers: last?.isLast ? answers.slice(0, -1) : answers, problem };
  }

  async #answer(method: Call["method"], path: string, request: V3Request): Promise<Answer> {
    const isRead = request.isRead ?? method === "GET";
    const key = isRead ? undefined : (request.idempotencyKey ?? (await randomText(18)));
    let answer = await this.#send(method, path, request, key);
    // The service has no room for another key, and has changed nothing: send without a key, and never repeat that.
    const isFull = answer.status === 409 && refusalInJson(answer).code === "too_many_idempotency_keys";
    if (isFull && request.idempotencyKey === undefined) answer = await this.#send(method, path, request, undefined);
    if (answer.status < 200 || answer.status > 299) throw refusalInJson(answer);
    return answer;
  }

  /** The pages of a list, each requested when the caller needs it. `member` is the list's name in the answer. */
  async *pages<Item>(path: string, member: string, request: V3Request): AsyncGenerator<readonly Item[], void> {
    for (let cursor: string | undefined; ; ) {
      const query = { ...request.query, cursor };
      const page = await this.call<Readonly<Record<string, unknown>>>("GET", path, { ...request, query });
      yield page[member] as readonly Item[];
      if (page.cursor === undefined) return;
      cursor = page.cursor as string;
    }
  }

  #send(method: Call["method"], path: string, request: V3Request, key: string | undefined): Promise<Answer> {
    return this.withToken(request.signal, (token) => {
      const call = this.#build(method, path, request, token);
      if (key === undefined) return this.#transport.send(call);
      return this.#transport.send({
        ...call,
        headers: { ...call.headers, "idempotency-key": key },
        isRepeatable: true,
      });
    });
  }

  /** Opens a stream, which lasts until it is stopped. */
  async open(path: string, request: V3Request & { readonly headers?: Record<string, string> }, stop: AbortController) {
    const opened = await this.withToken(request.signal, (token) => {
      const call = this.#build("GET", path, request, token);
      return this.#transport.open({ ...call, headers: { ...call.headers, ...request.headers } }, stop);
    });
    if ("response" in opened) return opened.response;
    throw refusalInJson(opened);
  }

  /** Sends with an access token. After a 401 the token is renewed once, and the call repeated. */
  async withToken<Outcome extends Pick<Answer, "status">>(
    signal: AbortSignal | undefined,
    send: (token: string) => Promise<Outcome>,
  ): Promise<Outcome> {
    signal?.throwIfAborted();
    const token = await this.#tokens.current(signal);
    const outcome = await send(token);
    if (outcome.status !== 401) return outcome;
    const renewed = await this.#tokens.renewed(token, signal);
    return renewed === undefined || renewed === token ? outcome : send(renewed);
  }

  #build(
    method: Call["method"],
    path: string,
    { query = {}, json, lines, isRead, isUnfinished, signal }: V3Request,
    token: string,
  ): Call {
    const hasBody = json !== undefined || lines !== undefined;
    const body = lines ? lines.map((line) => `${JSON.stringify(line)}\n`).join("") : JSON.stringify(json);
    const contentType = lines ? "application/x-ndjson" : "application/json";
    return {
      method,
      url: `${this.#baseUrl}/v3${path}${queryText(query)}`,
      headers: { authorization: `Bearer ${token}`, ...(hasBody && { "content-type": contentType }) },
      ...(hasBody && { body }),
      ...(isRead && { isRepeatable: true }),
      isUnfinished,
      secrets: [token],
      signal,
    };
  }
}

function linesOf(text: string): readonly string[] {
  return text.split("\n").filter((line) => line !== "");
}

/** Whether the service has ended an answer of lines early, and may carry out the rest later. */
function isBrokenOff({ status, text }: Answer): boolean {
  const last = linesOf(text).at(-1);
  if (status !== 200 || last === undefined) return false;
  const { isLast, status: reason = 0 } = parsed<LastLine>(last, status);
  return isLast === true && (reason >= 500 || reason === 429);
}

function parsed<Value>(text: string, status: number): Value {
  try {
    return JSON.parse(text) as Value;
  } catch {
    throw new UnexpectedAnswer("The answer isn't JSON.", status);
  }
}

/** @internal */
export function missingAccessToken(callName: string): NotSignedIn {
  return new NotSignedIn(`${callName} needs an access token: hand one in as accessToken.`, { code: "missing_token" });
}

function queryText(query: Query): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value ?? []].flat()) pairs.append(name, String(one));
  }
  const text = pairs.toString();
  return text === "" ? "" : `?${text}`;
}
