import type { Page } from "../../web/page.ts";
import { ndjsonBody } from "../request/body-types.ts";
import type { CallerIds, Failure } from "./failure.ts";
import type { StreamWriter } from "./open-stream.ts";

/** The answer of a route; the server adds the headers that every answer has. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  readonly about?: AnswerFacts;
}

/** Facts for the log and the metrics, from a route that answers errors by itself. */
export interface AnswerFacts {
  readonly operation?: string;
  readonly caller?: CallerIds | undefined;
  readonly failure?: Failure | undefined;
}

/** A long answer in slices. Each slice is made when the client has taken the ones before it. */
export interface SlicedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly slices: AsyncIterable<string>;
  /** Bytes that are made ahead of the client; Node's default when left out. */
  readonly unreadBytes?: number;
  /** Set when the slices end early because of an error and say so themselves. */
  readonly brokenOff?: { readonly by?: unknown };
  readonly about?: AnswerFacts;
}

/** An answer that does not end by itself: the server opens it and passes the route a writer. */
export interface StreamAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly stream: (writer: StreamWriter) => void;
}

export function jsonAnswer(status: number, body: object, headers: Readonly<Record<string, string>> = {}): Answer {
  return jsonTextAnswer(status, JSON.stringify(body), headers);
}

/** The answer to a write that returns nothing. */
export function done(): Answer {
  return jsonAnswer(200, { status: "OK" });
}

/** Lines of JSON, one for each line of the request. */
export function ndjsonAnswer(body: string): Answer {
  return { status: 200, headers: { "content-type": `${ndjsonBody}; charset=utf-8` }, body };
}

/** The answer to a removal. */
export function noContent(): Answer {
  return { status: 204, headers: {}, body: "" };
}

/** An answer whose body is JSON text already. */
export function jsonTextAnswer(
  status: number,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return { status, headers: { "content-type": "application/json; charset=utf-8", ...headers }, body };
}

export function xmlAnswer(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, headers: { ...xmlHeaders, ...headers }, body };
}

export function xmlSlicesAnswer(status: number, slices: AsyncIterable<string>): SlicedAnswer {
  return { status, headers: xmlHeaders, slices };
}

const xmlHeaders = { "content-type": "text/xml; charset=utf-8" };

/** An HTML page: it can't be framed, loads nothing from other hosts, and its links send no referrer. */
export function pageAnswer(status: number, page: Page, headers: Readonly<Record<string, string>> = {}): Answer {
  const securityHeaders = { ...pageHeaders, "content-security-policy": page.contentSecurityPolicy };
  return { status, headers: { ...securityHeaders, ...headers }, body: page.html };
}

export function redirectAnswer(
  status: 302 | 303,
  location: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return { status, headers: { ...pageHeaders, location, ...headers }, body: "" };
}

const pageHeaders = {
  "content-type": "text/html; charset=utf-8",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
};
