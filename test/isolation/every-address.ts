import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { type ErrorShape, shapeBelow } from "../../src/http/answer/error-shape.ts";
import { pathOfRoute } from "../../src/http/router-path.ts";
import type { Method, RouteAccess } from "../../src/http/routes.ts";
import { operations } from "../../src/outlets/platform/operations.ts";
import { madeTable } from "../http/made-table.ts";

const routes = madeTable();

/**
 * One method of one path, with its access rule; each platform operation is a path of its own. A path that takes two
 * kinds of tokens appears once for each.
 */
export interface Address {
  readonly rule: Exclude<RouteAccess, "operation" | "secTokenOrBearer" | "operator">;
  readonly method: Method;
  readonly path: string;
  readonly errors: ErrorShape;
}

/** Every address of the service, from its own route table, but those of operators: test/operators tries them. */
export function everyAddress(): readonly Address[] {
  return routes
    .filter(({ path }) => !/^\/(console|admin)(\/|$)/.test(path))
    .flatMap((route) =>
      route.methods.flatMap((method): readonly Address[] => {
        const { access, path, errors } = route;
        if (access === "operator") return [];
        if (access === "secTokenOrBearer") {
          return (["secToken", "bearer"] as const).map((rule) => ({ rule, method, path, errors }));
        }
        if (access !== "operation") return [{ rule: access, method, path, errors }];
        return [...operations].map(([name, { access: rule }]) => {
          return { rule, method, path: path.replace(":operation", name), errors };
        });
      }),
    );
}

/** The paths of the table, each with its methods. */
export function everyPath(): ReadonlyMap<string, readonly string[]> {
  const paths = new Map<string, readonly string[]>();
  for (const { path, methods } of routes) paths.set(path, [...(paths.get(path) ?? []), ...methods]);
  return paths;
}

/** The error format of a path, and whether it has a route. */
export function errorsAt(method: string, path: string): { readonly errors: ErrorShape; readonly isRoute: boolean } {
  const route = routes.find(({ path: pattern, methods }) => {
    const isPath = new RegExp(`^${pattern.replaceAll(".", "\\.").replace(/(?<=\/):\w+/g, "[^/]*")}$`).test(path);
    return isPath && methods.some((one) => one === method);
  });
  return { errors: route?.errors ?? shapeBelow(path), isRoute: route !== undefined };
}

export function titleOf({ method, path }: Pick<Address, "method" | "path">): string {
  return `${method} ${path}`;
}

/** Starts a service and returns what it registered with its HTTP framework, independent of its route table. */
export async function registeredWhile(start: () => Promise<void>): Promise<readonly string[]> {
  const registered: string[] = [];
  const listen = (message: unknown) => {
    const { fastify } = message as { fastify: { addHook(name: "onRoute", hook: (route: Registered) => void): void } };
    fastify.addHook("onRoute", ({ method, url }) => {
      registered.push(...[method].flat().map((one) => `${one} ${pathOfRoute(url)}`));
    });
  };
  subscribe("fastify.initialization", listen);
  try {
    await start();
  } finally {
    unsubscribe("fastify.initialization", listen);
  }
  return registered;
}

interface Registered {
  readonly method: string | readonly string[];
  readonly url: string;
}
