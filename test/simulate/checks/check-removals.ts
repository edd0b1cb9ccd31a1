import type { CommittedTransaction } from "./history.ts";
import { demand } from "./violation.ts";

/** The tables whose rows belong to a device. */
const ofDevices = [
  "devices",
  "links",
  "attributes",
  "commands",
  "blind intervals",
  "triggers",
  "things",
  "thingCommands",
  "thing triggers",
];

/**
 * A link is removed with its device and all their rows in one transaction (decisions 6). Only log entries about the
 * removal are left: one of the device, and one of its things. Nothing is written to the device
 * any more, and its id is never used again.
 */
export function checkRemovals(
  history: readonly CommittedTransaction[],
  remains: readonly { readonly deviceId: number; readonly entries: number }[],
): void {
  const rows = new Map<number, Set<string>>();
  const removed = new Set<number>();
  for (const { seq, writes, log } of history) {
    const going = new Set<number>();
    for (const { table, key, after } of writes) {
      const [kind, device = key] = table.split("/");
      const id = Number(device);
      if (!ofDevices.includes(kind!)) continue;
      demand(!removed.has(id), () => `transaction ${seq} writes to ${table} ${key}, though device ${id} was removed`);
      const ofDevice = rows.get(id) ?? new Set();
      rows.set(id, ofDevice);
      if (after) ofDevice.add(`${table} ${key}`);
      else ofDevice.delete(`${table} ${key}`);
      if (!after && (kind === "devices" || kind === "links")) going.add(id);
    }
    for (const { deviceId, kind } of log) {
      demand(
        !removed.has(deviceId!),
        () => `transaction ${seq} logs ${kind} of device ${deviceId}, which was removed before`,
      );
    }
    for (const id of going) {
      removed.add(id);
      const left = [...rows.get(id)!];
      demand(left.length === 0, () => `transaction ${seq} removes device ${id}; left are ${left.slice(0, 5)}`);
      const entriesLeft = log.filter(({ deviceId }) => deviceId === id).map(({ kind, body }) => `${kind} ${body}`);
      demand(
        entriesLeft.at(-1) === 'device {"what":"removed"}' && entriesLeft.slice(0, -1).every(isOfGoneThings),
        () => `transaction ${seq} removes device ${id}, and says [${entriesLeft}]`,
      );
    }
  }
  for (const { deviceId, entries } of remains) {
    // Retention may have removed that entry too.
    demand(entries <= 2, () => `device ${deviceId} was removed; its log still has ${entries} entries`);
  }
}

function isOfGoneThings(entry: string): boolean {
  const things = entry.startsWith("thing ") ? (JSON.parse(entry.slice("thing ".length)).things as object[]) : [];
  return things.length > 0 && things.every((thing) => "what" in thing && thing.what === "gone" && !("fields" in thing));
}
