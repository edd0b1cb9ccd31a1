import type { AlertDefinition, ThingAlertDefinition } from "../../../../sdk/src/index.ts";
import { virtualDeviceType } from "../../../model/virtual-device-type.ts";
import { parseAttributeName } from "../../../virtual-device/attribute-names.ts";
import type { ShownDevice } from "../../devices/friendly-names.ts";
import type { Api } from "../../remote/api.ts";
import { ServiceRefused } from "../../remote/service-errors.ts";

/**
 * Names the device or thing that a refusal is about. An alert watches one device and may write others, and the service's own
 * sentence says only "this device". Any other error is thrown as it is.
 */
export async function nameDevice(
  error: unknown,
  api: Api,
  definition: AlertDefinition | ThingAlertDefinition,
): Promise<never> {
  const { targets = [] } = definition;
  if (!(error instanceof ServiceRefused)) throw error;
  const refuse = (what: string, next: string) =>
    new ServiceRefused(error.status, error.code, `${what} Nothing was changed. ${next}`);
  const isOnThing = "thingId" in definition;
  const commanded = (definition.commands ?? []).flatMap((one) => ("thingId" in one ? [one.thingId] : []));
  if (error.code === "unknown_thing") {
    const things = [...(isOnThing ? [definition.thingId] : []), ...commanded];
    const what =
      things.length > 1 ? `One of these things is not there: ${things.join(", ")}.` : `There is no thing ${things[0]}.`;
    throw refuse(what, "See all with: breezeway thing list");
  }
  const named = isOnThing ? targets : [definition, ...targets];
  if (error.code === "unknown_device") {
    for (const one of named) {
      if (!(await find(api, one.deviceId))) {
        throw refuse(`There is no device ${one.deviceId}.`, "See all with: breezeway device list");
      }
    }
    const written = [...new Set(targets.map((one) => one.deviceId))].join(", ");
    throw refuse(
      `${isOnThing ? `Thing ${definition.thingId}` : `Device ${definition.deviceId}`} and the devices that --set names (${written}) have different owners.`,
      "An alert writes devices of one user only. See whose they are with: breezeway device list",
    );
  }
  if (error.code === "unknown_attribute") {
    for (const one of named) {
      const device = parseAttributeName(one.attrName) ? undefined : await find(api, one.deviceId);
      if (device?.deviceTypeName !== virtualDeviceType) continue;
      throw refuse(
        `Device ${one.deviceId} (${device.deviceName}) has no attribute ${one.attrName}.`,
        `See all with: breezeway device get ${one.deviceId} --json`,
      );
    }
  }
  throw error;
}

async function find(api: Api, deviceId: number): Promise<ShownDevice | undefined> {
  return api.getDevice(deviceId).catch((error) => {
    if (error instanceof ServiceRefused && error.status === 404) return undefined;
    throw error;
  });
}
