import type { AlarmRise } from "../../store/tables/assistant-marks.ts";
import type { AssistantMessage, DueReport, DueThing } from "../assistant.ts";
import { googleDevices, statesOf } from "./devices.ts";
import { alarmSensors } from "./sensors.ts";
import type { States } from "./trait.ts";

/** Devices in one report: it stays well below the size that Google takes. */
const thingsPerReport = 100;

/**
 * The messages to Home Graph: first the urgent things, then that the list of devices has changed, then the other states.
 * A thing that Google does not have is in no message. The states of new and changed things follow when Google has asked
 * for the list.
 */
export function googleMessages(due: DueReport, newUuid: () => string): readonly AssistantMessage[] {
  const { agentUserId, things } = due;
  const reported = things.filter(({ wantsState, wantsSync, isUrgent }) => wantsState && (isUrgent || !wantsSync));
  const [urgent, others] = [true, false].map((isUrgent) => reported.filter((one) => one.isUrgent === isUrgent));
  const changed = things.filter(({ wantsSync }) => wantsSync);
  const isAlone = isUnknownDevice(due);
  const report = (some: readonly DueThing[]) => stateReports({ agentUserId, isAlone, newUuid }, some);
  return [...report(urgent!), ...(changed.length > 0 ? [requestSync(agentUserId, changed)] : []), ...report(others!)];
}

function requestSync(agentUserId: string, things: readonly DueThing[]): AssistantMessage {
  return {
    type: "requestSync",
    thingIds: things.map(({ thingId }) => thingId),
    tells: { state: true, sync: true },
    body: { agentUserId, async: true },
  };
}

/** What a failed attempt says when Google does not know one of the devices of a report. */
export const unknownDevice = "Google does not know one of these devices yet; it was asked to sync";
/** So often a report is tried as a whole while Google may still be reading the list of devices. */
const attemptsAsWhole = 3;

/** Google did not learn one of the devices although it was asked to sync: the others must not wait for that one. */
function isUnknownDevice({ failed }: DueReport): boolean {
  return failed !== null && failed.problem === unknownDevice && failed.attempts >= attemptsAsWhole;
}

interface ReportForm {
  readonly agentUserId: string;
  readonly isAlone: boolean;
  readonly newUuid: () => string;
}

/** One report for each alarm that has risen: Home Graph takes one notification of a device at a time. */
function stateReports(form: ReportForm, things: readonly DueThing[]): readonly AssistantMessage[] {
  const shown = things.map((due) => ({ due, devices: devicesOf(due) })).filter(({ devices }) => devices.length > 0);
  const rounds = Math.max(1, ...shown.map(({ due }) => due.rises.length));
  return Array.from({ length: rounds }, (_, round) => {
    const [going, last] = [true, false].map((goesOn) =>
      shown.filter(({ due: { rises } }) => rises.length > round + 1 === goesOn && Math.max(1, rises.length) > round),
    );
    return [
      ...reports(form, going!, round, { state: false, sync: false }),
      ...reports(form, last!, round, { state: true, sync: false }),
    ];
  }).flat();
}

interface Shown {
  readonly due: DueThing;
  readonly devices: readonly (readonly [id: string, states: States])[];
}

function reports(
  { agentUserId, isAlone, newUuid }: ReportForm,
  shown: readonly Shown[],
  round: number,
  tells: AssistantMessage["tells"],
): readonly AssistantMessage[] {
  const size = isAlone ? 1 : thingsPerReport;
  const chunks = Array.from({ length: Math.ceil(shown.length / size) }, (_, i) =>
    shown.slice(i * size, (i + 1) * size),
  );
  return chunks.map((chunk) => {
    const states = Object.fromEntries(chunk.flatMap(({ devices }) => devices));
    const notified = chunk.flatMap(({ due: { thingId, rises } }) => notificationOf(thingId, rises[round]));
    return {
      type: "reportStateAndNotification",
      thingIds: chunk.map(({ due }) => due.thingId),
      tells,
      rises: Object.fromEntries(chunk.map(({ due: { thingId, rises } }) => [thingId, rises.slice(round, round + 1)])),
      ...(isAlone && { isAlone }),
      body: {
        requestId: newUuid(),
        ...(notified.length > 0 && { eventId: newUuid() }),
        agentUserId,
        payload: {
          devices: { states, ...(notified.length > 0 && { notifications: Object.fromEntries(notified) }) },
        },
      },
    };
  });
}

/** Nothing is stored of a thing whose account was unlinked: Google hears that the list of devices has changed. */
function devicesOf({ current }: DueThing): Shown["devices"] {
  return current ? googleDevices(current).map((device) => [device.id, statesOf(device)]) : [];
}

/** Also for an alarm that has ended meanwhile: a home must hear of an alarm that sounded while Google did not answer. */
function notificationOf(
  thingId: string,
  rise: AlarmRise | undefined,
): readonly (readonly [id: string, notification: object])[] {
  if (!rise) return [];
  const { name, words } = alarmSensors[rise.trait];
  return [[thingId, { SensorState: { priority: 0, name, currentSensorState: words[rise.state] } }]];
}
