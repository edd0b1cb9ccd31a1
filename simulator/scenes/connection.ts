import type { DeviceKind } from "../home/account-document.ts";
import { changeAlarm, changeThermostat } from "../home/edits.ts";
import { alarmArguments, chooseDevice, deviceWords, thermostatArguments } from "./arguments.ts";
import type { Scene } from "./scene.ts";

/** Devices that go offline and come online again. */
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
    apply: (home, args, { nowMs }) => {
      const { device_id: id } = chooseDevice(home.document, kind, args).device;
      // An offline device keeps the time of its last connection.
      const lastConnection = isOnline ? { last_connection: new Date(nowMs).toISOString() } : {};
      return {
        home: { ...home, document: change(home.document, id, { is_online: isOnline, ...lastConnection }) },
        changed: { [deviceWords[kind]]: id, is_online: isOnline },
      };
    },
  };
}
