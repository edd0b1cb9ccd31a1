import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { sourceOf } from "../identity/source.ts";
import type { LogLine } from "../model/log-line.ts";
import type { OpenLines, RunWithLines } from "../runtime/kept-lines.ts";
import type { Logger, Runtime } from "../runtime/runtime.ts";
import { type CallerIds, clientAddress } from "./answer/failure.ts";
import { networksOf } from "./connection/connection-limits.ts";
import { pipelineOf } from "./connection/pipeline.ts";
import type { Exchange } from "./exchange.ts";
import { ExchangeLog, type LoggedExchange } from "./exchange-log.ts";

/** A finished exchange, as metrics and the record of recent requests see it. It holds no secret. */
export interface FinishedExchange {
  readonly requestId: string;
  readonly method: string;
  /** The pattern of the route, never the address; `-` for an unknown path. */
  readonly route: string;
  readonly operation: string | undefined;
  readonly status: number;
  readonly tookMs: number;
  readonly bytes: number;
  readonly isStream: boolean;
  /** The code of the error that was answered; undefined when there was none. */
  readonly code: string | undefined;
  readonly caller: CallerIds | undefined;
  /** The address of the client, as the log has it. */
  readonly source: string;
  /** The lines that the log has of it, its own last. */
  readonly lines: readonly LogLine[];
}

/** Called once for each finished exchange. */
export type ExchangeListener = (exchange: FinishedExchange) => void;

export interface ExchangeOptions {
  readonly onExchange?: ExchangeListener | undefined;
  readonly isTls?: boolean;
  /** Addresses or networks of proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies?: readonly string[];
  readonly after?: Runtime["after"];
  /** Left out: of each exchange only its own line is known. */
  readonly runWithLines?: RunWithLines | undefined;
}

/**
 * The exchanges in progress. Whether Fastify or the fast path answers, each answer gets the same headers and each
 * exchange one line in the log.
 */
export class Exchanges {
  readonly #log: ExchangeLog;
  readonly #onExchange: ExchangeListener;
  readonly #isTls: boolean;
  readonly #runWithLines: RunWithLines | undefined;
  readonly #trustedProxies: ReturnType<typeof networksOf>;
  /** Exchanges whose end is observed by events of the response. */
  readonly #tracked = new Map<IncomingMessage, Exchange>();
  #running = 0;
  readonly #idle: (() => void)[] = [];
  #isDraining = false;
  #hasEndedStreams = false;

  constructor(report: Logger, options: ExchangeOptions = {}) {
    const { onExchange = () => undefined, isTls = false, trustedProxies = [], after = unreferencedTimer } = options;
    this.#trustedProxies = networksOf(trustedProxies);
    this.#log = new ExchangeLog(report, after);
    this.#onExchange = onExchange;
    this.#isTls = isTls;
    this.#runWithLines = options.runWithLines;
  }

  /** Counts the exchange as running until `over` is called. `attend` calls `over` when the response ends. */
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
      isWrittenToSocket: false,
      bytes: 0,
      lines: undefined,
    };
  }

  /** Runs work of an exchange. Log lines that it writes until the exchange ends belong to the exchange. */
  work<Result>(exchange: Exchange | undefined, act: () => Result): Result {
    if (!exchange || !this.#runWithLines) return act();
    exchange.lines ??= this.#linesOf(exchange);
    return this.#runWithLines(exchange.lines, act);
  }

  #linesOf({ request, requestId }: Exchange): OpenLines {
    const owner = { tenant: sourceOf(clientAddress(request, this.#trustedProxies)), holder: "" };
    return { requestId, lines: [], isOpen: true, owner };
  }

  /** The headers that every answer of this server has. */
  headersFor(requestId: string): Readonly<Record<string, string>> {
    return { ...commonHeaders(requestId), ...transportHeaders(this.#isTls) };
  }

  /** Sets the headers of every answer, and ends the exchange when the response finishes or closes. */
  track(exchange: Exchange): void {
    const { request, response, requestId } = exchange;
    for (const [name, value] of Object.entries(this.headersFor(requestId))) response.setHeader(name, value);
    if (this.#isDraining) response.setHeader("connection", "close");
    this.#tracked.set(request, exchange);
    const { socket } = request;
    const sentBefore = socket.bytesWritten;
    response.once("close", () => {
      this.#tracked.delete(request);
      exchange.bytes = bodyBytesOf(exchange, socket.bytesWritten - sentBefore);
      this.finish(exchange, response.writableFinished);
    });
  }

  /** For an answer that is written to the socket directly: the response will not report when it was sent. */
  trackSocketWrite(exchange: Exchange): void {
    exchange.isWrittenToSocket = true;
    this.#tracked.set(exchange.request, exchange);
  }

  /** Ends the exchange: its whole answer was sent, or the client has disconnected. */
  finish(exchange: Exchange, wasAnswered: boolean): void {
    const { request, response, startedMs } = exchange;
    this.#running -= 1;
    if (exchange.isWrittenToSocket) this.#tracked.delete(request);
    this.log(exchange, request.method, response.statusCode, performance.now() - startedMs, wasAnswered);
    if (this.#running === 0 && this.#idle.length > 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** The exchange of a request, while it is in progress. */
  of(request: IncomingMessage): Exchange | undefined {
    return this.#tracked.get(request);
  }

  /** Registers an open-ended answer, such as an event stream. The server ends it when it stops. */
  registerStream(request: IncomingMessage, end: () => void): void {
    const exchange = this.of(request);
    if (exchange) exchange.end = end;
    pipelineOf(request.socket)?.openStream(request);
    if (this.#hasEndedStreams) end();
  }

  log(
    exchange: LoggedExchange,
    method: string | undefined = "-",
    status: number,
    tookMs: number,
    wasAnswered: boolean,
  ): void {
    const { requestId, route = "-", operation, end, failure, caller, request, bytes = 0, address = "" } = exchange;
    const source = request ? clientAddress(request, this.#trustedProxies) : address;
    const isStream = end !== undefined;
    const code = failure?.code;
    const { lines } = exchange;
    if (lines) lines.isOpen = false;
    const line = this.#log.write(exchange, { method, status, tookMs, wasAnswered, source });
    this.#onExchange({
      requestId,
      method,
      route,
      operation,
      status,
      tookMs,
      bytes,
      isStream,
      code,
      caller,
      source,
      lines: allLines(lines?.lines, line),
    });
  }

  /** Writes the counts of suppressed log lines. */
  endLog(): void {
    this.#log.end();
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** From now on every answer closes its connection. */
  drain(): void {
    this.#isDraining = true;
    for (const { response } of this.#tracked.values()) {
      if (!response.headersSent) response.setHeader("connection", "close");
    }
  }

  /** Ends all open-ended answers, and those that begin later. */
  endStreams(): void {
    this.#hasEndedStreams = true;
    for (const exchange of this.#tracked.values()) exchange.end?.();
  }

  /** Resolves when no exchange is in progress. */
  async finished(): Promise<void> {
    if (this.#running > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }
}

const noLines: readonly LogLine[] = [];

function allLines(before: readonly LogLine[] = noLines, last: LogLine | undefined): readonly LogLine[] {
  if (last === undefined) return before;
  return before.length === 0 ? [last] : [...before, last];
}

/** A long answer has no length in its head: then it is what was sent on the connection meanwhile, its head included. */
function bodyBytesOf({ request, response }: Exchange, sentBytes: number): number {
  if (request.method === "HEAD") return 0;
  const length = response.getHeader("content-length");
  return length === undefined ? sentBytes : Number(length);
}

export function newRequestId(): string {
  return randomUUID();
}

/** Answers hold tokens and personal data: no cache may store them, and no browser may guess their type. */
export function commonHeaders(requestId: string): Readonly<Record<string, string>> {
  return { "x-request-id": requestId, "cache-control": "no-store", "x-content-type-options": "nosniff" };
}

/** Tells browsers to use nothing but TLS for a year (RFC 6797). Over plain HTTP the header must not be sent. */
export function transportHeaders(isTls: boolean): Readonly<Record<string, string>> {
  return isTls ? { "strict-transport-security": "max-age=31536000" } : {};
}

/** A timer that doesn't keep the process alive. */
function unreferencedTimer(delayMs: number, act: () => void): () => void {
  const timer = setTimeout(act, delayMs).unref();
  return () => clearTimeout(timer);
}
