import type { IncomingMessage } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { CallingPrincipal, UserPrincipal } from "../identity/principal.ts";
import { sourceOf } from "../identity/source.ts";
import { EnterpriseOnly } from "../model/errors.ts";
import { requireScopes } from "../model/scope-errors.ts";
import type { Scope } from "../model/scopes.ts";
import type { Client } from "../oauth/clients.ts";
import { oneAtATime } from "../runtime/fair-queue.ts";
import type { Answer, SlicedAnswer, StreamAnswer } from "./answer/answer.ts";
import type { ErrorShape } from "./answer/error-shape.ts";
import type { CallerIds } from "./answer/failure.ts";
import { hasTurn } from "./answer/open-stream.ts";
import { refusals } from "./answer/refusal.ts";
import { openStream, sendAnswer, sendSlices } from "./answer/sending.ts";
import type { Description, OperationDescription } from "./documentation/description.ts";
import type { Exchange } from "./exchange.ts";
import type { Exchanges } from "./open-exchanges.ts";
import { type OperatorRoute, operatorAnswer } from "./operator-route.ts";
import { bodyTypesOf, formBody, jsonBody, type MediaType } from "./request/body-types.ts";
import {
  type Callers,
  callerByBearer,
  callerByEitherToken,
  callerBySecToken,
  refuseMisplacedToken,
} from "./request/caller.ts";
import { callingClient } from "./request/client-authentication.ts";
import { type Incoming, readIncoming } from "./request/incoming.ts";
import { announcedBytes, LargeBodies } from "./request/large-bodies.ts";
import { refuseMistyped } from "./request/mistyped-parameters.ts";
import { routerPath } from "./router-path.ts";

/**
 * The access rule of a route. `public`: anybody; a handler may ask for credentials itself, as the login page does.
 * `secToken`: a platform user with a security token. `bearer`: a client with an access token. `secTokenOrBearer`: either
 * of them. `client`: an OAuth client with its secret. `operator`: an operator whose role allows what the route needs. For
 * these five, the caller is authenticated before the handler runs, so no handler can forget it. `operation`: each platform operation has its own rule
 * (outlets/platform/operations.ts), and outlets/platform/calls.ts authenticates the caller.
 */
export const accessRules = [
  "public",
  "secToken",
  "bearer",
  "secTokenOrBearer",
  "client",
  "operator",
  "operation",
] as const;
export type RouteAccess = (typeof accessRules)[number];
export type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";

interface RouteAddress {
  readonly methods: readonly Method[];
  readonly path: string;
  readonly errors: ErrorShape;
  /** Maximal size of the body; the server's limit when left out. */
  readonly bodyBytes?: number;
  /** The route takes the header `Idempotency-Key` (outlets/v3/idempotent-routes.ts). */
  readonly takesIdempotencyKey?: true;
  /** The answer goes on until the client or the server ends it. */
  readonly isStream?: true;
  /**
   * Requests count for the quota of requests, and are never refused because of it: one of them may report an alarm, or
   * wait for one.
   */
  readonly mayCarryAlarms?: true;
  /** Only another cloud calls it. Pages of other origins may not. */
  readonly isForClouds?: true;
}

/**
 * Scopes that an access token needs, all of them. The type enforces that each route which takes access tokens names at
 * least one.
 */
export type NeededScopes = readonly [Scope, ...Scope[]];

export type Route = RouteAddress &
  (
    | (WithDescription & { readonly access: "public"; answer(incoming: Incoming): Promise<Answer | SlicedAnswer> })
    | (WithDescription & {
        readonly access: "secToken";
        answer(incoming: Incoming, caller: UserPrincipal): Promise<Answer>;
      })
    | (WithDescription & {
        readonly access: "bearer";
        readonly scopes: NeededScopes;
        /** Tokens of users are refused. */
        readonly isForEnterprises?: true;
        answer(incoming: Incoming, caller: CallingPrincipal): Promise<Answer | SlicedAnswer | StreamAnswer>;
      })
    | (WithDescription & {
        readonly access: "secTokenOrBearer";
        readonly scopes: NeededScopes;
        answer(incoming: Incoming, caller: CallingPrincipal): Promise<Answer>;
      })
    | (WithDescription & { readonly access: "client"; answer(incoming: Incoming, client: Client): Promise<Answer> })
    | OperatorRoute
    | {
        readonly access: "operation";
        readonly descriptions: readonly OperationDescription[];
        answer(incoming: Incoming): Promise<Answer | SlicedAnswer>;
      }
  );

/**
 * A route that an embedding program adds, such as the demo's page. It is not part of the interface, so the
 * documentation does not list it.
 */
export type AddedRoute = RouteAddress & {
  readonly access: "public";
  answer(incoming: Incoming): Promise<Answer | StreamAnswer>;
};

/** Text for `/openapi.json` and `/docs`. It is required by type, so that no route of the interface is undocumented. */
interface WithDescription {
  readonly description: Description;
}

declare module "fastify" {
  interface FastifyContextConfig {
    access?: RouteAccess;
    errors?: ErrorShape;
  }
}

/** Adds the routes to the server, and the refusal of wrong methods. */
export function addRoutes(
  app: FastifyInstance,
  routes: readonly (Route | AddedRoute)[],
  callers: Callers,
  exchanges: Pick<Exchanges, "registerStream" | "of" | "work">,
): void {
  // Of all sliced answers together one slice is made in each turn of the event loop; callers take turns.
  const slices = oneAtATime();
  const defaultBytes = app.initialConfig.bodyLimit!;
  const largeBodies = new LargeBodies();
  const verified = new WeakMap<IncomingMessage, CallingPrincipal>();
  app.addHook("onRoute", ({ method, url, config }) => {
    if (config?.access === undefined || !accessRules.includes(config.access)) {
      throw new Error(`The route ${method} ${url} has no access rule.`);
    }
  });

  // Without a caller, and before the body is parsed: a wrong method is reported rather than a malformed body.
  app.addHook("onRequest", async (request) => {
    const known = app.knownPaths.ofUnrouted(request);
    if (known) throw refusals.wrongMethod(known.allowed);
  });
  for (const route of routes) {
    const bodyTypes = bodyTypesFor(route);
    const { bodyBytes = defaultBytes } = route;
    app.route({
      method: [...methodsOf(route)],
      url: routerPath(route.path),
      config: { access: route.access, errors: route.errors },
      bodyLimit: bodyBytes,
      ...(route.access === "bearer" &&
        bodyBytes > defaultBytes && {
          // A large body is read only for a verified caller. Fastify refuses one above the route's limit unread.
          onRequest: async (request: FastifyRequest, reply: FastifyReply) => {
            const bytes = announcedBytes(request.raw, bodyBytes);
            if (bytes <= defaultBytes || bytes > bodyBytes) return;
            const incoming = readIncoming(request, bodyTypes);
            const exchange = exchanges.of(request.raw);
            const caller = await exchanges.work(exchange, () => bearerCaller(route, incoming, callers, exchange));
            largeBodies.reserve(caller.tenantId, bytes, request.raw, reply.raw);
            verified.set(request.raw, caller);
          },
        }),
      handler: async (request, reply) => {
        if (route.isStream && !(await hasTurn(request.raw, reply.raw))) return reply.hijack();
        const exchange = exchanges.of(request.raw);
        const incoming = readIncoming(request, bodyTypes);
        const caller = verified.get(request.raw);
        const answer = await exchanges.work(exchange, () => answerOf(route, incoming, callers, exchange, caller));
        if ("stream" in answer && !route.isStream) throw new Error(`${route.path} is not marked as a stream.`);
        if (exchange && "about" in answer) Object.assign(exchange, answer.about);
        if ("slices" in answer) {
          const key = callerKey(exchange?.caller, incoming.source);
          const ofExchange = { exchange, work: <Result>(act: () => Result) => exchanges.work(exchange, act) };
          return sendSlices(reply, answer, () => slices.run(key, () => nextTurn()), ofExchange);
        }
        return "stream" in answer ? openStream(request, reply, answer, exchanges) : sendAnswer(reply, answer);
      },
    });
  }
  for (const [path, those] of Map.groupBy(routes, (route) => route.path)) {
    app.knownPaths.add(path, those.flatMap(methodsOf));
  }
}

/**
 * The methods of a route, with HEAD wherever there is a GET: Fastify sends the same headers without the body. Not for
 * streams, whose answer never ends, and not for platform operations, which also change state by GET.
 */
function methodsOf({ methods, access, isStream }: Route | AddedRoute): readonly Method[] {
  const takesHead = methods.includes("GET") && !methods.includes("HEAD") && !isStream && access !== "operation";
  return takesHead ? methods.flatMap((method) => (method === "GET" ? (["GET", "HEAD"] as const) : [method])) : methods;
}

function bodyTypesFor(route: Route | AddedRoute): readonly MediaType[] {
  if (route.access === "operation") return [formBody];
  return "description" in route ? bodyTypesOf(route.description) : [formBody, jsonBody];
}

async function answerOf(
  route: Route | AddedRoute,
  incoming: Incoming,
  callers: Callers,
  exchange: Exchange | undefined,
  verified: CallingPrincipal | undefined,
): Promise<Answer | SlicedAnswer | StreamAnswer> {
  const setCaller = (ids: CallerIds) => {
    if (exchange) exchange.caller = ids;
  };
  const admit = (caller: UserPrincipal | CallingPrincipal) => admitCaller(route, caller, callers, exchange);
  switch (route.access) {
    case "secToken": {
      const caller = await callerBySecToken(incoming, callers);
      admit(caller);
      return route.answer(incoming, caller);
    }
    case "bearer": {
      // Before the body was read, only the query could be checked.
      if (verified) refuseMisplacedToken(incoming);
      const caller = verified ?? (await bearerCaller(route, incoming, callers, exchange));
      // A read would look as if a mistyped parameter had been obeyed.
      if (route.methods.includes("GET")) refuseMistyped(incoming.query, route.description);
      return route.answer(incoming, caller);
    }
    case "secTokenOrBearer": {
      const caller = await callerByEitherToken(incoming, callers);
      admit(caller);
      requireScopes(caller, route.scopes);
      return route.answer(incoming, caller);
    }
    case "client": {
      const client = await callingClient(incoming, callers);
      setCaller({ tenantId: client.tenantId, clientId: client.id });
      return route.answer(incoming, client);
    }
    case "operator":
      return operatorAnswer(route, incoming, callers, setCaller);
    default:
      return route.answer(incoming);
  }
}

async function bearerCaller(
  route: Extract<Route, { access: "bearer" }>,
  incoming: Incoming,
  callers: Callers,
  exchange: Exchange | undefined,
): Promise<CallingPrincipal> {
  const caller = await callerByBearer(incoming, callers);
  admitCaller(route, caller, callers, exchange);
  requireScopes(caller, route.scopes);
  if (route.isForEnterprises && caller.kind !== "enterprise") throw new EnterpriseOnly();
  return caller;
}

function admitCaller(
  { mayCarryAlarms }: RouteAddress,
  caller: UserPrincipal | CallingPrincipal,
  callers: Callers,
  exchange: Exchange | undefined,
): void {
  if (exchange) exchange.caller = caller;
  callers.admit?.(caller, mayCarryAlarms !== true);
}

/** The key under which the slices of a caller wait: its client or user, or the source of a request without credentials. */
function callerKey(caller: CallerIds | undefined, address: string): string {
  if (!caller) return sourceOf(address);
  const { tenantId, clientId, userId, operatorId } = caller;
  return JSON.stringify([tenantId, clientId ?? userId ?? null, operatorId]);
}
