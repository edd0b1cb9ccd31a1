import { type AttributeQuery, selectAttributes } from "../../devices/attribute-query.ts";
import type { DevicePlace, DeviceReading } from "../../devices/read.ts";
import type { DeviceWriting } from "../../devices/write.ts";
import { done, jsonAnswer, jsonTextAnswer } from "../../http/answer/answer.ts";
import type { Incoming } from "../../http/request/incoming.ts";
import type { NeededScopes, Route } from "../../http/routes.ts";
import type { Principal } from "../../identity/principal.ts";
import { BadParameter } from "../../model/errors.ts";
import { looksLikePair, readWrites, refusePair } from "./attribute-body.ts";
import type { Cursors } from "./cursor.ts";
import { deviceBody, ownerFor, WholeDevices } from "./device-body.ts";
import { getDevice, listDevices, updateDevice } from "./device-descriptions.ts";
import { type DeviceNowParts, deviceNow } from "./device-now.ts";
import { type KeyedRouteParts, keyed } from "./idempotent-routes.ts";
import { allValues, deviceIdOf, singleValue, timeOf } from "./v3-parameters.ts";

export interface DeviceRouteParts extends DeviceNowParts, KeyedRouteParts {
  readonly devices: DeviceNowParts["devices"] & Pick<DeviceReading, "page"> & DeviceWriting;
  readonly cursors: Cursors;
}

export const devicePath = "/v3/devices/:deviceId";
/** Also for the fast lane (device-read-lane.ts), which answers for this route. */
export const deviceReadScopes: NeededScopes = ["devices:read"];
const bodyBytes = 65_536;

/** Devices (interface 2.4, 4.2). Whose they are is decided below, by the caller that each call is handed. */
export function deviceRoutes(
  { devices, federation, cursors, idempotency, tokens }: DeviceRouteParts,
  whole = new WholeDevices(),
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
        const page = await devices.page(caller, placeOf(incoming, caller, cursors));
        const freshness = await federation.freshnessOfEach(page.devices);
        return jsonAnswer(200, {
          devices: page.devices.map((device) => ({
            deviceId: device.id,
            ...ownerFor(caller, device),
            deviceName: device.name,
            deviceTypeName: device.typeName,
            presenceInfo: freshness.get(device.id)?.isPresent ? 1 : 0,
          })),
          ...(page.next && { cursor: cursors.write(caller, page.next) }),
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
        const question = questionOf(incoming);
        const now = await deviceNow({ devices, federation }, caller, deviceIdOf(incoming));
        const isWhole = question.names.length === 0 && question.sinceMs === undefined;
        const body = isWhole
          ? whole.answer(now, caller).body
          : deviceBody(now.state, now.freshness, selectAttributes(now.state, question), caller);
        return jsonTextAnswer(200, body);
      },
    },
    keyed(
      { idempotency, tokens },
      {
        methods: ["PUT"],
        path: devicePath,
        bodyBytes,
        scopes: ["devices:control"],
        description: updateDevice,
        async answer(incoming, caller, keep) {
          const writes = readWrites(incoming.body);
          const deviceId = deviceIdOf(incoming);
          if (looksLikePair(writes)) refusePair(await devices.state(caller, deviceId));
          await devices.write(caller, deviceId, writes, keep(done));
          return done();
        },
      },
    ),
  ];
}

/** Where the list goes on: a cursor brings its filter along, and another one beside it could only be a mistake. */
function placeOf(incoming: Incoming, caller: Principal, cursors: Cursors): DevicePlace {
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

function questionOf(incoming: Incoming): AttributeQuery {
  return { names: allValues(incoming, "attribute"), sinceMs: timeOf(incoming, "since") };
}
