import type { SmokeCoAlarm } from "../home/account-document.ts";
import { changeAlarm } from "../home/edits.ts";
import { alarmArguments, chooseDevice, chooseStructure, deviceIds } from "./arguments.ts";
import type { Scene } from "./scene.ts";

type States = Partial<Pick<SmokeCoAlarm, "smoke_alarm_state" | "co_alarm_state">>;

/** Changes of alarm states. The alarm's colour and the structure's states are derived from them. */
export const alarmScenes: readonly Scene[] = [
  raise("smoke", "An alarm finds smoke: emergency.", { smoke_alarm_state: "emergency" }),
  raise("smoke-warning", "An alarm finds a little smoke: warning.", { smoke_alarm_state: "warning" }),
  raise("co-emergency", "An alarm finds carbon monoxide: emergency.", { co_alarm_state: "emergency" }),
  raise("co-warning", "An alarm finds a little carbon monoxide: warning.", { co_alarm_state: "warning" }),
  {
    name: "clear",
    meaning: "The air is clean again: alarms say ok.",
    arguments: {
      structure: "number or id of the structure whose alarms clear; all alarms of the account when left out",
      alarm: "number or id of the only alarm that clears",
    },
    apply: (home, args) => {
      const alarms = alarmsToClear(home.document, args);
      const clearOne = (document: typeof home.document, id: string) =>
        changeAlarm(document, id, { smoke_alarm_state: "ok", co_alarm_state: "ok" });
      return { home: { ...home, document: alarms.reduce(clearOne, home.document) }, changed: { alarms } };
    },
  },
];

function raise(name: string, meaning: string, states: States): Scene {
  return {
    name,
    meaning,
    arguments: alarmArguments,
    apply: (home, args) => {
      const { device } = chooseDevice(home.document, "smoke_co_alarms", args);
      return {
        home: { ...home, document: changeAlarm(home.document, device.device_id, states) },
        changed: { alarm: device.device_id, structure: device.structure_id ?? null, ...states },
      };
    },
  };
}

function alarmsToClear(
  document: Parameters<typeof changeAlarm>[0],
  args: Parameters<Scene["apply"]>[1],
): readonly string[] {
  if (args.alarm !== undefined) return [chooseDevice(document, "smoke_co_alarms", args).device.device_id];
  const structure = args.structure === undefined ? undefined : chooseStructure(document, args.structure);
  return deviceIds(document, "smoke_co_alarms", structure);
}
