import type { ThingState } from "./stored-thing.ts";

/** What a thing's smoke and CO sensors report while one of them is not clear. */
export interface SoundingAlarm {
  readonly level: "alarm" | "warning";
  /** The sensors that report this level. */
  readonly sensors: readonly AlarmSensor[];
  /** When the first of them reported it. */
  readonly sinceMs: number;
}

const sensorNames = { smoke: "Smoke", carbonMonoxide: "CO" } as const;
type AlarmSensor = keyof typeof sensorNames;

const alarmSensors = Object.keys(sensorNames) as readonly AlarmSensor[];

/** The highest level that a sensor of the thing reports, also one that does not answer now; undefined without one. */
export function soundingAlarm(state: ThingState): SoundingAlarm | undefined {
  for (const level of ["alarm", "warning"] as const) {
    const sensors = alarmSensors.filter((sensor) => state[sensor]?.state?.[0] === level);
    if (sensors.length === 0) continue;
    const sinceMs = Math.min(...sensors.map((sensor) => state[sensor]!.state![1]));
    return { level, sensors, sinceMs };
  }
  return undefined;
}

/** `Smoke and CO emergency`, `CO warning`. */
export function alarmWords({ level, sensors }: Pick<SoundingAlarm, "level" | "sensors">): string {
  return `${sensors.map((sensor) => sensorNames[sensor]).join(" and ")} ${level === "alarm" ? "emergency" : "warning"}`;
}

/** `Hallway, Maple Street`: where to look. */
export function alarmPlace({
  name,
  room,
  homeName,
}: {
  readonly name: string | null;
  readonly room: string | null;
  readonly homeName: string | null;
}): string {
  return [...new Set([name ?? "an alarm", room, homeName])].filter((word) => word !== null).join(", ");
}
