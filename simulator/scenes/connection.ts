import type { DeviceKind } from "../home/account-document.ts";
import { changeAlarm, changeThermostat } from "../home/edits.ts";
import { alarmArguments, chooseDevice, deviceWords, thermostatArguments } from "./arguments.ts";
import type { Scene } from "./scene.ts";

/** Devices that lose their connection to the ecosystem and find it again. */
export const connectionScenes: readonly Scene[] = [
  connection("thermostat-offline", "A thermostat is no longer reachable.", "thermostats", false),
  connection("thermostat-online", "A thermostat is reachable again.", "thermostats", true),
  connection("alarm-offline", "An alarm is no longer reachable.", "smoke_co_alarms", false),
  connection("alarm-online", "An alarm is reachable again.", "smoke_co_alarms", true),
];

function connection(name: string, meaning: string, kind: DeviceKind, isOnline: boolean): Scene {
  const change = kind === "thermostats" ? changeThermostat : changeAlarm;
  return {
    name,
    meaning,
    arguments: kind === "thermostats" ? thermostatArguments : alarmArguments,
    apply: (home, given, { nowMs }) => {
      const { device_id: id } = chooseDevice(home.document, kind, given).device;
      // The last connection stays at the moment when the device was last heard of.
      const heard = isOnline ? { last_connection: new Date(nowMs).toISOString() } : {};
      return {
        home: { ...home, document: change(home.document, id, { is_online: isOnline, ...heard }) },
        changed: { [deviceWords[kind]]: id, is_online: isOnline },
      };
    },
  };
}
