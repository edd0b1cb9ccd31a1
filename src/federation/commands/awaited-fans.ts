import type { AttributeChange, CommitTables } from "../../devices/commit.ts";
import { type CommandState, commandDeadlines } from "../../home/command-states.ts";
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

/** The states of a sent request that the fan's state confirms. */
export const unconfirmedStates: readonly CommandState[] = ["sending", "accepted", "expired"];

interface AwaitedFan {
  readonly command: FanRequestRow;
  /** On this node's monotonic clock. */
  readonly sentMs: number;
  isAnswered: boolean;
  /** A snapshot has shown the requested state between the sending and the answer. */
  isShown: boolean;
}

/**
 * Fan requests, each registered before it is sent. If the fan was in the requested state already, no value changes. So a
 * snapshot restates `fan_timer_active`: clients accept it only with a time later than their request. A snapshot from
 * before the answer is noted, and restated with the answer: the ecosystem may still refuse. At most one request per
 * thermostat is kept, until the stream's deadline to show it.
 */
export class AwaitedFans {
  readonly #ofDevice = new Map<DeviceId, Map<AttributeNumber, AwaitedFan>>();

  add(command: FanRequestRow, sentMs: number): void {
    const position = positionOf(command.attribute);
    if (position.kind !== "thermostat") return;
    const awaited = this.#ofDevice.get(command.deviceId) ?? new Map();
    const fan = thermostatAttribute(position.x, position.y, "fanTimerActive");
    awaited.set(fan, { command, sentMs, isAnswered: false, isShown: false });
    this.#ofDevice.set(command.deviceId, awaited);
  }

  /**
   * Called when the request was answered, or can't be any more: from now on snapshots restate. True if a snapshot has
   * shown the requested state since the sending: restate at once.
   */
  answer({ deviceId, id }: Pick<FanRequestRow, "deviceId" | "id">): boolean {
    const awaited = [...(this.#ofDevice.get(deviceId)?.values() ?? [])].find(({ command }) => command.id === id);
    if (!awaited) return false;
    awaited.isAnswered = true;
    return awaited.isShown;
  }

  /** What a snapshot restates of a device. `receivedMs`: when the snapshot was received; `readValues` reads its values. */
  restated(deviceId: DeviceId, receivedMs: number, readValues: () => AttributeValues): Restatement | undefined {
    const awaited = this.#ofDevice.get(deviceId);
    if (!awaited) return undefined;
    const values = readValues();
    // A snapshot from before the sending says nothing about the request.
    const due = [...awaited].filter(([, { sentMs }]) => receivedMs >= sentMs);
    const isShown = (fan: AttributeNumber, { command }: AwaitedFan) =>
      values[fan] === command.value && values[idOf(fan)] === command.thermostatId;
    for (const [fan, request] of due) if (!request.isAnswered) request.isShown = isShown(fan, request);
    const answered = due.filter(([, { isAnswered }]) => isAnswered);
    const shown = answered.filter(([fan, request]) => isShown(fan, request));
    const stored = () => {
      for (const [fan, request] of answered) if (awaited.get(fan) === request) awaited.delete(fan);
      if (awaited.size === 0) this.#ofDevice.delete(deviceId);
    };
    if (shown.length === 0) {
      stored();
      return undefined;
    }
    const changes: Restatement["changes"] = async (tx) => {
      const confirmed: AttributeChange[] = [];
      for (const [key, { command }] of shown) {
        const latest = await tx.fanRequests.latest(command.userId, deviceId, command.attribute);
        const isConfirmed = latest?.id === command.id && unconfirmedStates.includes(latest.state);
        if (isConfirmed) confirmed.push({ key, value: command.value, isRestated: true });
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
