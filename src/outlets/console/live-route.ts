import type { Events } from "../../events/events.ts";
import type { Route } from "../../http/routes.ts";
import { type Operator, reachedTenants } from "../../operators/operator.ts";
import { describeLive } from "./console-descriptions.ts";

export interface LiveRouteParts {
  readonly events: Pick<Events, "beginning" | "followChanges">;
  /** Calls `ended` when the operator's session ends, or the operator reaches other tenants. */
  readonly watchOperator: (operator: Operator, ended: () => void) => () => void;
}

/** `x-accel-buffering`: nginx and compatible proxies then don't buffer the stream. */
const headers = { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" };

/** Hints at what changes in the operator's tenants. Pages read again what a hint is about. */
export function liveRoute({ events, watchOperator }: LiveRouteParts): Route {
  return {
    access: "operator",
    need: "read",
    subject: "self",
    isStream: true,
    isSentByScript: true,
    errors: "standard",
    methods: ["GET"],
    path: "/console/live",
    description: describeLive,
    async answer({ lastEventId }, operator) {
      const beginning = await events.beginning(lastEventId || undefined);
      return {
        status: 200,
        headers,
        stream(writer) {
          if (writer.closed.aborted) return;
          const release = watchOperator(operator, () => writer.end());
          writer.closed.addEventListener("abort", release, { once: true });
          const { operatorId } = operator;
          events.followChanges({ tenantIds: reachedTenants(operator), operatorId, beginning }, writer);
        },
      };
    },
  };
}
