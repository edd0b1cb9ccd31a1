import { BadParameter } from "../../../model/errors.ts";
import type { DeviceId } from "../../../model/ids.ts";
import { virtualDeviceType } from "../../../model/virtual-device-type.ts";
import type { Call, OwnCommand } from "../../command.ts";
import type { ShownDevice } from "../../devices/friendly-names.ts";
import { id, texts } from "../../input.ts";
import { serviceOf, withOwnerOptions } from "../../remote/chosen-service.ts";
import { ServiceRefused } from "../../remote/service-errors.ts";

export const deviceArgument = {
  name: "device",
  meaning: "the device's id; see: breezeway device list",
  isRequired: true,
};

export const set: OwnCommand = {
  name: "device set",
  meaning: "write attributes, all or none; an empty value erases",
  examples: [
    "device set 2 power=on brightness=80",
    "device set 2 power=",
    "device set 1 Hallway/fan_timer_active.requestWrite=true",
  ],
  arguments: [
    deviceArgument,
    {
      name: "name=value",
      isRequired: true,
      isList: true,
      meaning: "the attribute, by its name or by a path such as Hallway/power, and its new value",
    },
  ],
  options: withOwnerOptions,
  async run(call) {
    const { typed, print } = call;
    const device = id<DeviceId>(typed, "device", "The device's id");
    const writes = texts(typed, "name=value").map(readWrite);
    const api = await serviceOf(call, { device: String(device) });
    const written = await nameWrites(call, api, device, writes);
    const writing = api.write((sdk) => sdk.setDeviceAttributes(device, written), device);
    await print.during("writing", writing).catch((error) => {
      if (!(error instanceof ServiceRefused) || error.code !== "unknown_attribute") throw error;
      throw new ServiceRefused(error.status, error.code, `${error.message} Nothing was written.`);
    });
    print.data({ deviceId: device, status: "OK", written }, () => {
      const lines = Object.entries(written).map(([name, value]) => `  ${name} = ${value === null ? "(blank)" : value}`);
      return `Wrote to device ${device}:\n${lines.join("\n")}`;
    });
  },
};

function readWrite(word: string): readonly [name: string, value: string | null] {
  const at = word.indexOf("=");
  if (at < 1) throw new BadParameter("name=value", `"${word}" should be name=value.`);
  return [word.slice(0, at), word.slice(at + 1) || null];
}

/** Translates friendly names to attribute names; for an ordinary device a word is the attribute name itself. */
async function nameWrites(
  call: Call,
  api: Awaited<ReturnType<typeof serviceOf>>,
  device: DeviceId,
  writes: readonly (readonly [string, string | null])[],
): Promise<Readonly<Record<string, string | null>>> {
  const isWire = ([name]: readonly [string, unknown]) => /^[od]\./.test(name);
  if (writes.every(isWire)) return Object.fromEntries(writes);
  const { attributeMatching } = await import("../../devices/friendly-names.ts");
  const shown = await call.print.during("reading", api.getDevice(device));
  if (shown.deviceTypeName !== virtualDeviceType) {
    for (const [name] of writes) refusePlace(shown, name);
    return Object.fromEntries(writes);
  }
  return Object.fromEntries(writes.map(([name, value]) => [attributeMatching(withRequests(shown), name), value]));
}

/** An ordinary device would take `Hallway/power` as the name of a new attribute, which is never intended. */
function refusePlace({ deviceId, deviceName, attributes }: ShownDevice, name: string): void {
  const words = name.split(/[/›]/);
  if (words.length === 1 || attributes[name]) return;
  throw new BadParameter(
    "name=value",
    `"${name}" names a place and an attribute, but device ${deviceId} (${deviceName}) is an ordinary device and has no places. Nothing was written. Name the attribute alone, as in ${words.at(-1)!.trim()}=…`,
  );
}

/** A blank fan request is not shown, but can be written. */
function withRequests(shown: ShownDevice): ShownDevice {
  const requests = Object.keys(shown.attributes)
    .filter((name) => /\.thermostats\[\d+\]\.name$/.test(name))
    .map((name) => [name.replace(/name$/, "fan_timer_active.requestWrite"), { value: null, updateTime: 0 }] as const);
  return { ...shown, attributes: { ...Object.fromEntries(requests), ...shown.attributes } };
}
