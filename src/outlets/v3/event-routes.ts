import { parseAttributeNames } from "../../devices/attribute-parameter.ts";
import type { DeviceReading } from "../../devices/read.ts";
import { boundedFilter, boundedThings } from "../../events/event-filter.ts";
import type { Events } from "../../events/events.ts";
import type { Incoming } from "../../http/request/incoming.ts";
import type { Route } from "../../http/routes.ts";
import type { CallingPrincipal } from "../../identity/principal.ts";
import { BadParameter } from "../../model/errors.ts";
import { requireScopes } from "../../model/scope-errors.ts";
import { hasScope } from "../../model/scopes.ts";
import type { TokenLife } from "../../oauth/token-verification.ts";
import type { ThingReading } from "../../own-things/thing-reading.ts";
import { followEvents } from "./event-descriptions.ts";
import { allValues, asksForThings, heartbeatSecondsOf, isTrue, readDeviceId, singleValue } from "./v3-parameters.ts";

export interface EventRouteParts {
  readonly devices: Pick<DeviceReading, "device">;
  readonly things: Pick<ThingReading, "find">;
  readonly events: Pick<Events, "beginning" | "follow">;
  readonly tokens: {
    /** Calls `revoked` when the token is revoked; rejects when the token is no longer valid. */
    watch(accessToken: string, revoked: () => void): Promise<TokenLife>;
  };
  readonly quotas: {
    /** Counts an open stream; throws QuotaExceeded. The returned function ends it. */
    openStream(caller: CallingPrincipal): () => void;
  };
}

/** `x-accel-buffering`: nginx and compatible proxies then don't buffer the stream. */
const headers = { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" };

/** Live events of the caller's devices. */
export function eventRoutes({ devices, things, events, tokens, quotas }: EventRouteParts): readonly Route[] {
  return [
    {
      methods: ["GET"],
      isStream: true,
      mayCarryAlarms: true,
      path: "/v3/events",
      access: "bearer",
      errors: "standard",
      scopes: ["devices:read"],
      description: followEvents,
      async answer(incoming, caller) {
        const { deviceIds } = boundedFilter({
          deviceIds: allValues(incoming, "deviceId").map(readDeviceId),
          attributes: [],
        });
        const thingFilter = thingFilterOf(incoming);
        const hearsLinkSessions = isTrue(incoming, "linkSessions");
        if (hearsLinkSessions) requireScopes(caller, ["links"]);
        const heartbeatSeconds = heartbeatSecondsOf(incoming);
        const named: { readonly isVirtual: boolean }[] = [];
        for (const deviceId of deviceIds) named.push(await devices.device(caller, deviceId));
        for (const thingId of thingFilter.thingIds) await things.find(caller, thingId);
        const filter = {
          ...thingFilter,
          ...boundedFilter({ deviceIds, attributes: parseAttributeNames(allValues(incoming, "attribute"), named) }),
          hearsAlerts: hasScope(caller, "alerts"),
          hearsLinkSessions,
        };
        // Some EventSource libraries can't send the header.
        const lastEventId = incoming.lastEventId || singleValue(incoming, "lastEventId");
        const beginning = await events.beginning(lastEventId, heartbeatSeconds);
        let isRevoked = false;
        let end = () => {
          isRevoked = true;
        };
        const endStream = quotas.openStream(caller);
        const { hasExpired, clientId, release } = await tokens
          .watch(incoming.bearer ?? "", () => end())
          .catch((error) => {
            endStream();
            throw error;
          });
        const ended = () => {
          release();
          endStream();
        };
        return {
          status: 200,
          headers,
          stream(writer) {
            end = () => writer.end();
            writer.closed.addEventListener("abort", ended, { once: true });
            if (writer.closed.aborted) ended();
            else if (isRevoked) writer.end();
            else
              events.follow({ clientId, accessScope: caller, filter, beginning, hasExpired, heartbeatSeconds }, writer);
          },
        };
      },
    },
  ];
}

/** `things=true` asks for events of things. */
function thingFilterOf(incoming: Incoming): { readonly hearsThings: boolean; readonly thingIds: readonly string[] } {
  const hearsThings = asksForThings(incoming);
  const thingIds = boundedThings(allValues(incoming, "thingId"));
  if (!hearsThings && thingIds.length > 0) {
    throw new BadParameter(
      "thingId",
      "The parameter thingId needs things=true: the stream has no events of things otherwise.",
    );
  }
  return { hearsThings, thingIds };
}
