import type { AddressInfo, Server as NetServer, Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { SecureContextOptions, Server as TlsServer } from "node:tls";
import type { FastifyInstance } from "fastify";
import { type OnLimitReached, limits as tableOfLimits } from "../model/limits.ts";
import type { RunWithLines } from "../runtime/kept-lines.ts";
import type { Logger } from "../runtime/runtime.ts";
import { allowOrigins, corsHeaders } from "./answer/cors.ts";
import { appOn, type FastPath } from "./app.ts";
import { Certificate, type CertificateFiles, type CertificateStatus } from "./connection/certificate.ts";
import type { ConnectionLimits } from "./connection/connection-limits.ts";
import { Listening } from "./connection/listening.ts";
import { type ExchangeListener, Exchanges, transportHeaders } from "./open-exchanges.ts";
import type { Callers } from "./request/caller.ts";
import { type AddedRoute, addRoutes, type Route } from "./routes.ts";

/** Facts about the server that its routes need. */
export interface ServerFacts {
  readonly exchanges: Exchanges;
  readonly healthCheckTimeoutMs: number;
  readonly corsOrigins: readonly string[];
  /** The headers that every answer carries. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface Served {
  readonly routes: readonly Route[];
  /** Answers the most frequent requests in front of Fastify. */
  readonly fastPath?: FastPath;
}

export interface HttpParts {
  /** Makes the routes; called once, before the server listens. */
  readonly serve: (facts: ServerFacts) => Served;
  readonly host: string;
  /** 0: a free port. */
  readonly port: number;
  readonly report: Logger;
  readonly callers: Callers;
  /** Addresses or networks of proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies?: readonly string[];
  /** Origins whose pages may call from a browser. */
  readonly corsOrigins?: readonly string[];
  readonly limits?: Partial<HttpLimits>;
  /** Routes of an embedding program, such as the demo. */
  readonly addedRoutes?: readonly AddedRoute[];
  /** Undefined: plain HTTP. */
  readonly certificate?: CertificateFiles | undefined;
  readonly onExchange?: ExchangeListener;
  /** Connects log lines with the request whose work writes them. */
  readonly runWithLines?: RunWithLines;
  /** Counts refusals by the limit that was reached. */
  readonly onLimitReached?: OnLimitReached;
}

export interface HttpLimits extends ConnectionLimits {
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly bodyBytes: number;
  /** Idle timeout of a connection, also while an answer waits for its client to read it. */
  readonly silenceMs: number;
  readonly healthCheckTimeoutMs: number;
  /** After the port is closed: how long requests in progress may take. */
  readonly finishMs: number;
  /** After a drain: how long connections without a request stay open. The last ones were only just accepted. */
  readonly lingerMs: number;
}

export const defaultHttpLimits: HttpLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  bodyBytes: 65_536,
  silenceMs: 120_000,
  healthCheckTimeoutMs: 2_000,
  finishMs: 4_000,
  lingerMs: 1_000,
  connectionsPerSource: tableOfLimits.connectionsPerSource,
  connections: tableOfLimits.connections,
};

export interface HttpServer {
  readonly url: string;
  readonly port: number;
  /**
   * From now on `/readyz` answers 503, so that load balancers choose other nodes, and every answer closes its
   * connection. Requests are still accepted.
   */
  drain(): void;
  /** Reads the certificate files again. */
  reloadCertificate(): void;
  /** Undefined without TLS. */
  readonly certificate: (() => CertificateStatus) | undefined;
  /** Drains for `drainMs`, closes the port, finishes the requests in progress and closes all connections. */
  stop(options?: { readonly drainMs?: number }): Promise<void>;
}

export async function startHttp(parts: HttpParts): Promise<HttpServer> {
  const { report, callers, trustedProxies = [], corsOrigins = [], onLimitReached = () => undefined } = parts;
  const limits = { ...defaultHttpLimits, ...parts.limits };
  const certificate = parts.certificate && new Certificate(parts.certificate, report);
  const exchanges = new Exchanges(report, {
    onExchange: parts.onExchange,
    runWithLines: parts.runWithLines,
    isTls: certificate !== undefined,
    trustedProxies,
  });
  const headers = { ...transportHeaders(certificate !== undefined), ...corsHeaders(corsOrigins) };
  const { healthCheckTimeoutMs } = limits;
  const { routes, fastPath } = parts.serve({ exchanges, healthCheckTimeoutMs, corsOrigins, headers });
  const app = appOn({ exchanges, onLimitReached, trustedProxies, tls: certificate?.load(), fastPath, ...limits });
  allowOrigins(app, routes, corsOrigins);
  addRoutes(app, [...routes, ...(parts.addedRoutes ?? [])], callers, exchanges);
  const sockets = socketsOf(app.server);
  const listening = await Listening.start(app, parts);
  const setCertificate = (context: SecureContextOptions) =>
    (app.server as unknown as TlsServer).setSecureContext(context);
  certificate?.watch(setCertificate);

  const { port } = app.server.address() as AddressInfo;
  let stopped: Promise<void> | undefined;
  return {
    url: `${certificate ? "https" : "http"}://${parts.host.includes(":") ? `[${parts.host}]` : parts.host}:${port}`,
    port,
    drain: () => exchanges.drain(),
    reloadCertificate: () => certificate?.reload(setCertificate),
    certificate: certificate && (() => certificate.status),
    stop({ drainMs = 0 } = {}) {
      certificate?.stop();
      const running = { app, listening, sockets, exchanges };
      stopped ??= stop(running, { ...limits, drainMs }).finally(() => exchanges.endLog());
      return stopped;
    },
  };
}

interface RunningServer {
  readonly app: FastifyInstance;
  readonly listening: Listening;
  readonly sockets: ReadonlySet<Socket>;
  readonly exchanges: Exchanges;
}

/**
 * A proxy may send a request at the moment at which its connection is closed, and must not retry a POST on another node.
 * So during the drain a connection is closed only by an answer with `Connection: close`. Connections that are open after
 * the drain were idle, or were accepted at its end; the latter get `lingerMs` for their first request.
 */
async function stop(
  { app, listening, sockets, exchanges }: RunningServer,
  { drainMs, lingerMs, finishMs }: HttpLimits & { readonly drainMs: number },
): Promise<void> {
  exchanges.drain();
  if (drainMs > 0) await pause(drainMs);
  await idleTurn();
  const closed = listening.stop();
  exchanges.endStreams();
  if (drainMs > 0) await pause(lingerMs);
  await idleTurn();
  app.server.closeIdleConnections();
  const timeUp = new AbortController();
  await Promise.race([
    exchanges.finished(),
    pause(finishMs, undefined, { signal: timeUp.signal }).catch(() => undefined),
  ]);
  timeUp.abort();
  app.server.closeAllConnections();
  for (const socket of sockets) socket.destroy();
  await closed;
  await app.close();
}

/** The open connections of a server, also those whose TLS handshake isn't done. */
function socketsOf(server: NetServer): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  return sockets;
}

/** In a turn of the event loop that takes longer, the server may have accepted connections or read requests. */
const idleTurnMs = 0.5;

/**
 * Resolves after a turn of the event loop that had nothing to do, or after 200 turns. Until then the kernel may hold
 * connections that were not accepted and requests that were not read; closing would lose them.
 */
async function idleTurn(): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const sinceMs = performance.now();
    await new Promise((resolve) => setImmediate(resolve));
    if (performance.now() - sinceMs < idleTurnMs) return;
  }
}
