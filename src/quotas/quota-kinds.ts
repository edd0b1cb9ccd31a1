import { type LimitName, limits } from "../model/limits.ts";

/** What a quota bounds. Each client and each tenant has one of each kind. */
export const quotaKinds = ["requestsPerMinute", "openStreams", "commandsPerMinute"] as const;
export type QuotaKind = (typeof quotaKinds)[number];
export type QuotaValues = Readonly<Record<QuotaKind, number>>;

export type QuotaHolder = "client" | "tenant";

/** The limit that a quota is by default, under whose name refusals are counted. */
export const quotaLimits: Readonly<Record<QuotaHolder, Readonly<Record<QuotaKind, LimitName>>>> = {
  client: {
    requestsPerMinute: "requestsPerMinutePerClient",
    openStreams: "openStreamsPerClient",
    commandsPerMinute: "commandsPerMinutePerClient",
  },
  tenant: {
    requestsPerMinute: "requestsPerMinutePerTenant",
    openStreams: "openStreamsPerTenant",
    commandsPerMinute: "commandsPerMinutePerTenant",
  },
};

export function defaultQuotas(holder: QuotaHolder): QuotaValues {
  const { requestsPerMinute, openStreams, commandsPerMinute } = quotaLimits[holder];
  return {
    requestsPerMinute: limits[requestsPerMinute],
    openStreams: limits[openStreams],
    commandsPerMinute: limits[commandsPerMinute],
  };
}

/** The smallest and the largest quota that an operator can set. */
export const quotaRange = { from: 1, to: 100_000_000 };
