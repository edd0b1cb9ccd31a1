import { jsonAnswer } from "../../http/answer/answer.ts";
import type { Route } from "../../http/routes.ts";
import type { Build } from "../../model/build.ts";
import { BreezewayError } from "../../model/errors.ts";
import { checkLiveness, checkReadiness } from "./health-descriptions.ts";

/** Returns some details; rejects when that part can't do its work. */
export type Check = () => Promise<object>;

export interface HealthParts {
  readonly build: Build;
  readonly checks: Readonly<Record<string, Check>>;
  readonly isDraining: () => boolean;
  /** A check that takes longer has failed, because probes don't wait longer. */
  readonly healthCheckTimeoutMs: number;
}

/** `/livez`: the process runs. `/readyz`: it can do its work, and if not, why. */
export function healthRoutes(parts: HealthParts): readonly Route[] {
  return [
    {
      methods: ["GET", "HEAD"],
      path: "/livez",
      access: "public",
      errors: "standard",
      description: checkLiveness,
      answer: async () => jsonAnswer(200, { status: "ok", ...parts.build }),
    },
    {
      methods: ["GET", "HEAD"],
      path: "/readyz",
      access: "public",
      errors: "standard",
      description: checkReadiness,
      async answer() {
        const results = await Promise.all(
          Object.entries(parts.checks).map(
            async ([name, check]) => [name, await outcome(check, parts.healthCheckTimeoutMs)] as const,
          ),
        );
        const isReady = results.every(([, { ok }]) => ok);
        const status = parts.isDraining() ? "draining" : isReady ? "ok" : "unavailable";
        return jsonAnswer(status === "ok" ? 200 : 503, { status, checks: Object.fromEntries(results) });
      },
    },
  ];
}

async function outcome(check: Check, timeoutMs: number): Promise<{ readonly ok: boolean }> {
  const { promise: timedOut, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new CheckTimeout()), timeoutMs);
  try {
    return { ...(await Promise.race([check(), timedOut])), ok: true };
  } catch (error) {
    // Only messages of Breezeway: the route is public, and a driver's message may name hosts and users.
    const isSafeMessage = error instanceof BreezewayError || error instanceof CheckTimeout;
    return { ok: false, ...{ reason: isSafeMessage ? error.message : "The check failed." } };
  } finally {
    clearTimeout(timer);
  }
}

class CheckTimeout extends Error {
  constructor() {
    super("The check did not answer in time.");
  }
}
