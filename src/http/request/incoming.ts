import { isIP } from "node:net";
import type { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { LimitReached } from "../../model/errors.ts";
import { limits } from "../../model/limits.ts";
import { refusals } from "../answer/refusal.ts";
import { closingOf } from "../connection/closing-signal.ts";
import { formBody, jsonBody, type MediaType } from "./body-types.ts";
import { scanJson } from "./json-scan.ts";

/** Names and values in the order in which they came; a name may be there twice. */
export type Pairs = readonly (readonly [name: string, value: string])[];

export type Body =
  | { readonly kind: "none" }
  | { readonly kind: "form"; readonly pairs: Pairs }
  | { readonly kind: "json"; readonly value: unknown };

/** A request as routes see it. */
export interface Incoming {
  readonly pathParameters: Readonly<Record<string, string>>;
  readonly query: Pairs;
  readonly body: Body;
  /** What `Authorization: Bearer` carries. */
  readonly bearer: string | undefined;
  /** What `Authorization: Basic` carries, as it was sent. */
  readonly basic: string | undefined;
  /** What `Last-Event-ID` carries: where a client's stream broke off. */
  readonly lastEventId: string | undefined;
  /** Each `Idempotency-Key` header as it was sent; undefined when there is none. */
  readonly idempotencyKeys: readonly string[] | undefined;
  /** The cookies' header, as it was sent. */
  readonly cookies: string;
  /** The client's address; a proxy's word for it only from a trusted proxy, and only if it is an address. */
  readonly source: string;
  /** Aborts when the client's connection closes: what still waits for its turn can be given up. */
  readonly disconnected: AbortSignal;
  /** A program on this machine sent it to a name of this machine, and no proxy passed it on. */
  readonly isLocal: boolean;
}

/** `bodyTypes`: the media types that the route takes, for the refusal of another one. */
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
    // A getter: most routes never wait for a turn, and need no signal.
    get disconnected() {
      return closingOf(request.socket);
    },
    isLocal: isLocal(request),
  };
}

const loopbackHost = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;

/**
 * A proxy on this machine lets in the whole world: what it passed on isn't local, trusted or not. Neither is what a
 * browser on this machine sends for a page from elsewhere: by DNS rebinding that page has another name for this machine.
 */
function isLocal({ socket, headers }: FastifyRequest): boolean {
  if (!loopbackHost.test(headers.host ?? "")) return false;
  const isPassedOn = ["x-forwarded-for", "x-real-ip", "forwarded", "via"].some((name) => headers[name] !== undefined);
  return !isPassedOn && /^(::ffff:)?127\.|^::1$/.test(socket.remoteAddress ?? "");
}

/** The scheme's name goes by any case (RFC 7235 2.1). */
function authorization(request: FastifyRequest, scheme: "bearer" | "basic"): string | undefined {
  const [, given = "", rest = ""] = /^(\S+) *(.*)$/.exec(request.headers.authorization ?? "") ?? [];
  return given.toLowerCase() === scheme ? rest : undefined;
}

/** Bodies are forms or JSON, in UTF-8; anything else is refused with 415. A request without a body has no type at all. */
export function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  // Old HTTP stacks name a type though they send no body. Fastify would refuse the type, or wait for the body.
  app.addHook("onRequest", async ({ headers }) => {
    if (!mayHaveBody(headers) || !readTypes.test(headers["content-type"] ?? "")) delete headers["content-type"];
  });
  app.addContentTypeParser("*", async (_request: unknown, payload: Readable) => {
    return (await isEmpty(payload)) ? undefined : unreadable;
  });
  const read = (contentType: string, parse: (text: string) => Body) =>
    app.addContentTypeParser(contentType, { parseAs: "buffer" }, async (_request: unknown, bytes: Buffer) =>
      bytes.length === 0 ? { kind: "none" } : parse(decode(bytes)),
    );
  read(formBody, (text) => ({ kind: "form", pairs: readPairs(text) }));
  read(jsonBody, (text) => ({ kind: "json", value: readJson(text) }));
}

const readTypes = /^\s*application\/(json|x-www-form-urlencoded)\s*(;|$)/i;

function mayHaveBody(headers: FastifyRequest["headers"]): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/** A body of a type that no route takes. */
const unreadable = { kind: "unreadable" } as const;

function readableBody(body: Body | typeof unreadable | undefined, bodyTypes: readonly MediaType[]): Body {
  if (body?.kind === "unreadable") throw refusals.wrongContentType(...bodyTypes);
  return body ?? { kind: "none" };
}

/** Resolves with the first bytes, or with the end. The bytes are dropped: whether there are any is all that counts. */
function isEmpty(payload: Readable): Promise<boolean> {
  return new Promise((resolve, reject) => {
    payload.once("error", reject);
    payload.once("end", () => resolve(true));
    payload.once("data", () => resolve(false));
  });
}

/** A form or a query. Stricter than most: half an escape would be kept as it is, and mean something else elsewhere. */
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

function readJson(text: string): unknown {
  const { names, depth } = scanJson(text);
  if (depth > limits.jsonDepth) throw refusals.malformed(`The body is nested deeper than ${limits.jsonDepth} levels.`);
  const value = parseJson(text);
  // Of two members of one name the parser silently keeps the last, and somebody before us may have kept the first.
  if (names > countMembers(value)) throw refusals.malformed("The body has two members of one name.");
  return value;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own words quote the text.
    throw refusals.malformed("The body isn't JSON.");
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
