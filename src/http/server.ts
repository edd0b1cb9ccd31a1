import type { AddressInfo, Server as NetServer, Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { SecureContextOptions, Server as TlsServer } from "node:tls";
import type { FastifyInstance } from "fastify";
import { type ReachLimit, limits as tableOfLimits } from "../model/limits.ts";
import type { Report } from "../runtime/runtime.ts";
import { allowOrigins, corsHeaders } from "./answer/cors.ts";
import { appOn, type Lane } from "./app.ts";
import { Certificate, type CertificateFiles, type CertificateStatus } from "./connection/certificate.ts";
import type { ConnectionLimits } from "./connection/connection-limits.ts";
import { Listening } from "./connection/listening.ts";
import { Exchanges, type Hear, transportHeaders } from "./open-exchanges.ts";
import type { Callers } from "./request/caller.ts";
import { addRoutes, type GuestRoute, type Route } from "./routes.ts";

/** What routes may ask the server about itself. */
export interface ServerFacts {
  readonly exchanges: Exchanges;
  readonly checkTimeoutMs: number;
  readonly corsOrigins: readonly string[];
  /** The headers that every answer carries. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface Served {
  readonly routes: readonly Route[];
  /** Answers the most frequent requests in front of Fastify. */
  readonly lane?: Lane;
}

export interface HttpParts {
  /** What the server answers; called once, before it listens. */
  readonly serve: (facts: ServerFacts) => Served;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly report: Report;
  readonly callers: Callers;
  /** Addresses or networks whose `X-Forwarded-For` is believed; nobody's by default. */
  readonly trustedProxies?: readonly string[];
  /** Whose pages may call from a browser; nobody's by default. */
  readonly corsOrigins?: readonly string[];
  readonly limits?: Partial<HttpLimits>;
  /** What the program around the service adds to its own routes. */
  readonly guests?: readonly GuestRoute[];
  /** Without them it speaks plain HTTP. */
  readonly certificate?: CertificateFiles | undefined;
  readonly heard?: Hear;
  /** Counts refusals by the limit that was reached. */
  readonly reached?: ReachLimit;
}

export interface HttpLimits extends ConnectionLimits {
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly bodyBytes: number;
  /** A connection on which no byte moves for so long is closed, such as one whose client doesn't take its answer. */
  readonly silenceMs: number;
  readonly checkTimeoutMs: number;
  /** How long requests that are under way may take when nothing new is accepted any more. */
  readonly finishMs: number;
  /** How long after a drain a connection may stay on which nothing is asked: some were accepted in the last moment. */
  readonly lingerMs: number;
}

export const defaultHttpLimits: HttpLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  bodyBytes: 65_536,
  silenceMs: 120_000,
  checkTimeoutMs: 2_000,
  finishMs: 4_000,
  lingerMs: 1_000,
  connectionsPerSource: tableOfLimits.connectionsPerSource,
  connections: tableOfLimits.connections,
};

export interface HttpServer {
  readonly url: string;
  readonly port: number;
  /**
   * From now on `/readyz` answers 503, so that a load balancer looks elsewhere, and every answer asks for another
   * connection next time; all else goes on.
   */
  drain(): void;
  /** Shows what is in the certificate's files now. */
  reloadCertificate(): void;
  /** Undefined without TLS. */
  readonly certificate: (() => CertificateStatus) | undefined;
  /** Drains for so long, then accepts nothing new, lets what is under way finish, and closes. */
  stop(options?: { readonly drainMs?: number }): Promise<void>;
}

export async function startHttp(parts: HttpParts): Promise<HttpServer> {
  const { report, callers, trustedProxies = [], corsOrigins = [], reached = () => undefined } = parts;
  const limits = { ...defaultHttpLimits, ...parts.limits };
  const certificate = parts.certificate && new Certificate(parts.certificate, report);
  const exchanges = new Exchanges(report, { heard: parts.heard, isTls: certificate !== undefined, trustedProxies });
  const headers = { ...transportHeaders(certificate !== undefined), ...corsHeaders(corsOrigins) };
  const { checkTimeoutMs } = limits;
  const { routes, lane } = parts.serve({ exchanges, checkTimeoutMs, corsOrigins, headers });
  const app = appOn({ exchanges, reached, trustedProxies, tls: certificate?.load(), lane, ...limits });
  allowOrigins(app, routes, corsOrigins);
  addRoutes(app, [...routes, ...(parts.guests ?? [])], callers, exchanges);
  const sockets = socketsOf(app.server);
  const listening = await Listening.start(app, parts);
  const use = (context: SecureContextOptions) => (app.server as unknown as TlsServer).setSecureContext(context);
  certificate?.watch(use);

  const { port } = app.server.address() as AddressInfo;
  let stopped: Promise<void> | undefined;
  return {
    url: `${certificate ? "https" : "http"}://${parts.host.includes(":") ? `[${parts.host}]` : parts.host}:${port}`,
    port,
    drain: () => exchanges.drain(),
    reloadCertificate: () => certificate?.reload(use),
    certificate: certificate && (() => certificate.status),
    stop({ drainMs = 0 } = {}) {
      certificate?.stop();
      const running = { app, listening, sockets, exchanges };
      stopped ??= stop(running, { ...limits, drainMs }).finally(() => exchanges.endLog());
      return stopped;
    },
  };
}

interface Stopped {
  readonly app: FastifyInstance;
  readonly listening: Listening;
  readonly sockets: ReadonlySet<Socket>;
  readonly exchanges: Exchanges;
}

/**
 * A proxy may send a request in the moment in which its connection is closed, and must not send it again elsewhere by
 * itself if it is a POST. So nothing is closed while somebody could still be sending: in the drain, connections end with
 * an answer that says so. What is open after it was quiet all the time, or was accepted in its last moment: that one is
 * waited for.
 */
async function stop(
  { app, listening, sockets, exchanges }: Stopped,
  { drainMs, lingerMs, finishMs }: HttpLimits & { readonly drainMs: number },
): Promise<void> {
  exchanges.drain();
  if (drainMs > 0) await pause(drainMs);
  await quietMoment();
  const closed = listening.stop();
  exchanges.endStreams();
  if (drainMs > 0) await pause(lingerMs);
  await quietMoment();
  app.server.closeIdleConnections();
  const timeUp = new AbortController();
  await Promise.race([
    exchanges.finished(),
    pause(finishMs, undefined, { signal: timeUp.signal }).catch(() => undefined),
  ]);
  timeUp.abort();
  app.server.closeAllConnections();
  // Node's list lacks connections whose TLS handshake isn't done.
  for (const socket of sockets) socket.destroy();
  await closed;
  await app.close();
}

/** The open connections of a server, from the moment in which they are accepted. */
function socketsOf(server: NetServer): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  return sockets;
}

/**
 * Resolves just after everything that has arrived was looked at: connections that nobody has accepted, and requests that
 * nobody has read, are lost when they are closed.
 */
async function quietMoment(): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const sinceMs = performance.now();
    await new Promise((resolve) => setImmediate(resolve));
    if (performance.now() - sinceMs < 0.5) return;
  }
}
