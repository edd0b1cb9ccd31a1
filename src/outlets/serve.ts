import type { Callers } from "../http/request/caller.ts";
import { type HttpParts, type HttpServer, type Served, type ServerFacts, startHttp } from "../http/server.ts";
import { type RouteParts, routeTable } from "./route-table.ts";
import { DeviceAnswerCache } from "./v3/device-body.ts";
import { deviceFastPath } from "./v3/device-fast-path.ts";

export type OutletParts = RouteParts & Omit<HttpParts, "serve">;

/** Starts the HTTP server with all routes, and with the fast path for device reads in front of them. */
export function startOutlets(parts: OutletParts): Promise<HttpServer> {
  return startHttp({ ...parts, serve: (facts) => servedOn(parts, facts) });
}

function servedOn(parts: RouteParts & { readonly callers: Callers }, facts: ServerFacts): Served {
  const { exchanges, healthCheckTimeoutMs, corsOrigins, headers } = facts;
  const deviceAnswers = new DeviceAnswerCache(headers);
  return {
    routes: routeTable(parts, { isDraining: () => exchanges.isDraining, healthCheckTimeoutMs }, deviceAnswers),
    fastPath: deviceFastPath({ exchanges, callers: parts.callers, v3: parts.v3, deviceAnswers, corsOrigins }),
  };
}
