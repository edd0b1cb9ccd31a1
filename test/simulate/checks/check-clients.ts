import { type ReplayedDevice, sameStates, type Version } from "./check-commits.ts";
import type { ClientRead, ClientWrite, Poll } from "./history.ts";
import { demand } from "./violation.ts";

type Devices = ReadonlyMap<number, ReplayedDevice>;

/** An acknowledged write is in the history exactly once; a write with unknown outcome at most once. */
export function checkWrites(writes: readonly ClientWrite[], devices: Devices): void {
  const counts = new Map<string, number>();
  for (const { versions } of devices.values()) {
    for (const { by, changes } of versions) {
      if (by === "client") for (const [, value] of changes) counts.set(value!, (counts.get(value!) ?? 0) + 1);
    }
  }
  for (const { value, outcome, deviceId } of writes) {
    const count = counts.get(value) ?? 0;
    demand(
      outcome === "acknowledged" ? count === 1 : count <= 1,
      () => `the write ${value} to device ${deviceId} was ${outcome} and is in the history ${count} times`,
    );
  }
}

/** A read shows one whole version of the device, and none older than the acknowledged writes. */
export function checkReads(reads: readonly ClientRead[], devices: Devices): void {
  const states = new StatesOverTime(devices);
  for (const read of [...reads].sort((a, b) => (a.versionMs ?? -1) - (b.versionMs ?? -1))) {
    const { node, deviceId, versionMs, mustSeeMs, mustBeGone, fromSeq, toSeq, attributes } = read;
    const what = `a read of device ${deviceId} on ${node}`;
    if (versionMs === null) {
      const { addedSeq, removedSeq } = devices.get(deviceId) ?? { addedSeq: Infinity, removedSeq: Infinity };
      demand(addedSeq >= fromSeq || removedSeq < toSeq, () => `${what} finds nothing, though the device was there`);
      continue;
    }
    demand(!mustBeGone, () => `${what} shows version ${versionMs}, though its removal had been acknowledged`);
    demand(versionMs >= mustSeeMs, () => `${what} shows version ${versionMs}; ${mustSeeMs} had been acknowledged`);
    demand(
      sameStates(attributes, states.at(deviceId, versionMs)),
      () => `${what} at version ${versionMs} shows what that version never was`,
    );
  }
}

/** A client that polls with the largest time it has seen knows every attribute as it was then. */
export function checkPolls(polls: readonly Poll[], devices: Devices): void {
  const states = new StatesOverTime(devices);
  const known = new Map<number, Map<string | number, { value: string | null; timeMs: number }>>();
  const last = new Map<number, number>();
  for (const { deviceId, sinceMs, changes } of polls) {
    const copy = known.get(deviceId) ?? new Map();
    for (const { key, value, timeMs } of changes) copy.set(key, { value, timeMs });
    known.set(deviceId, copy);
    last.set(deviceId, sinceMs);
    demand(
      sameStates(copy, states.at(deviceId, sinceMs)),
      () => `the poller of device ${deviceId} has missed a change at or before ${sinceMs}`,
    );
  }
  for (const [deviceId, device] of devices) {
    if (device.removedSeq < Number.POSITIVE_INFINITY) continue;
    // A later commit of things alone has no attribute for a poller.
    const changedMs = device.versions.at(-1)?.timeMs ?? 0;
    demand(
      last.get(deviceId) === changedMs,
      () => `the poller of device ${deviceId} ends at ${last.get(deviceId)}, the device changed at ${changedMs}`,
    );
  }
}

/** The states of devices at rising times. */
class StatesOverTime {
  readonly #devices: Devices;
  readonly #at = new Map<
    number,
    { next: number; states: Map<string | number, { value: string | null; timeMs: number }> }
  >();

  constructor(devices: Devices) {
    this.#devices = devices;
  }

  at(deviceId: number, timeMs: number) {
    const versions: readonly Version[] = this.#devices.get(deviceId)?.versions ?? [];
    const device = this.#at.get(deviceId) ?? { next: 0, states: new Map() };
    this.#at.set(deviceId, device);
    for (let version = versions[device.next]; version && version.timeMs <= timeMs; version = versions[device.next]) {
      for (const [key, value] of version.changes) device.states.set(key, { value, timeMs: version.timeMs });
      device.next += 1;
    }
    return device.states;
  }
}
