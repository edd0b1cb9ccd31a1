import { createHash, timingSafeEqual } from "node:crypto";
import type { Incoming } from "../../http/request/incoming.ts";
import type { Route } from "../../http/routes.ts";
import { InvalidToken, MissingToken } from "../../model/errors.ts";
import { readMetrics } from "./metrics-descriptions.ts";

export interface MetricsRouteParts {
  /** All that is measured, in Prometheus' text format. */
  text(): Promise<string>;
  /** Whoever holds it may ask from anywhere. */
  readonly token: string | undefined;
}

/** `/metrics`: for this machine, or for whoever has the token. */
export function metricsRoutes(metrics: MetricsRouteParts): readonly Route[] {
  return [
    {
      methods: ["GET"],
      path: "/metrics",
      access: "public",
      errors: "standard",
      description: readMetrics,
      async answer(incoming) {
        refuseStrangers(incoming, metrics.token);
        const headers = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };
        return { status: 200, headers, body: await metrics.text() };
      },
    },
  ];
}

function refuseStrangers({ bearer, isLocal }: Incoming, token: string | undefined): void {
  if (token !== undefined && bearer !== undefined && isSame(bearer, token)) return;
  if (isLocal) return;
  throw bearer === undefined ? new MissingToken() : new InvalidToken();
}

/** In the same time, however much of it is right. */
function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
