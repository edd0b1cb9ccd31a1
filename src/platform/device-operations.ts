import { attributesWithValues, type DeviceReading } from "../devices/read.ts";
import type { Federation } from "../federation/federation.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import { attributeName } from "../model/attribute-names.ts";
import { InvalidSecToken, UnknownDevice } from "../model/errors.ts";
import type { Parameters } from "./parameters.ts";
import type { Element } from "./xml.ts";

/** Repeated `devList` siblings without a wrapper; the virtual device is among them (interface 2.8). */
export async function getDeviceList(
  { devices }: { readonly devices: Pick<DeviceReading, "list"> },
  parameters: Parameters,
  caller: UserPrincipal,
): Promise<readonly Element[]> {
  const userId = parameters.optional("userId");
  if (userId !== undefined && userId !== String(caller.userId)) throw new InvalidSecToken();
  const list = await devices.list(caller.userId);
  return list.map((device) => [
    "devList",
    [
      ["devId", device.id],
      ["devName", device.name],
      ["typeId", device.typeId],
      ["sleepMode", 0],
      ["appID", caller.tenantId],
      ["userID", device.userId],
    ],
  ]);
}

/** Names are the contract, ids are not: the number of a virtual device's attribute, else its place in this answer. */
export async function getDeviceAttributesWithValues(
  parts: { readonly devices: Pick<DeviceReading, "state">; readonly federation: Pick<Federation, "freshness"> },
  parameters: Parameters,
  caller: UserPrincipal,
): Promise<readonly Element[]> {
  const deviceId = parameters.deviceId();
  const typeId = parameters.optional("deviceTypeId");
  const state = await parts.devices.state(caller, deviceId);
  if (typeId !== undefined && typeId !== String(state.device.typeId)) throw new UnknownDevice();
  const { isPresent } = await parts.federation.freshness(caller.userId, deviceId);
  const attributes = attributesWithValues(state).map(({ key, value, updateTimeMs }, position): Element => {
    const [id, name] = typeof key === "number" ? [key, attributeName(key)] : [position, key];
    return [
      "attrList",
      [
        ["id", id],
        ["name", name],
        ["displayName", name],
        ["value", value ?? ""],
        ["updTime", updateTimeMs],
      ],
    ];
  });
  return [
    ["typeId", state.device.typeId],
    ["typeName", state.device.typeName],
    ["presenceInfo", isPresent ? 1 : 0],
    ...attributes,
  ];
}
