import { METHODS } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Principal } from "../identity/principal.ts";
import type { Answer } from "./answer.ts";
import { type Authenticate, callerBySecToken } from "./caller.ts";
import type { ErrorShape } from "./error-response.ts";
import { type Incoming, readIncoming } from "./incoming.ts";
import { refusals } from "./refusal.ts";

/**
 * Who may use a route. `operation`: each platform operation has its own rule (platform/operations.ts). The caller of a
 * `secToken` route is found before its handler runs, so no handler can forget to.
 */
export const accessRules = ["public", "secToken", "operation"] as const;
export type Access = (typeof accessRules)[number];
export type Method = "GET" | "HEAD" | "POST" | "PUT" | "DELETE";

interface RouteAddress {
  readonly methods: readonly Method[];
  readonly path: string;
  readonly errors: ErrorShape;
}

export type Route = RouteAddress &
  (
    | { readonly access: "public" | "operation"; answer(incoming: Incoming): Promise<Answer> }
    | { readonly access: "secToken"; answer(incoming: Incoming, caller: Principal): Promise<Answer> }
  );

declare module "fastify" {
  interface FastifyContextConfig {
    access?: Access;
    errors?: ErrorShape;
  }
}

/** Puts the routes into the server, and beside each path a refusal of the methods that it doesn't take. */
export function addRoutes(app: FastifyInstance, routes: readonly Route[], authenticate: Authenticate): void {
  app.addHook("onRoute", ({ method, url, config }) => {
    if (config?.access === undefined || !accessRules.includes(config.access)) {
      throw new Error(`The route ${method} ${url} has no access rule.`);
    }
  });
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);

  for (const route of routes) {
    app.route({
      method: [...route.methods],
      url: route.path,
      config: { access: route.access, errors: route.errors },
      handler: async (request, reply) => sendAnswer(reply, await answerOf(route, request, authenticate)),
    });
  }
  for (const path of new Set(routes.map((route) => route.path))) {
    const allowed = routes.filter((route) => route.path === path).flatMap((route) => route.methods);
    const refuse = async () => {
      throw refusals.wrongMethod(allowed);
    };
    app.route({
      method: app.supportedMethods.filter((method) => !allowed.some((taken) => taken === method)),
      url: path,
      config: { access: "public", errors: "standard" },
      // Before the body is looked at: a wrong method is the first thing to tell.
      onRequest: refuse,
      handler: refuse,
    });
  }
}

export function sendAnswer(reply: FastifyReply, { status, headers, body }: Answer): FastifyReply {
  return reply
    .code(status)
    .headers({ ...headers })
    .send(body);
}

async function answerOf(route: Route, request: FastifyRequest, authenticate: Authenticate): Promise<Answer> {
  const incoming = readIncoming(request);
  if (route.access !== "secToken") return route.answer(incoming);
  return route.answer(incoming, await callerBySecToken(incoming, authenticate));
}
