import { BreezewayError } from "../../model/errors.ts";
import { exitCodes } from "../exit-codes.ts";
import { refuseRedirect, unfollowed } from "./redirects.ts";
import { type ServerEvent, serverEvents } from "./server-events.ts";

// biome-ignore lint/suspicious/noExplicitAny: what a service answers has come as JSON, and each command knows its own
export type Answer = any;

/** How a command gets in, and how it gets in again when what it had is over. */
export interface Credentials {
  readonly baseUrl: string;
  /** `isOver`: the one that it gave last is no longer taken. Undefined: there is no other. */
  accessToken(isOver?: boolean): Promise<string | undefined>;
  /** For the adaptor; refused in words where there is none. */
  secToken(): Promise<string>;
  /** After a loss: the service may have come back at another address. */
  enterAgain?(): Promise<void>;
  /** Gives back what was given for this one command. */
  leave?(): Promise<void>;
  /** What to do when the service refuses the access token. */
  readonly nextStep: string;
  /** What to do when the adaptor refuses the security token. */
  readonly secTokenStep?: string;
}

export type Query = Readonly<Record<string, string | number | undefined | readonly (string | number)[]>>;

export interface CallOptions {
  readonly query?: Query;
  readonly body?: object;
  readonly withinMs?: number;
}

const readWithinMs = 15_000;
/** How long a stream's answer may take to begin. */
const headWithinMs = 4_000;

/** The service at an address, as a client of its published interface sees it. */
export class Api {
  readonly #credentials: Credentials;

  constructor(credentials: Credentials) {
    this.#credentials = credentials;
  }

  get baseUrl(): string {
    return this.#credentials.baseUrl;
  }

  /** A call of /v3. A reading call has a time limit: a service that is frozen must be shown as such. */
  async call(
    method: string,
    path: string,
    { query, body, withinMs = readWithinMs }: CallOptions = {},
  ): Promise<Answer> {
    const content = body && { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    const limit = method === "GET" ? { signal: AbortSignal.timeout(withinMs) } : {};
    const answer = await this.#withToken((headers) =>
      this.#fetch(`${path}${asText(query)}`, {
        method,
        ...content,
        ...limit,
        headers: { ...content?.headers, ...headers },
      }),
    );
    const told = await read(answer).catch((error) => {
      throw new Unreachable(this.baseUrl, error);
    });
    if (!answer.ok) throw this.#refusal(answer, { ...told, error_description: withDevice(path, told) });
    return told;
  }

  /** A call to the adaptor, which takes a security token and answers with numbered errors. */
  async adaptor(
    method: string,
    parameters: Readonly<Record<string, string>>,
    limitMs = Number.POSITIVE_INFINITY,
  ): Promise<Answer> {
    const authorization = `Bearer ${await this.#credentials.secToken()}`;
    const body = new URLSearchParams(parameters);
    const [path, content] = method === "GET" ? [`?${body}`, {}] : ["", { body }];
    const answer = await this.#fetch(`/adaptor/federatedtokens${path}`, {
      method,
      ...content,
      headers: { authorization },
      ...(Number.isFinite(limitMs) && { signal: AbortSignal.timeout(limitMs) }),
    });
    const told = await read(answer);
    const next = this.#credentials.secTokenStep;
    if (!answer.ok) throw this.#refusal(answer, { error: told.errorCode, error_description: told.errorMessage }, next);
    return told;
  }

  async enterAgain(): Promise<void> {
    await this.#credentials.enterAgain?.();
  }

  async leave(): Promise<void> {
    await this.#credentials.leave?.();
  }

  /** What happens, from now on or from behind that id; rejects when the connection is lost. */
  async *events(query: Query, lastEventId: string | undefined, signal?: AbortSignal): AsyncGenerator<ServerEvent> {
    const resumed: Record<string, string> = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
    const opening = new AbortController();
    const tooLate = setTimeout(() => opening.abort(), headWithinMs);
    const answer = await this.#withToken((headers) =>
      this.#fetch(`/v3/events${asText(query)}`, {
        headers: { ...headers, ...resumed, accept: "text/event-stream" },
        signal: signal ? AbortSignal.any([signal, opening.signal]) : opening.signal,
      }),
    ).finally(() => clearTimeout(tooLate));
    if (!answer.ok || !answer.body) throw this.#refusal(answer, await read(answer));
    yield* serverEvents(answer.body);
  }

  async #withToken(send: (headers: Record<string, string>) => Promise<Response>): Promise<Response> {
    const token = await this.#credentials.accessToken();
    const answer = await send(token === undefined ? {} : { authorization: `Bearer ${token}` });
    if (answer.status !== 401 || token === undefined) return answer;
    const next = await this.#credentials.accessToken(true);
    return next === undefined || next === token ? answer : send({ authorization: `Bearer ${next}` });
  }

  async #fetch(path: string, init: RequestInit): Promise<Response> {
    let answer: Response;
    try {
      answer = await fetch(`${this.baseUrl}${path}`, { ...init, ...unfollowed });
    } catch (error) {
      const isTimeout = error instanceof Error && error.name === "TimeoutError";
      if (init.signal?.aborted && !isTimeout) throw error;
      throw new Unreachable(this.baseUrl, error, init.method ?? "GET");
    }
    return refuseRedirect(answer, this.baseUrl);
  }

  #refusal({ status }: Response, told: Answer, nextStep = this.#credentials.nextStep): ServiceRefused {
    const sentence = String(told.error_description ?? `The service at ${this.baseUrl} answered ${status}.`);
    const next = status === 401 ? ` ${nextStep}` : "";
    return new ServiceRefused(status, String(told.error ?? status), `${sentence}${next}`);
  }
}

/** What the service said when it did not do what was asked. */
export class ServiceRefused extends BreezewayError {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, sentence: string) {
    super(sentence);
    this.status = status;
    this.code = code;
  }

  get exitCode(): number {
    if (this.code === "read_only_attribute") return exitCodes.usage;
    if (this.code === adaptorErrors.ecosystemRefused) return exitCodes.notAuthorised;
    return byStatus[this.status] ?? (this.status >= 500 ? exitCodes.failed : exitCodes.usage);
  }
}

/** The adaptor's numbers that commands react to (interface 7). */
export const adaptorErrors = { alreadyLinked: "118", notLinked: "119", ecosystemRefused: "121" } as const;

const byStatus: Readonly<Record<number, number>> = {
  401: exitCodes.notAuthorised,
  403: exitCodes.notAuthorised,
  404: exitCodes.notFound,
  409: exitCodes.conflict,
  429: exitCodes.unreachable,
  503: exitCodes.unreachable,
};

export class Unreachable extends BreezewayError {
  readonly code = "unreachable";
  readonly exitCode = exitCodes.unreachable;

  constructor(address: string, cause: unknown, method = "GET") {
    const reason = reasonOf(cause);
    super(
      method === "GET" || unsent.includes(reason)
        ? `Nothing answers at ${address} (${reason}). Is it running there? See: breezeway doctor`
        : `The connection to ${address} broke before it answered (${reason}). The change may have been made or not: look before you repeat it.`,
      { cause },
    );
  }
}

/** There was no connection: nothing was sent. */
const unsent: readonly string[] = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"];

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = (cause as { code?: unknown } | undefined)?.code;
  return typeof code === "string" ? code : cause instanceof Error ? cause.message : String(cause);
}

/** The service says "this device" of the device that the path names. A person reads the sentence without the path. */
function withDevice(path: string, { error_description: sentence }: Answer): unknown {
  const [, deviceId] = /^\/v3\/devices\/(\d+)/.exec(path) ?? [];
  return deviceId && typeof sentence === "string" ? sentence.replace(/^This device\b/, `Device ${deviceId}`) : sentence;
}

async function read(answer: Response): Promise<Answer> {
  const text = await answer.text();
  try {
    return text === "" ? {} : JSON.parse(text);
  } catch {
    return {};
  }
}

function asText(query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) parameters.append(name, String(one));
    }
  }
  return parameters.size === 0 ? "" : `?${parameters}`;
}
