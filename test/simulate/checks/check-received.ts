import type { ReplayedDevice } from "./check-commits.ts";
import { alarmSlots } from "./expected-device.ts";
import type { Arrival, HomeTruth, LinkStanding, Receipt } from "./history.ts";
import { demand } from "./violation.ts";

/** A state of one alarm on the virtual device, and the transaction from which on it was shown. */
interface Shown {
  readonly seq: number;
  readonly state: string;
}

/**
 * Every alarm state that a live owner received was committed, in the order of arrival: an emergency that ends while the
 * store is slow must not be lost (G6). Homes over the limit are left out, because an alarm without an index is not
 * mirrored.
 */
export function checkReceived(
  receipts: readonly Receipt[],
  standings: readonly LinkStanding[],
  devices: ReadonlyMap<number, ReplayedDevice>,
): void {
  for (const { userId, link } of standings) {
    const ofUser = receipts.filter((receipt) => receipt.userId === userId);
    if (!link || ofUser.some(({ home }) => isOverLimit(home))) continue;
    const shown = alarmsShown(devices.get(link.deviceId as number)!);
    const indexes = new Map<string, number>();
    for (const { seq, home } of ofUser) {
      for (const [id, { coAlarmState, smokeAlarmState, structureId }] of home.alarms) {
        if (!home.structures.has(structureId ?? "")) continue;
        const state = `${coAlarmState} ${smokeAlarmState}`;
        const states = shown.get(id) ?? [];
        let index = indexes.get(id) ?? 0;
        // The state must have been shown when it was received, or later.
        while (index < states.length && !(states[index]!.state === state && (states[index + 1]?.seq ?? seq) >= seq)) {
          index += 1;
        }
        demand(
          index < states.length,
          () =>
            `user ${userId}: alarm ${id} was received as "${state}" after transaction ${seq - 1}, and never shown so`,
        );
        indexes.set(id, index);
      }
    }
  }
}

/**
 * The reverse: every shown state of an alarm came from an account that had arrived, and accounts take effect in order of
 * arrival. An account that a newer one has overtaken (a late answer to a read) does not count as arrived, except for a
 * new link that begins with it.
 */
export function checkOrder(
  arrivals: readonly Arrival[],
  standings: readonly LinkStanding[],
  devices: ReadonlyMap<number, ReplayedDevice>,
): void {
  for (const { userId, link } of standings) {
    if (!link) continue;
    const ofUser = arrivals.filter((arrival) => arrival.userId === userId);
    const device = devices.get(link.deviceId as number)!;
    const beginning = device.versions[0]?.seq;
    for (const [id, shown] of alarmsShown(device)) {
      let index = 0;
      for (const { seq, state } of shown) {
        // Removed, or present without readable states.
        if (state === "" || state === "null null") continue;
        const isIt = ({ alarms, isOvertaken }: Arrival) =>
          stateOf(alarms.get(id)) === state && (!isOvertaken || seq === beginning);
        while (index < ofUser.length && !isIt(ofUser[index]!)) index += 1;
        demand(
          index < ofUser.length && ofUser[index]!.seq <= seq,
          () =>
            `user ${userId}: transaction ${seq} shows alarm ${id} as "${state}", which had not arrived after what it showed before`,
        );
      }
    }
  }
}

function stateOf(alarm: { readonly coAlarmState: string | null; readonly smokeAlarmState: string | null } | undefined) {
  return alarm && `${alarm.coAlarmState} ${alarm.smokeAlarmState}`;
}

function alarmsShown({ versions }: ReplayedDevice): Map<string, Shown[]> {
  const values = new Map<string | number, string | null>();
  const shown = new Map<string, Shown[]>();
  for (const { seq, changes } of versions) {
    const touched = new Set<string>();
    for (const [key, value] of changes) values.set(key, value);
    const keys = new Set(changes.map(([key]) => key));
    const now = new Map<string, string>();
    for (const { deviceId, co, smoke } of alarmSlots) {
      const id = values.get(deviceId);
      if (id === null || id === undefined) continue;
      now.set(id, `${values.get(co) ?? null} ${values.get(smoke) ?? null}`);
      if (keys.has(deviceId) || keys.has(co) || keys.has(smoke)) touched.add(id);
    }
    for (const id of touched) {
      const states = shown.get(id) ?? [];
      shown.set(id, states);
      if (states.at(-1)?.state !== now.get(id)) states.push({ seq, state: now.get(id)! });
    }
    for (const [id, states] of shown) if (!now.has(id) && states.at(-1)?.state !== "") states.push({ seq, state: "" });
  }
  return shown;
}

/** An alarm that names no structure of the home takes an index of the only structure, if there is only one. */
function isOverLimit({ structures, alarms }: HomeTruth): boolean {
  const [first = null, ...others] = structures.keys();
  const ofStrays = others.length === 0 ? first : null;
  const counts = new Map<string | null, number>();
  for (const { structureId } of alarms.values()) {
    const place = structureId !== null && structures.has(structureId) ? structureId : ofStrays;
    counts.set(place, (counts.get(place) ?? 0) + 1);
  }
  return structures.size > 2 || [...structures.keys()].some((id) => (counts.get(id) ?? 0) > 18);
}
