import { type AttributeQuery, selectAttributes } from "../../devices/attribute-query.ts";
import type { DevicePlace, DeviceReading } from "../../devices/read.ts";
import type { DeviceWriting } from "../../devices/write.ts";
import type { Federation } from "../../federation/federation.ts";
import { done, jsonAnswer, jsonTextAnswer } from "../../http/answer/answer.ts";
import type { Incoming } from "../../http/request/incoming.ts";
import type { NeededScopes, Route } from "../../http/routes.ts";
import type { Principal } from "../../identity/principal.ts";
import { BadParameter } from "../../model/errors.ts";
import { looksLikePair, readWrites, refusePair } from "./attribute-body.ts";
import { type CurrentDeviceParts, currentDevice } from "./current-device.ts";
import type { Cursors } from "./cursor.ts";
import { DeviceAnswerCache, deviceBody, ownerFor } from "./device-body.ts";
import { getDevice, listDevices, updateDevice } from "./device-descriptions.ts";
import { type KeyedRouteParts, keyed } from "./idempotent-routes.ts";
import { allValues, deviceIdOf, singleValue, timeOf } from "./v3-parameters.ts";

export interface DeviceRouteParts extends CurrentDeviceParts, KeyedRouteParts {
  readonly devices: CurrentDeviceParts["devices"] & Pick<DeviceReading, "page"> & DeviceWriting;
  readonly federation: CurrentDeviceParts["federation"] & Pick<Federation, "freshnessOfEach">;
  readonly cursors: { readonly devices: Cursors<DevicePlace> };
}

export const devicePath = "/v3/devices/:deviceId";
/** Shared with the fast path (device-fast-path.ts), which answers for this route. */
export const deviceReadScopes: NeededScopes = ["devices:read"];
const bodyBytes = 65_536;

/** Devices (docs/interface.md, Users and devices). Each call is limited to the caller's access scope. */
export function deviceRoutes(
  { devices, federation, cursors, idempotency, tokens }: DeviceRouteParts,
  deviceAnswers = new DeviceAnswerCache(),
): readonly Route[] {
  return [
    {
      methods: ["GET"],
      path: "/v3/devices",
      access: "bearer",
      errors: "standard",
      scopes: ["devices:read"],
      description: listDevices,
      async answer(incoming, caller) {
        const page = await devices.page(caller, pageStartOf(incoming, caller, cursors.devices));
        const freshness = await federation.freshnessOfEach(page.devices);
        return jsonAnswer(200, {
          devices: page.devices.map((device) => ({
            deviceId: device.id,
            ...ownerFor(caller, device),
            deviceName: device.name,
            ...(device.room !== null && { room: device.room }),
            deviceTypeName: device.typeName,
            presenceInfo: freshness.get(device.id)?.isPresent ? 1 : 0,
          })),
          ...(page.next && { cursor: cursors.devices.write(caller, page.next) }),
        });
      },
    },
    {
      methods: ["GET"],
      path: devicePath,
      access: "bearer",
      errors: "standard",
      scopes: deviceReadScopes,
      description: getDevice,
      async answer(incoming, caller) {
        const query = attributeQueryOf(incoming);
        const current = await currentDevice({ devices, federation }, caller, deviceIdOf(incoming));
        const isWhole = query.names.length === 0 && query.sinceMs === undefined;
        const body = isWhole
          ? deviceAnswers.answer(current, caller).body
          : deviceBody(current.state, current.freshness, selectAttributes(current.state, query), caller);
        return jsonTextAnswer(200, body);
      },
    },
    keyed(
      { idempotency, tokens },
      {
        methods: ["PUT"],
        path: devicePath,
        bodyBytes,
        mayCarryAlarms: true,
        scopes: ["devices:control"],
        description: updateDevice,
        async answer(incoming, caller, keep) {
          const writes = readWrites(incoming.body);
          const deviceId = deviceIdOf(incoming);
          if (looksLikePair(writes)) refusePair(await devices.state(caller, deviceId));
          await devices.write(caller, deviceId, writes, keep(done), incoming.disconnected);
          return done();
        },
      },
    ),
  ];
}

/** The start of the page. A cursor holds its filter, so a different filter beside it is refused as a mistake. */
function pageStartOf(incoming: Incoming, caller: Principal, cursors: Cursors<DevicePlace>): DevicePlace {
  const cursor = singleValue(incoming, "cursor");
  const typeName = singleValue(incoming, "deviceTypeName");
  if (cursor !== undefined) {
    const place = cursors.read(caller, cursor);
    if (typeName !== undefined && typeName !== place.typeName) {
      throw new BadParameter("deviceTypeName", "The parameter deviceTypeName must be the cursor's, or left out.");
    }
    return place;
  }
  if (typeName === undefined && caller.kind === "enterprise") {
    throw new BadParameter("deviceTypeName", "The parameter deviceTypeName is required with an enterprise token.");
  }
  return { afterId: 0, typeName };
}

function attributeQueryOf(incoming: Incoming): AttributeQuery {
  return { names: allValues(incoming, "attribute"), sinceMs: timeOf(incoming, "since") };
}
