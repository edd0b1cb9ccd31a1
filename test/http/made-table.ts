import { operations } from "../../src/outlets/platform/operations.ts";
import { type RouteParts, routeTable } from "../../src/outlets/route-table.ts";

/** What a table of routes is made from, when none of them is going to be called. */
export const unusedParts = {
  v3: {},
  oauth: { oauth: {} },
  federation: {},
  sessions: {},
  platform: { operations },
  checks: {},
  metrics: {},
  version: "1.2.3",
  baseUrl: () => "https://breezeway.example",
} as unknown as RouteParts;

/** Every route that there is. */
export function madeTable() {
  return routeTable(unusedParts, { isDraining: () => false, checkTimeoutMs: 1 });
}
