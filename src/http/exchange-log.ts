import { sourceOf } from "../identity/source.ts";
import type { LineLevel, LogLine } from "../model/log-line.ts";
import { keptLine } from "../runtime/kept-lines.ts";
import type { Logger, Runtime } from "../runtime/runtime.ts";
import { type CallerIds, type Failure, internalError } from "./answer/failure.ts";
import { BoundedLines } from "./bounded-lines.ts";
import type { Exchange } from "./exchange.ts";

/** The logged facts of an exchange. Bytes that never became a request have an address and no request. */
export type LoggedExchange = Pick<Exchange, "requestId" | "route" | "end"> &
  Partial<Pick<Exchange, "request" | "operation" | "caller" | "failure" | "bytes" | "lines">> & {
    readonly address?: string | undefined;
  };

/** How an exchange ended. */
export interface ExchangeEnd {
  readonly method: string;
  readonly status: number;
  readonly tookMs: number;
  readonly wasAnswered: boolean;
  /** The address of the client. */
  readonly source: string;
}

/**
 * One line for each exchange. Refused and failed requests are written at `warn` or `error` with all that is known of the
 * caller, so that a request id leads to its line also when `info` is off. Their number is bounded by source, code and
 * route; beyond the bound a request gets the plain line of `info`. Failures have a bound of their own, so that a flood of
 * refusals doesn't hide them.
 */
export class ExchangeLog {
  readonly #report: Logger;
  readonly #refusals: BoundedLines;
  readonly #failures: BoundedLines;

  constructor(report: Logger, after: Runtime["after"]) {
    this.#report = report;
    this.#refusals = new BoundedLines(report, after);
    this.#failures = new BoundedLines(report, after);
  }

  /** Returns the line; undefined when the log's level leaves it out. */
  write(exchange: LoggedExchange, end: ExchangeEnd): LogLine | undefined {
    const failure = exchange.failure ?? unnamedRefusal(end);
    const written = failure && this.#writeFailure(exchange, failure, end);
    if (written) return written.line;
    return this.#write("info", fieldsOf(exchange, end), answeredSentence(end));
  }

  /** Writes how many lines were left out until now. */
  end(): void {
    this.#refusals.endWindow();
    this.#failures.endWindow();
  }

  #write(level: LineLevel, fields: object, sentence: string): LogLine | undefined {
    this.#report[level](fields, sentence);
    const isWritten = this.#report.isLevelEnabled?.(level) ?? true;
    return isWritten ? keptLine(Date.now(), level, sentence, fields) : undefined;
  }

  /** Undefined when the exchange gets the plain line instead. */
  #writeFailure(
    exchange: LoggedExchange,
    failure: Failure,
    end: ExchangeEnd,
  ): { readonly line: LogLine | undefined } | undefined {
    const { code, fault, error } = failure;
    if (!isOfInterest(exchange, end, code)) return undefined;
    const { caller, route = "-" } = exchange;
    const { source } = end;
    const isOurs = isOurFailure(failure, end.status);
    const lines = isOurs ? this.#failures : this.#refusals;
    if (!lines.admit({ source: sourceOf(source), code, route })) return undefined;
    const fields = { ...fieldsOf(exchange, end), code, fault, userId: caller?.userId, source, error };
    const level = code === internalError ? "error" : "warn";
    return { line: this.#write(level, fields, isOurs ? "request failed" : "request refused") };
  }
}

function answeredSentence({ wasAnswered }: ExchangeEnd): string {
  return wasAnswered ? "request answered" : "request abandoned by its client";
}

/** This runs for each request: most need no copied object. */
function fieldsOf(
  { requestId, route = "-", operation, caller }: LoggedExchange,
  { method, status, tookMs }: ExchangeEnd,
) {
  const ms = Math.round(tookMs * 10) / 10;
  const { tenantId, clientId } = caller ?? nobody;
  if (operation !== undefined) return { requestId, method, route, operation, status, ms, tenantId, clientId };
  if (tenantId === undefined) return { requestId, method, route, status, ms };
  return { requestId, method, route, status, ms, tenantId, clientId };
}

const nobody: CallerIds = {};

/** Unknown paths are left out: scanners request thousands of them. */
function isOfInterest({ route }: LoggedExchange, { status }: ExchangeEnd, code: string): boolean {
  const isUnknownPath = status === 404 && route === undefined;
  return !isUnknownPath && code !== "client_gone";
}

/** The failure of a refusal for which the route named no error code. */
function unnamedRefusal({ status, wasAnswered }: ExchangeEnd): Failure | undefined {
  return wasAnswered && status >= 400 && status < 500 ? { code: `http_${status}` } : undefined;
}

/** Not by the status alone: a platform fault is HTTP 500 whatever its cause. */
function isOurFailure({ error }: Failure, status: number): boolean {
  return error !== undefined || status === 503;
}
