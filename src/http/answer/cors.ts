import type { FastifyInstance } from "fastify";
import type { Route } from "../routes.ts";

/** What a page may send beyond what any page may; tokens travel in `Authorization`. */
const requestHeaders = "authorization, content-type, idempotency-key, last-event-id";
/** What a page may read of an answer's head. */
const answerHeaders = "www-authenticate, retry-after, x-request-id, idempotency-replayed";
/** As long as browsers keep it. An origin that is taken off the list is refused at once all the same. */
const preflightSeconds = 7_200;

/** What answers to calls that pages may make have for everybody: they are others for each origin. */
export function corsHeaders(origins: readonly string[]): Readonly<Record<string, string>> {
  return origins.length === 0 ? {} : { vary: "Origin" };
}

/**
 * Lets pages of these origins call what takes a token or a secret: /v3, the adaptor, the platform calls and the two
 * endpoints of OAuth clients. Never what is open to everybody, the pages for people above all, and never with cookies:
 * nothing that is let in here knows any. Without origins nothing changes.
 */
export function letOriginsIn(app: FastifyInstance, routes: readonly Route[], origins: readonly string[]): void {
  if (origins.length === 0) return;
  const methods = new Map<string, string[]>();
  for (const route of routes) {
    if (route.access === "public") continue;
    methods.set(route.path, [...(methods.get(route.path) ?? []), ...route.methods]);
  }
  app.addHook("onRequest", async (request, reply) => {
    const taken = methods.get(request.routeOptions.url ?? "");
    if (!taken) return;
    // On the response itself: a stream and an error have them too.
    const { raw: response } = reply;
    for (const [name, value] of Object.entries(corsHeaders(origins))) response.setHeader(name, value);
    const { origin } = request.headers;
    if (origin === undefined || !origins.includes(origin)) return;
    response.setHeader("access-control-allow-origin", origin);
    response.setHeader("access-control-expose-headers", answerHeaders);
    const isPreflight = request.method === "OPTIONS" && request.headers["access-control-request-method"] !== undefined;
    if (!isPreflight) return;
    response.setHeader("access-control-allow-methods", taken.join(", "));
    response.setHeader("access-control-allow-headers", requestHeaders);
    response.setHeader("access-control-max-age", String(preflightSeconds));
    return reply.code(204).send();
  });
}
