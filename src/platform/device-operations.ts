import { attributesWithValues, type DevicePage, type DevicePlace, type DeviceReading } from "../devices/read.ts";
import { attributeKey, type DeviceWriting } from "../devices/write.ts";
import type { Federation } from "../federation/federation.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import { attributeName } from "../model/attribute-names.ts";
import { UnknownAttribute, UnknownDevice } from "../model/errors.ts";
import type { Parameters } from "./parameters.ts";
import type { Element } from "./xml.ts";

/** Repeated `devList` siblings without a wrapper; the virtual device is among them (interface 2.8). */
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

/** Attributes are written so many characters of values at a time. */
const charactersAtOnce = 262_144;

/** Names are the contract, ids are not: the number of a virtual device's attribute, else its place in this answer. */
export async function* getDeviceAttributesWithValues(
  parts: { readonly devices: Pick<DeviceReading, "state">; readonly federation: Pick<Federation, "freshness"> },
  parameters: Parameters,
  caller: UserPrincipal,
): AsyncGenerator<readonly Element[], void> {
  const deviceId = parameters.deviceId();
  const typeId = parameters.optional("deviceTypeId");
  const state = await parts.devices.state(caller, deviceId);
  if (typeId !== undefined && typeId !== String(state.device.typeId)) throw new UnknownDevice();
  const { isPresent } = await parts.federation.freshness(caller.userId, deviceId);
  let elements: Element[] = [
    ["typeId", state.device.typeId],
    ["typeName", state.device.typeName],
    ["presenceInfo", isPresent ? 1 : 0],
  ];
  let characters = 0;
  for (const [position, { key, value, updateTimeMs }] of attributesWithValues(state).entries()) {
    const [id, name] = typeof key === "number" ? [key, attributeName(key)] : [position, key];
    if (characters > charactersAtOnce) {
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

/** An attribute without a value is an empty element and was never updated. */
export async function getDeviceAttribute(
  { devices }: { readonly devices: Pick<DeviceReading, "state"> },
  parameters: Parameters,
  caller: UserPrincipal,
): Promise<readonly Element[]> {
  const deviceId = parameters.deviceId();
  const name = parameters.required("name");
  const { device, attributes } = await devices.state(caller, deviceId);
  const attribute = attributes.get(attributeKey(device, name));
  // An ordinary device has the attributes that were written to it; a linked account has its 519 from the start.
  if (!attribute && !device.isVirtual) throw new UnknownAttribute("This device has no attribute of that name.");
  return [
    ["value", attribute?.value ?? ""],
    ["updTime", attribute && attribute.value !== null ? attribute.timeMs : 0],
  ];
}

/** An empty value erases. */
export async function setDeviceAttribute(
  { devices }: { readonly devices: DeviceWriting },
  parameters: Parameters,
  caller: UserPrincipal,
): Promise<readonly Element[]> {
  const deviceId = parameters.deviceId();
  const name = parameters.required("name");
  await devices.write(caller, deviceId, [{ name, value: parameters.text("value") }]);
  return [["retCode", 0]];
}
