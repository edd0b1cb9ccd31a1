import type { UserReading } from "../identity/user-reading.ts";
import type { WholeDevices } from "./device-body.ts";
import { type AdaptorFederation, adaptorRoutes } from "./routes/adaptor.ts";
import { type Check, healthRoutes } from "./routes/health.ts";
import { type MetricsRouteParts, metricsRoutes } from "./routes/metrics.ts";
import { type OAuthRouteParts, oauthRoutes } from "./routes/oauth.ts";
import { type Platform, platformRoutes } from "./routes/platform.ts";
import { referenceRoutes } from "./routes/reference.ts";
import { type SessionRouteParts, sessionRoutes } from "./routes/sessions.ts";
import { type AlertRouteParts, alertRoutes } from "./routes/v3-alerts.ts";
import { type DeviceRouteParts, deviceRoutes } from "./routes/v3-devices.ts";
import { type EventRouteParts, eventRoutes } from "./routes/v3-events.ts";
import { type HistoryRouteParts, historyRoutes } from "./routes/v3-history.ts";
import { userRoutes } from "./routes/v3-users.ts";
import { type WebhookRouteParts, webhookRoutes } from "./routes/v3-webhooks.ts";
import type { Route } from "./routes.ts";

/** What the routes work with. */
export interface RouteParts {
  readonly v3: DeviceRouteParts &
    AlertRouteParts &
    EventRouteParts &
    HistoryRouteParts &
    WebhookRouteParts & { readonly users: UserReading };
  readonly oauth: Omit<OAuthRouteParts, "baseUrl">;
  readonly federation: AdaptorFederation;
  readonly sessions: SessionRouteParts;
  readonly platform: Platform;
  /** What `/readyz` looks at, by name. */
  readonly checks: Readonly<Record<string, Check>>;
  readonly metrics: MetricsRouteParts;
  readonly version: string;
  /** Where clients reach the service; known once the port is. */
  readonly baseUrl: () => string;
}

/** Every route there is, each with its rule. */
export function routeTable(
  parts: RouteParts,
  health: { readonly isDraining: () => boolean; readonly checkTimeoutMs: number },
  whole?: WholeDevices,
): readonly Route[] {
  const routes: readonly Route[] = [
    ...healthRoutes({ checks: parts.checks, ...health }),
    ...metricsRoutes(parts.metrics),
    ...oauthRoutes({ ...parts.oauth, baseUrl: parts.baseUrl }),
    ...userRoutes(parts.v3.users),
    ...deviceRoutes(parts.v3, whole),
    ...alertRoutes(parts.v3),
    ...historyRoutes(parts.v3),
    ...eventRoutes(parts.v3),
    ...webhookRoutes(parts.v3),
    ...platformRoutes(parts.platform),
    ...sessionRoutes(parts.sessions),
    ...adaptorRoutes(parts.federation, parts.v3.devices),
    ...referenceRoutes({ version: parts.version, baseUrl: parts.baseUrl, routes: () => routes }),
  ];
  return routes;
}
