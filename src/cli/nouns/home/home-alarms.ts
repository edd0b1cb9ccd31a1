import { alarmPlace, alarmWords, soundingAlarm } from "../../../home/sounding.ts";
import type { TenantId } from "../../../model/ids.ts";
import type { AdminCommand, AdministrationParts, Answer } from "../../administration/admin-command.ts";
import type { FoundAlarms } from "../../administration/homes/home-parts.ts";
import { secondOf } from "../../devices/times.ts";
import { table, whole } from "../../terminal/output.ts";
import { chosenTenant, withTenantOption } from "../tenant-option.ts";

/** Alarms that one answer lists. */
export const mostAlarms = 100;

/** The smoke and CO alarms that sound now, with the homes that they are in. */
export const listAlarms: AdminCommand = {
  name: "home alarms",
  meaning: "list things that show a smoke or CO warning or emergency, emergencies first",
  examples: ["home alarms", "home alarms --tenant Acme --json"],
  options: withTenantOption,
  async act(parts, input) {
    const tenantId = await chosenTenant(parts.identity, input);
    return { answer: await readAlarms(parts, tenantId === undefined ? undefined : [tenantId]) };
  },
  toText({ alarms, isComplete }, _typed, width) {
    if (alarms.length === 0) return "No smoke or CO alarm is known to sound.";
    const listed = table(
      ["USER", "NAME", whole("THING"), "ALARM", "SINCE", "KNOWN"],
      (alarms as Answer[]).map((alarm) => [
        alarm.userId,
        alarm.userName,
        alarm.thingId,
        `${alarmWords(alarm)}: ${alarmPlace(alarm)}`,
        secondOf(alarm.sinceTime),
        alarm.stale
          ? `as of ${alarm.confirmedTime === null ? "an unknown time" : secondOf(alarm.confirmedTime)}`
          : "now",
      ]),
      width,
    );
    return isComplete ? listed : `${listed}\nMore alarms sound: only ${alarms.length} are listed.`;
  },
};

/** Alarms of these tenants, or of all: emergencies first, then the newest. */
export async function readAlarms({ homes }: AdministrationParts, tenantIds: readonly TenantId[] | undefined) {
  const { things, isComplete } = await homes.alarms(tenantIds, mostAlarms);
  const alarms = things.map(alarmAnswer);
  alarms.sort((a, b) => a.level.localeCompare(b.level) || b.sinceTime - a.sinceTime);
  return { alarms, isComplete };
}

function alarmAnswer(thing: FoundAlarms["things"][number]) {
  const { userId, userName, thingId, deviceId, source, name, room, homeName, isStale, confirmedMs, state } = thing;
  const { level, sensors, sinceMs } = soundingAlarm(state)!;
  return {
    ...{ userId, userName, thingId, deviceId, source, name, room, homeName, level, sensors },
    sinceTime: sinceMs,
    stale: isStale,
    confirmedTime: confirmedMs,
  };
}
