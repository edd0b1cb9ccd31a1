import { readAttributeBody } from "../devices/log-entries.ts";
import type { AccessScope } from "../model/access-scope.ts";
import { BadParameter, UnknownDevice } from "../model/errors.ts";
import type { DeviceId } from "../model/ids.ts";
import type { DeviceRow } from "../store/tables/devices.ts";
import type { TriggerRow } from "../store/tables/triggers.ts";
import type { AlertSubject } from "./alert-calls.ts";
import type { AlertTables } from "./alert-tables.ts";
import { checkDefinition, type TriggerInput } from "./definition.ts";

/** An attribute of a device. */
export const attributeSubject: AlertSubject<TriggerInput, TriggerRow, DeviceRow> = {
  table: (tx) => tx.triggers,
  find: (tx, accessScope, { deviceId }) => deviceWithin(tx, accessScope, deviceId),
  check: checkDefinition,
  refuseMove(before, { deviceId }) {
    if (deviceId === before.deviceId) return;
    throw new BadParameter("deviceId", "An alert stays with its device. Make another one instead.");
  },
  isSameSubject: (before, after) => before.key === after.key,
  async value(tx, { userId, deviceId, key }) {
    const [attribute] = await tx.attributes.some(userId, deviceId, [key]);
    return attribute?.value ?? null;
  },
  pastKinds: "attributes",
  pastValue(commit, { key }) {
    // Of several writes of one attribute in one commit the last one counts.
    const change = readAttributeBody(commit).changes.findLast(([changed]) => changed === key);
    return change && { value: change[1] };
  },
};

export async function deviceWithin(
  tx: Pick<AlertTables, "devices">,
  accessScope: AccessScope,
  deviceId: DeviceId,
): Promise<DeviceRow> {
  const device = await tx.devices.within(accessScope, deviceId);
  if (!device) throw new UnknownDevice();
  return device;
}
