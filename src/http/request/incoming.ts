import { isIP } from "node:net";
import type { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { LimitReached } from "../../model/errors.ts";
import { limits } from "../../model/limits.ts";
import { scanJson } from "../../runtime/json/json-scan.ts";
import { refusals } from "../answer/refusal.ts";
import { extendBodyTime } from "../connection/body-deadline.ts";
import { closeSignalOf } from "../connection/close-signal.ts";
import { formBody, jsonBody, type MediaType, ndjsonBody } from "./body-types.ts";

/** Names and values in the order of arrival; a name may occur twice. */
export type Pairs = readonly (readonly [name: string, value: string])[];

export type Body =
  | { readonly kind: "none" }
  | { readonly kind: "form"; readonly pairs: Pairs }
  | { readonly kind: "json"; readonly value: unknown }
  /** A body of lines that the route reads itself. */
  | { readonly kind: "lines"; readonly stream: Readable };

/** A request as routes see it. */
export interface Incoming {
  readonly pathParameters: Readonly<Record<string, string>>;
  readonly query: Pairs;
  readonly body: Body;
  /** The value of `Authorization: Bearer`. */
  readonly bearer: string | undefined;
  /** The value of `Authorization: Basic`, undecoded. */
  readonly basic: string | undefined;
  /** The value of `Last-Event-ID`: where a client's stream broke off. */
  readonly lastEventId: string | undefined;
  /** Each `Idempotency-Key` header as it was sent; undefined when there is none. */
  readonly idempotencyKeys: readonly string[] | undefined;
  /** The cookies' header, as it was sent. */
  readonly cookies: string;
  /** The client's address. `X-Forwarded-For` counts only from a trusted proxy, and only if it is an address. */
  readonly source: string;
  /** Aborts when the client's connection closes: queued work can be dropped. */
  readonly disconnected: AbortSignal;
  /** Gives a body that the route reads itself another time limit, counted from now. */
  extendBodyTime(timeoutMs: number): void;
  /** What the browser says about the page that sent the request. */
  readonly site: SendingSite;
  readonly userAgent: string;
  /** Path and query, as they were sent. */
  readonly target: string;
  /** Sent by a program on this machine to a local host name, and not by a proxy. */
  readonly isLocal: boolean;
}

/** Headers that browsers send and pages can't change. */
export interface SendingSite {
  /** `Sec-Fetch-Site`. */
  readonly fetchSite: string | undefined;
  readonly origin: string | undefined;
  /** The host to which the request was sent. */
  readonly host: string | undefined;
}

/** `bodyTypes`: the media types that the route takes, for the refusal of others. */
export function readIncoming(request: FastifyRequest, bodyTypes: readonly MediaType[]): Incoming {
  const target = request.raw.url ?? "";
  const queryAt = target.indexOf("?");
  return {
    pathParameters: request.params as Record<string, string>,
    query: queryAt < 0 ? [] : readPairs(target.slice(queryAt + 1)),
    body: readableBody(request.body as Body | typeof unreadable | undefined, bodyTypes),
    bearer: authorization(request, "bearer"),
    basic: authorization(request, "basic"),
    lastEventId: request.headers["last-event-id"] === undefined ? undefined : String(request.headers["last-event-id"]),
    idempotencyKeys:
      request.headers["idempotency-key"] === undefined ? undefined : request.raw.headersDistinct["idempotency-key"],
    cookies: request.headers.cookie ?? "",
    source: isIP(request.ip) === 0 ? (request.socket.remoteAddress ?? "") : request.ip,
    // A getter, because most routes need no signal.
    get disconnected() {
      return closeSignalOf(request.socket);
    },
    extendBodyTime: (timeoutMs) => extendBodyTime(request.raw, timeoutMs),
    isLocal: isLocal(request),
    site: {
      fetchSite: headerOf(request, "sec-fetch-site"),
      origin: headerOf(request, "origin"),
      host: headerOf(request, "host"),
    },
    userAgent: headerOf(request, "user-agent") ?? "",
    target,
  };
}

function headerOf({ headers }: FastifyRequest, name: string): string | undefined {
  const value = headers[name];
  return value === undefined ? undefined : String(value);
}

const loopbackHost = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;

/**
 * Whether a request is local. A request with a forwarding header isn't: a proxy on this machine passes on requests from
 * anywhere. A proxy that adds no such header can't be recognised, so proxies must not pass on /metrics
 * (docs/operations.md). A request with a foreign host name isn't local either: by DNS rebinding a page from elsewhere can
 * reach this machine through a browser on it.
 */
function isLocal({ socket, headers }: FastifyRequest): boolean {
  if (!loopbackHost.test(headers.host ?? "")) return false;
  const isPassedOn = ["x-forwarded-for", "x-real-ip", "forwarded", "via"].some((name) => headers[name] !== undefined);
  return !isPassedOn && /^(::ffff:)?127\.|^::1$/.test(socket.remoteAddress ?? "");
}

/** The scheme's name is case-insensitive (RFC 7235 2.1). */
function authorization(request: FastifyRequest, scheme: "bearer" | "basic"): string | undefined {
  const [, sentScheme = "", rest = ""] = /^(\S+) *(.*)$/.exec(request.headers.authorization ?? "") ?? [];
  return sentScheme.toLowerCase() === scheme ? rest : undefined;
}

/**
 * Parses bodies in UTF-8: forms and JSON. NDJSON is handed on as a stream, to routes that take it. Anything else is refused
 * with 415. A request without a body has no type.
 */
export function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  // Some old HTTP stacks send a type without a body. Fastify would refuse the type, or wait for the body. A body of any
  // other type, or of none, goes to the parser "*": Fastify would refuse a malformed type before the route can.
  app.addHook("onRequest", async ({ headers }) => {
    if (!mayHaveBody(headers) || !parsedMediaTypes.test(headers["content-type"] ?? "")) delete headers["content-type"];
  });
  app.addContentTypeParser("*", async (_request: unknown, payload: Readable) => {
    return (await isEmpty(payload)) ? undefined : unreadable;
  });
  const read = (contentType: string, parse: (text: string) => Body) =>
    app.addContentTypeParser(contentType, { parseAs: "buffer" }, async (_request: unknown, bytes: Buffer) =>
      bytes.length === 0 ? { kind: "none" } : parse(decode(bytes)),
    );
  read(formBody, (text) => ({ kind: "form", pairs: readPairs(text) }));
  read(jsonBody, (text) => ({ kind: "json", value: parseStrictly(text) }));
  app.addContentTypeParser(ndjsonBody, async (_request: unknown, stream: Readable) => ({ kind: "lines", stream }));
}

const parsedMediaTypes = /^\s*application\/(json|x-www-form-urlencoded|x-ndjson)\s*(;|$)/i;

function mayHaveBody(headers: FastifyRequest["headers"]): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/** A body of a type that no route takes. */
const unreadable = { kind: "unreadable" } as const;

function readableBody(body: Body | typeof unreadable | undefined, bodyTypes: readonly MediaType[]): Body {
  const isUntaken = body?.kind === "lines" && !bodyTypes.includes(ndjsonBody);
  if (body?.kind === "unreadable" || isUntaken) throw refusals.wrongContentType(...bodyTypes);
  return body ?? { kind: "none" };
}

/** Resolves at the first bytes or at the end. The bytes are dropped, because only their presence matters. */
function isEmpty(payload: Readable): Promise<boolean> {
  return new Promise((resolve, reject) => {
    payload.once("error", reject);
    payload.once("end", () => resolve(true));
    payload.once("data", () => resolve(false));
  });
}

/**
 * Parses a form or a query, strictly: an incomplete escape is refused, because other parsers would read it differently.
 */
function readPairs(text: string): Pairs {
  const pairs = text.split("&", limits.parametersPerRequest + 1);
  if (pairs.length > limits.parametersPerRequest) {
    throw new LimitReached(
      "parametersPerRequest",
      `The query or the form has more than ${limits.parametersPerRequest} parameters. Send fewer.`,
    );
  }
  try {
    return pairs
      .filter((pair) => pair !== "")
      .map((pair) => {
        const [, name = "", value = ""] = /^([^=]*)=?(.*)$/s.exec(pair) ?? [];
        return [unescapeText(name), unescapeText(value)] as const;
      });
  } catch {
    throw refusals.malformed("The percent-encoding of the parameters is malformed.");
  }
}

function unescapeText(text: string): string {
  return decodeURIComponent(text.replaceAll("+", " "));
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw refusals.malformed("The body isn't UTF-8.");
  }
}

/** Parses JSON, and refuses what other parsers might read differently. `what` names the text in the refusal. */
export function parseStrictly(text: string, what = "The body"): unknown {
  const { names, depth, parts, members } = scanJson(text);
  if (depth > limits.jsonDepth) throw refusals.malformed(`${what} is nested deeper than ${limits.jsonDepth} levels.`);
  // To parse and read so many would hold up all other callers for seconds.
  if (parts > limits.jsonParts) throw tooMany("jsonParts", `${what} has too many values for one request.`);
  if (members > limits.jsonMembers)
    throw tooMany("jsonMembers", `An object of ${what.toLowerCase()} has too many members.`);
  const value = parseJson(text, what);
  // Of two members with one name the parser keeps the last, but a proxy may have read the first.
  if (names > countMembers(value)) throw refusals.malformed(`${what} has two members of one name.`);
  return value;
}

function tooMany(limit: "jsonParts" | "jsonMembers", sentence: string): LimitReached {
  return new LimitReached(limit, `${sentence} ${limits[limit]} is the limit. Send fewer at the same time.`);
}

function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message is dropped: it quotes the text.
    throw refusals.malformed(`${what} isn't JSON.`);
  }
}

function countMembers(value: unknown): number {
  let count = 0;
  for (const waiting = [value]; waiting.length > 0; ) {
    const next = waiting.pop();
    if (typeof next !== "object" || next === null) continue;
    const members = Object.values(next);
    if (!Array.isArray(next)) count += members.length;
    for (const member of members) waiting.push(member);
  }
  return count;
}
