import { changeAlarm, changeStructure, changeThermostat } from "../home/edits.ts";
import { badArgument } from "../refusal.ts";
import { chooseDevice, chooseStructure, readName } from "./arguments.ts";
import type { Scene } from "./scene.ts";

/** The owner gives a structure or a device another name; ids stay. */
export const renameScene: Scene = {
  name: "rename",
  meaning: "A structure, a thermostat or an alarm gets another name.",
  arguments: {
    name: "the new name; it must be given",
    structure: "number or id of the structure; beside thermostat or alarm, the structure in which they are counted",
    thermostat: "number or id of the thermostat to rename",
    alarm: "number or id of the alarm to rename",
  },
  apply: (home, args) => {
    const name = readName(args);
    if (name === undefined) throw badArgument("rename needs a name.");
    const { document } = home;
    if (args.thermostat !== undefined) {
      const { device_id: thermostat } = chooseDevice(document, "thermostats", args).device;
      const renamed = changeThermostat(document, thermostat, { name, name_long: `${name} Thermostat` });
      return { home: { ...home, document: renamed }, changed: { thermostat, name } };
    }
    if (args.alarm !== undefined) {
      const { device_id: alarm } = chooseDevice(document, "smoke_co_alarms", args).device;
      const renamed = changeAlarm(document, alarm, { name, name_long: `${name} Nest Protect` });
      return { home: { ...home, document: renamed }, changed: { alarm, name } };
    }
    const { structure_id: structure } = chooseStructure(document, args.structure);
    return {
      home: { ...home, document: changeStructure(document, structure, { name }) },
      changed: { structure, name },
    };
  },
};
