import type { FastifyRequest } from "fastify";
import findMyWay from "find-my-way";
import { limits } from "../model/limits.ts";
import { pathOfRoute, routerPath } from "./router-path.ts";

/** A path of some route, whatever the method of the request. */
export interface KnownPath {
  readonly path: string;
  readonly allowed: readonly string[];
  readonly params: Readonly<Record<string, string | undefined>>;
}

declare module "fastify" {
  interface FastifyInstance {
    readonly knownPaths: KnownPaths;
  }
}

/**
 * Tells a wrong method from an unknown path. Fastify's router knows a path only with its own methods. Registering a
 * refusal there for each of Node's 34 other methods takes half the time in which the service starts.
 */
export class KnownPaths {
  readonly #added: Pick<KnownPath, "path" | "allowed">[] = [];
  #router: ReturnType<typeof findMyWay> | undefined;

  /** `allowed`: the methods that the path takes. All paths are added before the first request. */
  add(path: string, allowed: readonly string[]): void {
    this.#added.push({ path, allowed });
  }

  /** The path that a request for which Fastify has no route was sent to, if it is one of ours. */
  ofUnrouted({ raw, is404 }: FastifyRequest): KnownPath | undefined {
    const found = is404 ? this.#routerOfAll().find("GET", raw.url ?? "") : null;
    return found ? { ...(found.store as Pick<KnownPath, "path" | "allowed">), params: found.params } : undefined;
  }

  pathOf(request: FastifyRequest): string | undefined {
    return this.ofUnrouted(request)?.path ?? pathOfRoute(request.routeOptions.url);
  }

  /** Made for the first unrouted request: most services never get one. */
  #routerOfAll(): ReturnType<typeof findMyWay> {
    if (!this.#router) {
      this.#router = findMyWay({ maxParamLength: limits.requestHeadBytes });
      // The method is only a key here: every path is registered once.
      for (const known of this.#added) this.#router.on("GET", routerPath(known.path), () => undefined, known);
    }
    return this.#router;
  }
}
