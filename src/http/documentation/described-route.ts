import type { Scope } from "../../model/scopes.ts";
import type { ErrorShape } from "../answer/error-shape.ts";
import type { Access, Method, Route } from "../routes.ts";
import { accessOf } from "./access-descriptions.ts";
import type { ContentType, Description, ErrorDescription, Parameter } from "./description.ts";
import { withKey } from "./idempotency-key-parameter.ts";

/** A route as it is told: its address and rule come from the route table, its words from its description. */
export interface Described {
  readonly methods: readonly Method[];
  /** With `{name}` for what varies. */
  readonly path: string;
  readonly access: Exclude<Access, "operation">;
  /** What an access token needs; empty where none is taken. */
  readonly scopes: readonly Scope[];
  readonly errors: ErrorShape;
  readonly description: Description;
}

/** Every route in the order of the table; the one that all platform operations share is told once for each of them. */
export function describedRoutes(routes: readonly Route[]): readonly Described[] {
  return routes.flatMap((route): readonly Described[] => {
    const { methods, errors } = route;
    if (route.access !== "operation") {
      const { access, takesKey } = route;
      const description = takesKey ? withKey(route.description) : route.description;
      const scopes = "scopes" in route ? route.scopes : [];
      return [{ methods, path: withBraces(route.path), access, scopes, errors, description }];
    }
    return route.descriptions.map((description) => ({
      methods,
      path: route.path.replace(":operation", description.operation),
      access: description.access,
      scopes: [],
      errors,
      description,
    }));
  });
}

export function takesBody(method: Method): boolean {
  return method === "POST" || method === "PUT";
}

/** What may stand in the body, credentials included. */
export function bodyParameters(described: Described): readonly Parameter[] {
  const { credentials } = accessOf(described);
  const parameters = described.description.parameters ?? [];
  return [...credentials, ...parameters].filter(
    ({ in: place }) => place !== "path" && place !== "header" && place !== "query",
  );
}

/** How such a body may be written. */
export function contentTypesOf(parameters: readonly Parameter[]): readonly ContentType[] {
  const isOnlyForm = parameters.some(({ in: place }) => place === "form" || place === "queryOrForm");
  return isOnlyForm ? ["application/x-www-form-urlencoded"] : ["application/x-www-form-urlencoded", "application/json"];
}

/** All that this route refuses, beyond what any path may: by its rule first, then by its own word. */
export function errorsOf(described: Described): readonly ErrorDescription[] {
  return [...accessOf(described).errors, ...(described.description.errors ?? [])];
}

function withBraces(path: string): string {
  return path.replace(/:(\w+)/g, "{$1}");
}
