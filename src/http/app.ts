import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { SecureContextOptions } from "node:tls";
import Fastify, { type FastifyInstance } from "fastify";
import { LimitReached } from "../model/errors.ts";
import { limits, type OnLimitReached } from "../model/limits.ts";
import { failureAnswer } from "./answer/error-response.ts";
import { shapeBelow } from "./answer/error-shape.ts";
import { keepAliveMs } from "./answer/prepared-answer.ts";
import { Refusal, refusals } from "./answer/refusal.ts";
import { sendAnswer } from "./answer/sending.ts";
import { answerForBrowser } from "./answer/wrong-address.ts";
import { limitBodyTime } from "./connection/body-deadline.ts";
import { type ConnectionLimits, limitConnections } from "./connection/connection-limits.ts";
import { FairRequests } from "./connection/fair-requests.ts";
import { refusalOf, refuseConnection } from "./connection/malformed-requests.ts";
import { limitPipelines } from "./connection/pipeline.ts";
import { KnownPaths } from "./known-paths.ts";
import type { Exchanges } from "./open-exchanges.ts";
import { readBodies } from "./request/incoming.ts";

/** A fast path in front of Fastify. Returns false, and leaves the request untouched, if Fastify has to answer it. */
export type FastPath = (request: IncomingMessage, response: ServerResponse) => boolean;

export interface AppParts extends ConnectionLimits {
  readonly exchanges: Exchanges;
  readonly onLimitReached: OnLimitReached;
  readonly trustedProxies: readonly string[];
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly bodyBytes: number;
  readonly silenceMs?: number;
  readonly tls?: SecureContextOptions | undefined;
  readonly fastPath?: FastPath | undefined;
}

/** Fastify routes requests and reads bodies. Connection limits, error answers and the log are our own. */
export function appOn(parts: AppParts): FastifyInstance {
  const { exchanges, onLimitReached, trustedProxies } = parts;
  const app = Fastify({
    // Fastify would log addresses, and addresses may hold secTokens.
    logger: false,
    serverFactory: (handle) => serverOn(parts, handle),
    clientErrorHandler: (error, socket) => refuseConnection(error, socket, exchanges, onLimitReached),
    frameworkErrors: (error, request, reply) => {
      const exchange = exchanges.of(request.raw);
      const answer = failureAnswer(error, shapeBelow(request.raw.url ?? ""), exchange);
      sendAnswer(reply, answerForBrowser(request.raw, answer, exchange) ?? answer);
    },
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    bodyLimit: parts.bodyBytes,
    exposeHeadRoutes: false,
    // Queries are read strictly, and only by routes that have them (incoming.ts).
    routerOptions: { querystringParser: () => ({}), maxParamLength: limits.requestHeadBytes },
  });
  app.decorate("knownPaths", new KnownPaths());
  app.addHook("onRequest", async (request) => {
    const exchange = exchanges.of(request.raw);
    if (exchange) exchange.route = app.knownPaths.pathOf(request);
    const refusal = refusalOf(request.raw);
    if (refusal) throw refusal;
    const params = request.is404 ? app.knownPaths.ofUnrouted(request)?.params : request.params;
    if (!params || hasEmptyPart(params)) throw refusals.unknownPath(pathOf(request.raw));
  });
  app.setErrorHandler((thrown, request, reply) => {
    const error = isBodyTooLarge(thrown) ? refusals.bodyTooLarge(request.routeOptions.bodyLimit) : thrown;
    if (error instanceof LimitReached) onLimitReached(error.limit);
    const exchange = exchanges.of(request.raw);
    const shape = request.routeOptions.config.errors ?? shapeBelow(request.raw.url ?? "");
    const answer = failureAnswer(error, shape, exchange);
    const isWrongAddress = error instanceof Refusal && (error.status === 404 || error.status === 405);
    const page = isWrongAddress ? answerForBrowser(request.raw, answer, exchange) : undefined;
    return sendAnswer(reply, page ?? answer);
  });
  readBodies(app);
  return app;
}

/** Fastify matches `/v3/devices/` with an empty id. For this service it is an unknown path. */
function hasEmptyPart(pathParameters: unknown): boolean {
  return Object.values(pathParameters as Record<string, string>).includes("");
}

function pathOf({ url = "" }: IncomingMessage): string {
  return url.replace(/[?#].*$/s, "");
}

/** Fastify's error does not name the limit, which depends on the route. */
function isBodyTooLarge(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "FST_ERR_CTP_BODY_TOO_LARGE";
}

function serverOn(parts: AppParts, handle: (...exchange: Parameters<Exchanges["begin"]>) => void): Server {
  const { exchanges, onLimitReached, headersTimeoutMs, requestTimeoutMs, tls, fastPath } = parts;
  const fair = new FairRequests(parts);
  const late = (request: IncomingMessage) => {
    const error = Object.assign(new Error("Request timeout"), { code: "ERR_HTTP_REQUEST_TIMEOUT" });
    server.emit("clientError", error, request.socket);
  };
  const answer: typeof handle = (request, response) => {
    limitBodyTime(request, requestTimeoutMs, late);
    fair.handle(request, () => answerNow(request, response));
  };
  const answerNow: typeof handle = (request, response) => {
    if (exchanges.isDraining && isRepeatedElsewhere(request)) {
      request.socket.destroy();
      return;
    }
    if (fastPath?.(request, response)) return;
    exchanges.track(exchanges.begin(request, response));
    handle(request, response);
  };
  const options = {
    headersTimeout: headersTimeoutMs,
    // Bodies have a time limit of their own (connection/body-deadline.ts).
    requestTimeout: 0,
    maxHeaderSize: limits.requestHeadBytes,
    // Node checks for slow requests every 30 s by default.
    connectionsCheckingInterval: Math.min(1_000, headersTimeoutMs),
    keepAliveTimeout: keepAliveMs,
    // Our own check answers with a sentence; Node's would answer with an empty 400.
    requireHostHeader: false,
    // Requests without a body get no body stream; incoming.ts does not read one from them.
    optimizeEmptyRequests: true,
  };
  const server: Server = tls
    ? createTlsServer({ ...options, ...tls, handshakeTimeout: headersTimeoutMs }, answer)
    : createServer(options, answer);
  server.timeout = parts.silenceMs ?? 0;
  server.on("checkExpectation", answer);
  fair.watch(server);
  limitPipelines(server, tls !== undefined, onLimitReached);
  limitConnections(server, parts, onLimitReached);
  return server;
}

/**
 * Whether the proxy in front repeats this request on another node when it gets no answer. nginx learns that a node drains
 * only from a failed request. A read that we leave unanswered makes nginx skip this node while its port is still open.
 * Otherwise nginx sends requests until the port closes, and a POST whose connection the kernel resets at that moment gets
 * 502: 3 of 99,451 calls while 14 nodes left (docs/decisions/018).
 */
function isRepeatedElsewhere({ method, headers }: IncomingMessage): boolean {
  return (method === "GET" || method === "HEAD") && headers["x-repeats-reads"] === "true";
}
