import type { Registry } from "./registry.ts";

/** The caller of a request, as far as its credentials say. */
export interface CountedCaller {
  readonly tenantId?: number | undefined;
  readonly clientId?: string | undefined;
}

/** The most pairs of tenant and client that have labels of their own. Those after them share the label `other`. */
export const countedClients = 500;

const classes = ["1xx", "2xx", "3xx", "4xx", "5xx"] as const;
type Series = readonly { count: number }[];

/**
 * Counts requests by tenant, client and class of the status. Ids of clients come from the store, never from a request,
 * and their number is bounded.
 */
export function clientRequests(registry: Registry): (caller: CountedCaller | undefined, status: number) => void {
  const counter = registry.counter(
    "breezeway_client_requests_total",
    `Requests of known callers, by tenant, client and class of the status; beyond ${countedClients} clients as "other".`,
    ...(["tenant", "client", "class"] as const),
  );
  const seriesOf = (tenant: string, client: string): Series => classes.map((one) => counter.of(tenant, client, one));
  const known = new Map<string | number, Series>();
  let others: Series | undefined;
  return (caller, status) => {
    if (caller?.tenantId === undefined) return;
    // A call with a security token has no client.
    const key = caller.clientId ?? caller.tenantId;
    let series = known.get(key) ?? (known.size < countedClients ? undefined : others);
    if (!series) {
      if (known.size < countedClients) {
        series = seriesOf(String(caller.tenantId), caller.clientId ?? "none");
        known.set(key, series);
      } else series = others = seriesOf("other", "other");
    }
    const counted = series[Math.floor(status / 100) - 1];
    if (counted) counted.count += 1;
  };
}
