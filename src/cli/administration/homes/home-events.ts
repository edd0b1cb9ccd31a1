import type { RecentEvents } from "../../../events/recent-chains.ts";
import type { TenantId } from "../../../model/ids.ts";

/** Limits the events to the tenants that an operator reaches. */
export function homeEventsWithin(events: RecentEvents, tenantIds: readonly TenantId[]): RecentEvents {
  return {
    recent: ({ tenantIds: wanted, ...question }) =>
      events.recent({
        ...question,
        tenantIds: wanted?.filter((tenantId) => tenantIds.includes(tenantId)) ?? tenantIds,
      }),
  };
}
