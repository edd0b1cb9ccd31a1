import { findAttribute } from "../../devices/attribute-query.ts";
import { attributesWithValues, type DevicePage, type DevicePlace, type DeviceReading } from "../../devices/read.ts";
import { type AttributeWrite, attributeKey, type DeviceWriting } from "../../devices/write.ts";
import type { Federation } from "../../federation/federation.ts";
import type { UserPrincipal } from "../../identity/principal.ts";
import { BadParameter, UnknownAttribute } from "../../model/errors.ts";
import { attributeName } from "../../virtual-device/attribute-names.ts";
import type { CallOrigin, Parameters } from "./parameters.ts";
import type { Element } from "./xml.ts";

/** Repeated `devList` siblings without a wrapper; the virtual device is among them. */
export async function* getDeviceList(
  { devices }: { readonly devices: Pick<DeviceReading, "page"> },
  parameters: Parameters,
  caller: UserPrincipal,
): AsyncGenerator<readonly Element[], void> {
  parameters.checkUserId(caller.userId);
  for (let place: DevicePlace | undefined = { afterId: 0, typeName: undefined }; place; ) {
    const page: DevicePage = await devices.page(caller, place);
    yield page.devices.map((device) => [
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
    place = page.next;
  }
}

/** Size of a slice, in characters of names and values. */
const charactersPerSlice = 262_144;

/**
 * Ids are not part of the contract, names are: the id is the number of a virtual device's attribute, otherwise the
 * position in this answer. Clients also send `deviceTypeId`, always 1 for any type, so it is ignored.
 */
export async function* getDeviceAttributesWithValues(
  parts: { readonly devices: Pick<DeviceReading, "state">; readonly federation: Pick<Federation, "freshness"> },
  parameters: Parameters,
  caller: UserPrincipal,
): AsyncGenerator<readonly Element[], void> {
  const deviceId = parameters.deviceId();
  const state = await parts.devices.state(caller, deviceId);
  const { isPresent } = await parts.federation.freshness(caller.userId, deviceId);
  let elements: Element[] = [
    ["typeId", state.device.typeId],
    ["typeName", state.device.typeName],
    ["presenceInfo", isPresent ? 1 : 0],
  ];
  let characters = 0;
  for (const [position, { key, value, updateTimeMs }] of attributesWithValues(state).entries()) {
    const [id, name] = typeof key === "number" ? [key, attributeName(key)] : [position, key];
    if (characters > charactersPerSlice) {
      yield elements;
      elements = [];
      characters = 0;
    }
    characters += 2 * name.length + (value?.length ?? 0);
    elements.push([
      "attrList",
      [
        ["id", id],
        ["name", name],
        ["displayName", name],
        ["value", value ?? ""],
        ["updTime", updateTimeMs],
      ],
    ]);
  }
  yield elements;
}

/**
 * An erased attribute is an empty element with the time of its erasure, and the empty fan request of a present
 * thermostat has the time at which the thermostat got its slot. An attribute that never had a value has the time 0.
 */
export async function getDeviceAttribute(
  { devices }: { readonly devices: Pick<DeviceReading, "state"> },
  parameters: Parameters,
  caller: UserPrincipal,
): Promise<readonly Element[]> {
  const deviceId = parameters.deviceId();
  const name = parameters.required("name");
  const state = await devices.state(caller, deviceId);
  const attribute = findAttribute(state, attributeKey(state.device, name));
  // An ordinary device has the attributes that were written to it; a linked account has its 519 from the start.
  if (!attribute && !state.device.isVirtual) throw new UnknownAttribute("This device has no attribute of that name.");
  return [
    ["value", attribute?.value ?? ""],
    ["updTime", attribute?.timeMs ?? 0],
  ];
}

/** An empty value erases. */
export async function setDeviceAttribute(
  { devices }: { readonly devices: DeviceWriting },
  parameters: Parameters,
  caller: UserPrincipal,
  { disconnected }: CallOrigin,
): Promise<readonly Element[]> {
  const deviceId = parameters.deviceId();
  const name = parameters.required("name");
  await devices.write(caller, deviceId, [{ name, value: parameters.text("value") }], undefined, disconnected);
  return [["retCode", 0]];
}

const maximalPairs = 3;

/**
 * Writes up to three attributes, all or none: `name1` and `value1` to `name3` and `value3`. Every pair except the first
 * may be left out.
 */
export async function setMultiDeviceAttributes2(
  { devices }: { readonly devices: DeviceWriting },
  parameters: Parameters,
  caller: UserPrincipal,
  { disconnected }: CallOrigin,
): Promise<readonly Element[]> {
  const deviceId = parameters.deviceId();
  const writes: AttributeWrite[] = [];
  for (let nth = 1; nth <= maximalPairs; nth++) {
    const isLeftOut = !parameters.optional(`name${nth}`) && !parameters.optional(`value${nth}`);
    if (nth > 1 && isLeftOut) continue;
    const name = parameters.required(`name${nth}`);
    if (writes.some((write) => write.name === name)) {
      throw new BadParameter(`name${nth}`, `The parameter name${nth} names an attribute that is there already.`);
    }
    writes.push({ name, value: parameters.text(`value${nth}`) });
  }
  await devices.write(caller, deviceId, writes, undefined, disconnected);
  return [["retCode", 0]];
}
