import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Report, Runtime } from "../runtime/runtime.ts";
import { networksOf } from "./connection/connection-limits.ts";
import { pipelineOf } from "./connection/pipeline.ts";
import type { Exchange } from "./exchange.ts";
import { ExchangeLog, type LoggedExchange } from "./exchange-log.ts";

/** An exchange that is over, for whoever counts. */
export type Hear = (exchange: {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly tookMs: number;
  readonly isStream: boolean;
  /** The code of the error that was answered; undefined when there was none. */
  readonly code: string | undefined;
}) => void;

export interface ExchangeOptions {
  readonly heard?: Hear | undefined;
  readonly isTls?: boolean;
  /** Addresses or networks that are believed about where a request comes from. */
  readonly trustedProxies?: readonly string[];
  readonly after?: Runtime["after"];
}

/**
 * All exchanges that are going on. Each answer gets the same headers and each exchange one line in the log, whoever
 * answers it.
 */
export class Exchanges {
  readonly #log: ExchangeLog;
  readonly #heard: Hear;
  readonly #isTls: boolean;
  /** Those of them whose response tells how they stand. */
  readonly #attended = new Map<IncomingMessage, Exchange>();
  #running = 0;
  readonly #idle: (() => void)[] = [];
  #isDraining = false;
  #hasEndedStreams = false;

  constructor(report: Report, options: ExchangeOptions = {}) {
    const { heard = () => undefined, isTls = false, trustedProxies = [], after = afterUnlessOver } = options;
    this.#log = new ExchangeLog(report, after, networksOf(trustedProxies));
    this.#heard = heard;
    this.#isTls = isTls;
  }

  /** From now on it is waited for, until it is `over`; one that is attended to sees to that by itself. */
  begin(request: IncomingMessage, response: ServerResponse): Exchange {
    this.#running += 1;
    return {
      request,
      response,
      requestId: newRequestId(),
      startedMs: performance.now(),
      route: undefined,
      operation: undefined,
      caller: undefined,
      failure: undefined,
      end: undefined,
      isSentPast: false,
    };
  }

  /** The headers that every answer of this server has. */
  headersFor(requestId: string): Readonly<Record<string, string>> {
    return { ...everyAnswer(requestId), ...transportHeaders(this.#isTls) };
  }

  /** Gives the answer what every answer has, and sees how the exchange ends. */
  attend(exchange: Exchange): void {
    const { request, response, requestId } = exchange;
    for (const [name, value] of Object.entries(this.headersFor(requestId))) response.setHeader(name, value);
    if (this.#isDraining) response.setHeader("connection", "close");
    this.#attended.set(request, exchange);
    response.once("close", () => {
      this.#attended.delete(request);
      this.over(exchange, response.writableFinished);
    });
  }

  /** Its answer is being sent to the socket directly; its response does not know. */
  sendsPast(exchange: Exchange): void {
    exchange.isSentPast = true;
    this.#attended.set(exchange.request, exchange);
  }

  /** All of its answer is sent, or nobody is there any more to take it. */
  over(exchange: Exchange, wasAnswered: boolean): void {
    const { request, response, startedMs } = exchange;
    this.#running -= 1;
    if (exchange.isSentPast) this.#attended.delete(request);
    this.log(exchange, request.method, response.statusCode, performance.now() - startedMs, wasAnswered);
    if (this.#running === 0 && this.#idle.length > 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** The exchange that a request belongs to, while it is going on. */
  of(request: IncomingMessage): Exchange | undefined {
    return this.#attended.get(request);
  }

  /** An answer has begun that ends only when it is told to: when the server stops, at the latest. */
  goesOn(request: IncomingMessage, end: () => void): void {
    const exchange = this.of(request);
    if (exchange) exchange.end = end;
    pipelineOf(request.socket)?.openStream();
    if (this.#hasEndedStreams) end();
  }

  log(
    exchange: LoggedExchange,
    method: string | undefined = "-",
    status: number,
    tookMs: number,
    wasAnswered: boolean,
  ): void {
    const { route = "-", end, failure } = exchange;
    this.#heard({ method, route, status, tookMs, isStream: end !== undefined, code: failure?.code });
    this.#log.write(exchange, { method, status, tookMs, wasAnswered });
  }

  /** Writes what the log still owes. */
  endLog(): void {
    this.#log.end();
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** From now on every answer closes its connection. */
  drain(): void {
    this.#isDraining = true;
    for (const { response } of this.#attended.values()) {
      if (!response.headersSent) response.setHeader("connection", "close");
    }
  }

  /** From now on no answer goes on for ever. */
  endStreams(): void {
    this.#hasEndedStreams = true;
    for (const exchange of this.#attended.values()) exchange.end?.();
  }

  /** Resolves when nothing is going on. */
  async finished(): Promise<void> {
    if (this.#running > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }
}

export function newRequestId(): string {
  return randomUUID();
}

/** Answers hold tokens and people's homes: nobody keeps them, nobody guesses their type. */
export function everyAnswer(requestId: string): Readonly<Record<string, string>> {
  return { "x-request-id": requestId, "cache-control": "no-store", "x-content-type-options": "nosniff" };
}

/** Tells browsers to use nothing but TLS for a year (RFC 6797). Over plain HTTP the header must not be sent. */
export function transportHeaders(isTls: boolean): Readonly<Record<string, string>> {
  return isTls ? { "strict-transport-security": "max-age=31536000" } : {};
}

/** A timer that doesn't keep the process alive. */
function afterUnlessOver(delayMs: number, act: () => void): () => void {
  const timer = setTimeout(act, delayMs).unref();
  return () => clearTimeout(timer);
}
