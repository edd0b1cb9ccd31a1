import { askedNames } from "../../devices/attribute-parameter.ts";
import type { DeviceReading } from "../../devices/read.ts";
import { boundedFilter } from "../../events/event-filter.ts";
import type { Events } from "../../events/events.ts";
import type { Route } from "../../http/routes.ts";
import { hasScope } from "../../model/scopes.ts";
import type { TokenLife } from "../../oauth/token-verification.ts";
import { followEvents } from "./event-descriptions.ts";
import { each, heartbeatSecondsOf, onlyOne, readDeviceId } from "./v3-parameters.ts";

export interface EventRouteParts {
  readonly devices: Pick<DeviceReading, "device">;
  readonly events: Pick<Events, "beginning" | "follow">;
  readonly tokens: {
    /** Tells when the token is revoked; rejects when it is no longer good. */
    watch(accessToken: string, revoked: () => void): Promise<TokenLife>;
  };
}

/** nginx, and others that have learned from it, pass on what is sent as it comes. */
const headers = { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" };

/** What happens to the caller's devices, as it happens. */
export function eventRoutes({ devices, events, tokens }: EventRouteParts): readonly Route[] {
  return [
    {
      methods: ["GET"],
      isStream: true,
      path: "/v3/events",
      access: "bearer",
      errors: "standard",
      scopes: ["devices:read"],
      description: followEvents,
      async answer(incoming, caller) {
        const { deviceIds } = boundedFilter({
          deviceIds: each(incoming, "deviceId").map(readDeviceId),
          attributes: [],
        });
        const heartbeatSeconds = heartbeatSecondsOf(incoming);
        const named: { readonly isVirtual: boolean }[] = [];
        for (const deviceId of deviceIds) named.push(await devices.device(caller, deviceId));
        const filter = {
          ...boundedFilter({ deviceIds, attributes: askedNames(each(incoming, "attribute"), named) }),
          hearsAlerts: hasScope(caller, "alerts"),
        };
        // Some stand-ins for a browser's EventSource can't send the header.
        const lastEventId = incoming.lastEventId || onlyOne(incoming, "lastEventId");
        const beginning = await events.beginning(lastEventId, heartbeatSeconds);
        let isRevoked = false;
        let end = () => {
          isRevoked = true;
        };
        const { untilMs, clientId, release } = await tokens.watch(incoming.bearer ?? "", () => end());
        return {
          status: 200,
          headers,
          stream(outlet) {
            end = () => outlet.end();
            outlet.closed.addEventListener("abort", release, { once: true });
            if (outlet.closed.aborted) release();
            else if (isRevoked) outlet.end();
            else events.follow({ clientId, accessScope: caller, filter, beginning, untilMs, heartbeatSeconds }, outlet);
          },
        };
      },
    },
  ];
}
