import type { AttributeChange, CommitTables } from "../../devices/commit.ts";
import { commandDeadlines } from "../../home/command-states.ts";
import type { DeviceId } from "../../model/ids.ts";
import type { FanRequestRow } from "../../store/tables/fan-requests.ts";
import { type AttributeNumber, positionOf, thermostatAttribute } from "../../virtual-device/attribute-names.ts";
import type { AttributeValues } from "../../virtual-device/attribute-values.ts";

/** Values that a snapshot confirms without changing them: they are written again, with a new time. */
export interface Restatement {
  /** Called under the user's lock: a request that was superseded or settled meanwhile is not confirmed. */
  readonly changes: (tx: Pick<CommitTables, "fanRequests">) => Promise<readonly AttributeChange[]>;
  /** Called when the changes are durable: later snapshots restate nothing. */
  readonly stored: () => void;
}

interface AwaitedFan {
  readonly command: FanRequestRow;
  /** On this node's monotonic clock. */
  readonly sentMs: number;
  /** A snapshot has shown the requested state since the sending, before the ecosystem's answer. */
  isShown: boolean;
}

/**
 * Fan requests that were sent, each registered before its sending. If the fan was in the requested state already, the
 * confirmation changes no value. Then a snapshot restates `fan_timer_active`: clients accept it only with a time later
 * than their request. A snapshot from before the answer is noted, and the answer restates. At most one request per
 * thermostat is kept, until the stream's deadline to show it.
 */
export class AwaitedFans {
  readonly #ofDevice = new Map<DeviceId, Map<AttributeNumber, AwaitedFan>>();

  add(command: FanRequestRow, sentMs: number): void {
    const position = positionOf(command.attribute);
    if (position.kind !== "thermostat") return;
    const awaited = this.#ofDevice.get(command.deviceId) ?? new Map();
    const fan = thermostatAttribute(position.x, position.y, "fanTimerActive");
    awaited.set(fan, { command, sentMs, isShown: false });
    this.#ofDevice.set(command.deviceId, awaited);
  }

  /** Whether a snapshot has shown the requested state between the sending and the answer. */
  isShown({ deviceId, id }: Pick<FanRequestRow, "deviceId" | "id">): boolean {
    const awaited = [...(this.#ofDevice.get(deviceId)?.values() ?? [])];
    return awaited.some(({ command, isShown }) => command.id === id && isShown);
  }

  /** What a snapshot restates of a device. `receivedMs`: when the snapshot was received; `readValues` reads its values. */
  restated(deviceId: DeviceId, receivedMs: number, readValues: () => AttributeValues): Restatement | undefined {
    const awaited = this.#ofDevice.get(deviceId);
    if (!awaited) return undefined;
    // A snapshot from before the sending says nothing about the request.
    const due = [...awaited].filter(([, { sentMs, isShown }]) => receivedMs >= sentMs && !isShown);
    if (due.length === 0) return undefined;
    const values = readValues();
    const shown = due.filter(([fan, { command }]) => {
      return values[fan] === command.value && values[idOf(fan)] === command.thermostatId;
    });
    const stored = () => {
      for (const [fan, request] of due) if (awaited.get(fan) === request && !request.isShown) awaited.delete(fan);
      if (awaited.size === 0) this.#ofDevice.delete(deviceId);
    };
    if (shown.length === 0) {
      stored();
      return undefined;
    }
    const changes: Restatement["changes"] = async (tx) => {
      const confirmed: AttributeChange[] = [];
      for (const [key, request] of shown) {
        const { command } = request;
        const latest = await tx.fanRequests.latest(command.userId, deviceId, command.attribute);
        if (latest?.id !== command.id) continue;
        if (latest.state === "sending") request.isShown = true;
        const isOpen = latest.state === "accepted" || latest.state === "expired";
        if (isOpen) confirmed.push({ key, value: command.value, isRestated: true });
      }
      return confirmed;
    };
    return { changes, stored };
  }

  /** Drops requests that no snapshot has shown in time. */
  forgetOverdue(nowMs: number): void {
    for (const [deviceId, awaited] of this.#ofDevice) {
      for (const [fan, { sentMs }] of awaited) if (nowMs - sentMs > commandDeadlines.showMs) awaited.delete(fan);
      if (awaited.size === 0) this.#ofDevice.delete(deviceId);
    }
  }
}

function idOf(fan: AttributeNumber): AttributeNumber {
  const { x, y } = positionOf(fan) as { readonly x: number; readonly y: number };
  return thermostatAttribute(x, y, "deviceId");
}
