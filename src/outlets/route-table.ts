import { referenceRoutes } from "../http/documentation/reference-routes.ts";
import type { Route } from "../http/routes.ts";
import type { Build } from "../model/build.ts";
import { type AccountRouteParts, accountRoutes } from "./account/account-routes.ts";
import { type AdaptorFederation, adaptorRoutes } from "./adaptor/adaptor-routes.ts";
import { type AdminRouteParts, adminRoutes } from "./admin/admin-routes.ts";
import { type AlexaRouteParts, alexaRoutes } from "./alexa/alexa-routes.ts";
import { type ConsoleRouteParts, consoleRoutes } from "./console/console-routes.ts";
import { type FulfilmentRouteParts, fulfilmentRoutes } from "./google-home/fulfilment-routes.ts";
import { type LinkPageRouteParts, linkPageRoutes } from "./link-pages/link-page-routes.ts";
import { type Check, healthRoutes } from "./monitoring/health-routes.ts";
import { type MetricsRouteParts, metricsRoutes } from "./monitoring/metrics-routes.ts";
import { type OAuthRouteParts, oauthRoutes } from "./oauth/oauth-routes.ts";
import { type Platform, platformRoutes } from "./platform/platform-routes.ts";
import { type SessionRouteParts, sessionRoutes } from "./platform/session-routes.ts";
import { type AlertRouteParts, alertRoutes } from "./v3/alert-routes.ts";
import type { DeviceAnswerCache } from "./v3/device-body.ts";
import { type DeviceRouteParts, deviceRoutes } from "./v3/device-routes.ts";
import { type DeviceTypeRouteParts, deviceTypeRoutes } from "./v3/device-type-routes.ts";
import { type EventRouteParts, eventRoutes } from "./v3/event-routes.ts";
import { type HistoryRouteParts, historyRoutes } from "./v3/history-routes.ts";
import { type LinkSessionRouteParts, linkSessionRoutes } from "./v3/link-session-routes.ts";
import { type ProvisioningRouteParts, provisioningRoutes } from "./v3/provisioning-routes.ts";
import { type ThingCommandRouteParts, thingCommandRoutes } from "./v3/thing-command-routes.ts";
import { type ThingRouteParts, thingRoutes } from "./v3/thing-routes.ts";
import { type UserRouteParts, userRoutes } from "./v3/user-routes.ts";
import { type WebhookRouteParts, webhookRoutes } from "./v3/webhook-routes.ts";

/** The parts that the routes use. */
export interface RouteParts {
  readonly v3: DeviceRouteParts &
    ProvisioningRouteParts &
    DeviceTypeRouteParts &
    ThingRouteParts &
    ThingCommandRouteParts &
    AlertRouteParts &
    EventRouteParts &
    HistoryRouteParts &
    LinkSessionRouteParts &
    WebhookRouteParts &
    UserRouteParts;
  readonly oauth: Omit<OAuthRouteParts, "baseUrl">;
  readonly linkPages: Omit<LinkPageRouteParts, "baseUrl">;
  readonly account: Omit<AccountRouteParts, "baseUrl">;
  readonly googleHome: FulfilmentRouteParts;
  readonly alexa: AlexaRouteParts;
  readonly admin: AdminRouteParts;
  readonly console: Omit<ConsoleRouteParts, "baseUrl">;
  readonly federation: AdaptorFederation;
  readonly sessions: SessionRouteParts;
  readonly platform: Platform;
  /** The checks of `/readyz`, by name. */
  readonly checks: Readonly<Record<string, Check>>;
  readonly metrics: MetricsRouteParts;
  readonly build: Build;
  /** The address of the service for clients; known when the port is known. */
  readonly baseUrl: () => string;
}

/** Every route of the service. */
export function routeTable(
  parts: RouteParts,
  health: { readonly isDraining: () => boolean; readonly healthCheckTimeoutMs: number },
  deviceAnswers?: DeviceAnswerCache,
): readonly Route[] {
  const routes: readonly Route[] = [
    ...healthRoutes({ checks: parts.checks, build: parts.build, ...health }),
    ...metricsRoutes(parts.metrics),
    ...oauthRoutes({ ...parts.oauth, baseUrl: parts.baseUrl }),
    ...linkPageRoutes({ ...parts.linkPages, baseUrl: parts.baseUrl }),
    ...accountRoutes({ ...parts.account, baseUrl: parts.baseUrl }),
    ...userRoutes(parts.v3),
    ...deviceRoutes(parts.v3, deviceAnswers),
    ...provisioningRoutes(parts.v3),
    ...deviceTypeRoutes(parts.v3),
    ...thingRoutes(parts.v3),
    ...thingCommandRoutes(parts.v3),
    ...alertRoutes(parts.v3),
    ...historyRoutes(parts.v3),
    ...eventRoutes(parts.v3),
    ...webhookRoutes(parts.v3),
    ...linkSessionRoutes(parts.v3),
    ...fulfilmentRoutes(parts.googleHome),
    ...alexaRoutes(parts.alexa),
    ...adminRoutes(parts.admin),
    ...consoleRoutes({ ...parts.console, baseUrl: parts.baseUrl }),
    ...platformRoutes(parts.platform),
    ...sessionRoutes(parts.sessions),
    ...adaptorRoutes(parts.federation, parts.v3.devices),
    ...referenceRoutes({ version: parts.build.version, baseUrl: parts.baseUrl, routes: () => routes }),
  ];
  return routes;
}
