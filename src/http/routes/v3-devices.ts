import { type AttributeQuestion, askedAttributes, type NamedAttribute } from "../../devices/asked-attributes.ts";
import type { DevicePlace, DeviceReading } from "../../devices/read.ts";
import type { DeviceWriting } from "../../devices/write.ts";
import type { Federation } from "../../federation/federation.ts";
import type { Principal } from "../../identity/principal.ts";
import { valueKind } from "../../model/attribute-names.ts";
import { BadParameter, UnknownDevice } from "../../model/errors.ts";
import { type DeviceId, parseId } from "../../model/ids.ts";
import { jsonAnswer } from "../answer.ts";
import { readWrites } from "../attribute-body.ts";
import type { Cursors } from "../cursor.ts";
import { getDevice, listDevices, updateDevice } from "../descriptions/devices.ts";
import type { Incoming } from "../incoming.ts";
import type { Route } from "../routes.ts";

export interface DeviceRouteParts {
  readonly devices: Pick<DeviceReading, "page" | "state"> & DeviceWriting;
  readonly federation: Pick<Federation, "freshnessOfEach">;
  readonly cursors: Cursors;
}

const path = "/v3/devices/:deviceId";
const bodyBytes = 65_536;

/** Devices (interface 2.4, 4.2). Whose they are is decided below, by the caller that each call is handed. */
export function deviceRoutes({ devices, federation, cursors }: DeviceRouteParts): readonly Route[] {
  return [
    {
      methods: ["GET"],
      path: "/v3/devices",
      access: "bearer",
      errors: "standard",
      description: listDevices,
      async answer(incoming, caller) {
        const page = await devices.page(caller, placeOf(incoming, caller, cursors));
        const freshness = await federation.freshnessOfEach(page.devices);
        return jsonAnswer(200, {
          devices: page.devices.map(({ id, name, typeName }) => ({
            deviceId: id,
            deviceName: name,
            deviceTypeName: typeName,
            presenceInfo: freshness.get(id)?.isPresent ? 1 : 0,
          })),
          ...(page.next && { cursor: cursors.write(caller, page.next) }),
        });
      },
    },
    {
      methods: ["GET"],
      path,
      access: "bearer",
      errors: "standard",
      description: getDevice,
      async answer(incoming, caller) {
        const question = questionOf(incoming);
        const state = await devices.state(caller, deviceIdOf(incoming));
        const { id, name, typeName } = state.device;
        const freshness = (await federation.freshnessOfEach([state.device])).get(id);
        if (!freshness) throw new UnknownDevice();
        const { isPresent, isStale, confirmedTimeMs } = freshness;
        return jsonAnswer(200, {
          deviceId: id,
          deviceName: name,
          deviceTypeName: typeName,
          presenceInfo: isPresent ? 1 : 0,
          stale: isStale,
          ...(confirmedTimeMs !== null && { confirmedTime: confirmedTimeMs }),
          attributes: Object.fromEntries(askedAttributes(state, question).map(shownAttribute)),
        });
      },
    },
    {
      methods: ["PUT"],
      path,
      access: "bearer",
      errors: "standard",
      bodyBytes,
      description: updateDevice,
      async answer(incoming, caller) {
        const writes = readWrites(incoming.body);
        await devices.write(caller, deviceIdOf(incoming), writes);
        return jsonAnswer(200, { status: "OK" });
      },
    },
  ];
}

/** A malformed id is as unknown as a foreign one. */
function deviceIdOf({ pathParameters }: Incoming): DeviceId {
  const deviceId = parseId<DeviceId>(pathParameters.deviceId ?? "");
  if (deviceId === undefined) throw new UnknownDevice();
  return deviceId;
}

/** Where the list goes on: a cursor brings its filter along, and another one beside it could only be a mistake. */
function placeOf(incoming: Incoming, caller: Principal, cursors: Cursors): DevicePlace {
  const cursor = onlyOne(incoming, "cursor");
  const typeName = onlyOne(incoming, "deviceTypeName");
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

function questionOf(incoming: Incoming): AttributeQuestion {
  const names = incoming.query
    .filter(([name, value]) => name === "attribute" && value !== "")
    .map(([, value]) => value);
  const since = onlyOne(incoming, "since");
  return { names, sinceMs: since === undefined ? undefined : timeOf(since) };
}

const largestTime = 2n ** 63n - 1n;

/** Beyond 2^53 a number is no longer exact, but stays beyond every time there is. */
function timeOf(since: string): number {
  if (!/^[0-9]+$/.test(since) || BigInt(since) > largestTime) {
    throw new BadParameter("since", "The parameter since must be a time in milliseconds: an integer from 0 to 2^63-1.");
  }
  return Number(since);
}

/** Empty is left out; given twice, nobody could say which was meant. */
function onlyOne({ query }: Incoming, name: string): string | undefined {
  const values = query.filter(([given]) => given === name);
  if (values.length > 1) throw new BadParameter(name, `The parameter ${name} must be sent once.`);
  return values[0]?.[1] || undefined;
}

/** Totals are numbers, booleans are the strings "true" and "false", and so is everything else (interface 2.7). */
function shownAttribute({ key, name, value, updateTimeMs }: NamedAttribute) {
  const isNumber = value !== null && typeof key === "number" && valueKind(key) === "integer";
  return [name, { value: isNumber ? Number(value) : value, updateTime: updateTimeMs }] as const;
}
