import { previews } from "../../src/outlets/console/pages/tenant-previews.ts";
import type { LookedAt } from "../browser/axe.ts";

/** The frames of a tenant's page, which show the tenant's other pages. axe can't look into them. */
export function previewsOn(path: string): readonly LookedAt[] {
  if (!/^\/tenants\/\d+/.test(path) || path.includes("preview=")) return [];
  const why = "the frame allows no script";
  return Object.values(previews).map((title) => ({ rule: "frame-tested", target: `iframe[title="${title}"]`, why }));
}
