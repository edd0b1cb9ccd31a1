import type { Scope } from "../../model/scopes.ts";
import type { OperatorRule } from "../../operators/operator-rule.ts";
import type { ErrorShape } from "../answer/error-shape.ts";
import type { Method, Route, RouteAccess } from "../routes.ts";
import { accessOf } from "./access-descriptions.ts";
import type { ContentType, Description, ErrorDescription, Parameter } from "./description.ts";
import { withIdempotencyKey } from "./idempotency-key-parameter.ts";

/** A route as the documentation shows it: address and rule from the route table, texts from its description. */
export interface DescribedRoute {
  readonly methods: readonly Method[];
  /** With `{name}` for path parameters. */
  readonly path: string;
  readonly access: Exclude<RouteAccess, "operation">;
  /** Scopes that an access token needs; empty if the route takes no access token. */
  readonly scopes: readonly Scope[];
  readonly operatorRule?: OperatorRule | undefined;
  readonly errorShape: ErrorShape;
  readonly description: Description;
}

/** Every route in the order of the table. The one route of all platform operations appears once for each operation. */
export function describedRoutes(routes: readonly Route[]): readonly DescribedRoute[] {
  return routes.flatMap((route): readonly DescribedRoute[] => {
    const { methods, errors: errorShape } = route;
    if (route.access !== "operation") {
      const { access, takesIdempotencyKey } = route;
      const description = takesIdempotencyKey ? withIdempotencyKey(route.description) : route.description;
      const scopes = "scopes" in route ? route.scopes : [];
      const operatorRule = route.access === "operator" ? route : undefined;
      return [{ methods, path: withBraces(route.path), access, scopes, operatorRule, errorShape, description }];
    }
    return route.descriptions.map((description) => ({
      methods,
      path: route.path.replace(":operation", description.operation),
      access: description.access,
      scopes: [],
      errorShape,
      description,
    }));
  });
}

export function takesBody(method: Method): boolean {
  return method === "POST" || method === "PUT" || method === "PATCH";
}

/** Parameters that may be sent in the body, credentials included. */
export function bodyParameters(described: DescribedRoute): readonly Parameter[] {
  const { credentials } = accessOf(described);
  const parameters = described.description.parameters ?? [];
  return [...credentials, ...parameters].filter(
    ({ in: location }) => location !== "path" && location !== "header" && location !== "query",
  );
}

/** The content types in which these parameters may be sent. */
export function contentTypesOf(parameters: readonly Parameter[]): readonly ContentType[] {
  const isOnlyForm = parameters.some(({ in: location }) => location === "form" || location === "queryOrForm");
  return isOnlyForm ? ["application/x-www-form-urlencoded"] : ["application/x-www-form-urlencoded", "application/json"];
}

/** All errors of this route beyond the common ones: those of its access rule, then its own. */
export function errorsOf(described: DescribedRoute): readonly ErrorDescription[] {
  return [...accessOf(described).errors, ...(described.description.errors ?? [])];
}

function withBraces(path: string): string {
  return path.replace(/\/:(\w+)/g, "/{$1}");
}
