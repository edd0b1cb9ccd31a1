import type { FastifyInstance } from "fastify";
import type { Route } from "../routes.ts";

/** Request headers that pages may send; tokens are sent in `Authorization`. */
const requestHeaders = "authorization, content-type, idempotency-key, last-event-id";
/** Answer headers that pages may read. */
const answerHeaders = "www-authenticate, retry-after, x-request-id, idempotency-replayed, link";
/** How long browsers may cache a preflight. An origin that is removed from the list is still refused at once. */
const preflightSeconds = 7_200;

/** Headers for all answers to calls that pages may make: the answers differ by origin. */
export function corsHeaders(origins: readonly string[]): Readonly<Record<string, string>> {
  return origins.length === 0 ? {} : { vary: "Origin" };
}

/**
 * Allows pages of these origins to call routes that need a token or a secret: /v3, the adaptor, the platform calls and
 * the two endpoints of OAuth clients. Routes for other clouds, for operators and public routes, above all the pages for
 * people, are never allowed, and cookies neither: none of the allowed routes uses cookies. Without origins nothing changes.
 */
export function allowOrigins(app: FastifyInstance, routes: readonly Route[], origins: readonly string[]): void {
  if (origins.length === 0) return;
  const methods = new Map<string, string[]>();
  for (const route of routes) {
    if (route.access === "public" || route.access === "operator" || route.isForClouds) continue;
    methods.set(route.path, [...(methods.get(route.path) ?? []), ...route.methods]);
  }
  app.addHook("onRequest", async (request, reply) => {
    const allowedMethods = methods.get(app.knownPaths.pathOf(request) ?? "");
    if (!allowedMethods) return;
    // Set on the raw response, so that streams and errors have them too.
    const { raw: response } = reply;
    for (const [name, value] of Object.entries(corsHeaders(origins))) response.setHeader(name, value);
    const { origin } = request.headers;
    if (origin === undefined || !origins.includes(origin)) return;
    response.setHeader("access-control-allow-origin", origin);
    response.setHeader("access-control-expose-headers", answerHeaders);
    const isPreflight = request.method === "OPTIONS" && request.headers["access-control-request-method"] !== undefined;
    if (!isPreflight) return;
    response.setHeader("access-control-allow-methods", allowedMethods.join(", "));
    response.setHeader("access-control-allow-headers", requestHeaders);
    response.setHeader("access-control-max-age", String(preflightSeconds));
    return reply.code(204).send();
  });
}
