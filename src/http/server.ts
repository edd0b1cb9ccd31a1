import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import type { Report } from "../model/surroundings.ts";
import { appOn } from "./app.ts";
import type { Callers } from "./caller.ts";
import { letOriginsIn } from "./cors.ts";
import { Exchanges } from "./exchange.ts";
import { type RouteParts, routeTable } from "./route-table.ts";
import { addRoutes, type GuestRoute } from "./routes.ts";

export interface HttpParts extends RouteParts {
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
}

export interface HttpLimits {
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly bodyBytes: number;
  readonly checkTimeoutMs: number;
  /** How long requests that are under way may take when the server stops. */
  readonly drainMs: number;
}

export const defaultHttpLimits: HttpLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  bodyBytes: 65_536,
  checkTimeoutMs: 2_000,
  drainMs: 4_000,
};

export interface HttpServer {
  readonly url: string;
  readonly port: number;
  /** From now on `/readyz` answers 503, so that a load balancer looks elsewhere; all else goes on. */
  drain(): void;
  /** Accepts nothing new, lets what is under way finish, then closes. */
  stop(): Promise<void>;
}

export async function startHttp(parts: HttpParts): Promise<HttpServer> {
  const { report, trustedProxies = [] } = parts;
  const limits = { ...defaultHttpLimits, ...parts.limits };
  const exchanges = new Exchanges(report);
  let isDraining = false;
  const app = appOn({ report, exchanges, trustedProxies, ...limits });
  const health = { isDraining: () => isDraining, checkTimeoutMs: limits.checkTimeoutMs };
  const routes = routeTable(parts, health);
  letOriginsIn(app, routes, parts.corsOrigins ?? []);
  addRoutes(app, [...routes, ...(parts.guests ?? [])], parts.callers, exchanges);
  await listen(app, parts);

  const { port } = app.server.address() as AddressInfo;
  let stopped: Promise<void> | undefined;
  return {
    url: `http://${parts.host.includes(":") ? `[${parts.host}]` : parts.host}:${port}`,
    port,
    drain() {
      isDraining = true;
    },
    stop() {
      isDraining = true;
      stopped ??= stop(app, exchanges, limits.drainMs);
      return stopped;
    },
  };
}

async function listen(app: FastifyInstance, { host, port }: HttpParts): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    if (error instanceof Error && "code" in error && error.code === "EADDRINUSE")
      throw new PortTaken(host, port, error);
    throw error;
  }
}

export class PortTaken extends Error {
  readonly code = "EADDRINUSE";
  constructor(host: string, port: number, cause: Error) {
    super(`Port ${port} on ${host} is taken. Stop what uses it, or choose another with BREEZEWAY_PORT.`, { cause });
    this.name = "PortTaken";
  }
}

async function stop(app: FastifyInstance, exchanges: Exchanges, drainMs: number): Promise<void> {
  exchanges.endConnections();
  const closed = new Promise<void>((resolve) => app.server.close(() => resolve()));
  app.server.closeIdleConnections();
  const { promise: tooLong, resolve: giveUp } = Promise.withResolvers<void>();
  const timer = setTimeout(giveUp, drainMs);
  await Promise.race([exchanges.finished(), tooLong]);
  clearTimeout(timer);
  app.server.closeAllConnections();
  await closed;
  await app.close();
}
