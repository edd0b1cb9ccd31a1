import { type AdaptorFederation, adaptorRoutes } from "./routes/adaptor.ts";
import { type Check, healthRoutes } from "./routes/health.ts";
import { type CallPlatform, platformRoutes } from "./routes/platform.ts";
import type { Route } from "./routes.ts";

/** What the routes work with. */
export interface RouteParts {
  readonly federation: AdaptorFederation;
  readonly platform: { readonly call: CallPlatform };
  /** What `/readyz` looks at, by name. */
  readonly checks: Readonly<Record<string, Check>>;
}

/** Every route there is, each with its rule. */
export function routeTable(
  parts: RouteParts,
  health: { readonly isDraining: () => boolean; readonly checkTimeoutMs: number },
): readonly Route[] {
  return [
    ...healthRoutes({ checks: parts.checks, ...health }),
    ...platformRoutes(parts.platform.call),
    ...adaptorRoutes(parts.federation),
  ];
}
