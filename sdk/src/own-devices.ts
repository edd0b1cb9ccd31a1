import type { Device, WrittenValue } from "./devices.ts";
import { BreezewayError } from "./errors.ts";
import { randomText } from "./randomness.ts";
import type { CallOptions, WriteOptions } from "./transport.ts";
import type { V3 } from "./v3.ts";

/** A device to add to the company's own devices. */
export interface NewDevice {
  readonly userId: number;
  readonly deviceTypeName: string;
  readonly deviceName: string;
  readonly room?: string | null;
  /** The first values of its attributes. */
  readonly attributes?: Readonly<Record<string, WrittenValue>>;
}

/** The parts of a device that can be changed. A room of null erases the room. */
export interface DeviceChange {
  readonly deviceName?: string;
  readonly room?: string | null;
}

/** The HTTP statuses of refusals. */
export type RefusalStatus = 400 | 401 | 403 | 404 | 409 | 413 | 422 | 429 | 500 | 503;

/** Why one device of many was refused. */
export interface RefusedDevice {
  readonly status: RefusalStatus;
  readonly error: string;
  readonly error_description: string;
}

/** The outcome for one device of a batch; `line` is counted from 1. With the status 201 the device was added. */
export type BatchAnswer = { readonly line: number } & (
  | { readonly status: 201; readonly deviceId: number }
  | RefusedDevice
);

/** The outcome for each device of `setStates`. */
export interface StatesAnswer {
  readonly written: readonly number[];
  readonly failed: readonly (RefusedDevice & { readonly deviceId: number | string })[];
}

const devicesPerRequest = 500;
const statesPerRequest = 1_000;

/** Manages a company's own devices. Needs the access token of an enterprise client. */
export class OwnDevices {
  readonly #v3: () => V3;

  /** @internal */
  constructor(v3: () => V3) {
    this.#v3 = v3;
  }

  add(device: NewDevice, options: WriteOptions = {}): Promise<Device> {
    return this.#v3().call("POST", "/devices", { json: device, ...options });
  }

  /** Changes name, room or both. */
  update(deviceId: number, change: DeviceChange, options: WriteOptions = {}): Promise<Device> {
    return this.#v3().call("PATCH", `/devices/${deviceId}`, { json: change, ...options });
  }

  async remove(deviceId: number, options: WriteOptions = {}): Promise<void> {
    await this.#v3().call("DELETE", `/devices/${deviceId}`, options);
  }

  /**
   * Adds any number of devices; each succeeds or fails alone, and is answered in order. The SDK sends 500 devices in a
   * request, and the next request only when the caller has read all answers of the last one. To resume a batch that was
   * interrupted, send the same devices with the same `idempotencyKey`: no device is added twice. An error of the batch
   * holds the key, also if the SDK has generated it.
   */
  async *batch(
    devices: Iterable<NewDevice> | AsyncIterable<NewDevice>,
    options: WriteOptions = {},
  ): AsyncGenerator<BatchAnswer, void> {
    const key = options.idempotencyKey ?? (await randomText(18));
    let sent = 0;
    for await (const some of inGroups(devices, devicesPerRequest)) {
      const idempotencyKey = `${key}.${sent / devicesPerRequest}`;
      const request = { ...options, idempotencyKey, query: { mode: "each" } };
      const { answers, problem } = await this.#v3()
        .lines<BatchAnswer>("/devices:batch", some, request)
        .catch((error) => {
          throw withKey(error, key);
        });
      for (const answer of answers) yield { ...answer, line: sent + answer.line };
      if (problem) throw withKey(problem, key);
      sent += some.length;
    }
  }

  /** Writes attributes of many devices, by device id. Each device succeeds or fails alone. */
  async setStates(
    states: Readonly<Record<number, Readonly<Record<string, WrittenValue>>>>,
    options: CallOptions = {},
  ): Promise<StatesAnswer> {
    const written: number[] = [];
    const failed: StatesAnswer["failed"][number][] = [];
    for await (const some of inGroups(Object.entries(states), statesPerRequest)) {
      const json = Object.fromEntries(some);
      const answer = await this.#v3().call<StatesAnswer>("PUT", "/devices:states", { json, ...options });
      written.push(...answer.written);
      failed.push(...answer.failed);
    }
    return { written, failed };
  }
}

function withKey(error: unknown, idempotencyKey: string): unknown {
  return error instanceof BreezewayError ? Object.assign(error, { idempotencyKey }) : error;
}

async function* inGroups<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  size: number,
): AsyncGenerator<Item[], void> {
  let group: Item[] = [];
  for await (const item of items) {
    group.push(item);
    if (group.length < size) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}
