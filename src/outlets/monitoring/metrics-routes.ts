import { createHash, timingSafeEqual } from "node:crypto";
import type { Incoming } from "../../http/request/incoming.ts";
import type { Route } from "../../http/routes.ts";
import { InvalidToken, MissingToken } from "../../model/errors.ts";
import { readMetrics } from "./metrics-descriptions.ts";

export interface MetricsRouteParts {
  /** All metrics in Prometheus' text format. */
  text(): Promise<string>;
  /** With this token, metrics can be read from anywhere. */
  readonly token: string | undefined;
}

/** `/metrics`: for local requests, and for requests with the token. */
export function metricsRoutes(metrics: MetricsRouteParts): readonly Route[] {
  return [
    {
      methods: ["GET"],
      path: "/metrics",
      access: "public",
      errors: "standard",
      description: readMetrics,
      async answer(incoming) {
        authorize(incoming, metrics.token);
        const headers = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };
        return { status: 200, headers, body: await metrics.text() };
      },
    },
  ];
}

function authorize({ bearer, isLocal }: Incoming, token: string | undefined): void {
  if (token !== undefined && bearer !== undefined && isSame(bearer, token)) return;
  if (isLocal) return;
  throw bearer === undefined ? new MissingToken() : new InvalidToken();
}

/** Constant-time comparison. */
function isSame(sent: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(sent), digest(expected));
}
