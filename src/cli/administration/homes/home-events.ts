import type { RecentEvents } from "../../../events/recent-chains.ts";
import type { TenantId } from "../../../model/ids.ts";

/** The same events for an operator who reaches some tenants only. */
export function homeEventsWithin(events: RecentEvents, tenantIds: readonly TenantId[]): RecentEvents {
  return {
    recent: ({ tenantIds: wanted, ...question }) =>
      events.recent({
        ...question,
        tenantIds: wanted?.filter((tenantId) => tenantIds.includes(tenantId)) ?? tenantIds,
      }),
  };
}
