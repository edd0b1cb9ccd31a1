import { adminCalls } from "../../src/cli/administration/calls/calls.ts";
import { linkSteps } from "../../src/link-sessions/steps/steps.ts";
import { authorizeSteps } from "../../src/oauth/authorize/authorize.ts";
import { operations } from "../../src/outlets/platform/operations.ts";
import { type RouteParts, routeTable } from "../../src/outlets/route-table.ts";

/** Parts for a route table whose routes are never called. */
export const unusedParts = {
  v3: {},
  oauth: { oauth: { authorizeSteps: authorizeSteps({} as never) } },
  googleHome: { assistants: {} as never, tokens: {} as never },
  alexa: { alexa: {} as never },
  linkPages: { linkSessions: { steps: linkSteps({} as never) } },
  admin: { administration: { calls: adminCalls } },
  console: { operators: {}, administration: { calls: adminCalls }, nowMs: () => 0 },
  federation: {},
  sessions: {},
  platform: { operations },
  checks: {},
  metrics: {},
  build: { version: "1.2.3", commit: "0a1b2c3d", schema: 60 },
  baseUrl: () => "https://breezeway.example",
} as unknown as RouteParts;

/** Every route of the service. */
export function madeTable() {
  return routeTable(unusedParts, { isDraining: () => false, healthCheckTimeoutMs: 1 });
}
