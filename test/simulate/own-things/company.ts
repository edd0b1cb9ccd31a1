import { UnknownDeviceType } from "../../../src/model/errors.ts";
import type { DeviceId, UserId } from "../../../src/model/ids.ts";
import { type Calls, expectOurs } from "../actors/calls.ts";
import type { CommittedTransaction } from "../checks/history.ts";
import type { Faults } from "../faults.ts";
import { maps, reports } from "./maps.ts";
import { tenantId } from "./rows.ts";

/** A device of the company at one of its users. */
export interface OwnDevice {
  readonly id: DeviceId;
  readonly userId: UserId;
  readonly type: string;
}

export interface CompanyParts {
  readonly calls: Calls;
  readonly faults: Faults;
  readonly devices: readonly OwnDevice[];
  readonly history: readonly CommittedTransaction[];
  /** How the company writes attributes of a device, on any node; false when that has failed. */
  readonly write: (device: OwnDevice, values: Readonly<Record<string, string>>) => void;
}

interface SentCommand {
  readonly state: string;
  readonly writes?: Readonly<Record<string, string>>;
}

/** A company with devices of its own: they report their states, carry commands out or not, and fall silent. */
export class Company {
  areQuiet = false;
  readonly #parts: CompanyParts;
  /** Devices that report nothing until this time. */
  readonly #silentUntilMs = new Map<DeviceId, number>();
  /** How far the company has read the log. */
  #read = 0;

  constructor(parts: CompanyParts) {
    this.#parts = parts;
  }

  start(): void {
    for (const type of Object.keys(maps)) {
      if (this.#parts.devices.some((device) => device.type === type)) this.#setMaps(type, [0, 1_000], true);
    }
    for (const device of this.#parts.devices) this.#reportOn(device);
    this.#readOn();
  }

  #setMaps(type: string, range: readonly [number, number], isFirst: boolean): void {
    const { calls, faults } = this.#parts;
    const { dice } = calls.scheduler;
    calls.laterOnSomeNode(`the company sets the map of ${type}`, range, (node) => {
      if (this.areQuiet) return;
      const isRemoval = !isFirst && dice.chance(0.25);
      const call = isRemoval
        ? node.deviceTypes.remove(tenantId, type)
        : node.deviceTypes.set(tenantId, type, isFirst ? maps[type]![0] : dice.pick(maps[type]!));
      call.then(
        () => faults.count(isRemoval ? "map removed" : isFirst ? "map set" : "map changed"),
        (error) => {
          if (!(error instanceof UnknownDeviceType)) expectOurs(error);
        },
      );
      this.#setMaps(type, isRemoval ? [200, 3_000] : [3_000, 20_000], isRemoval);
    });
  }

  #reportOn(device: OwnDevice): void {
    const { calls, write } = this.#parts;
    const { scheduler } = calls;
    const { dice } = scheduler;
    const delayMs = calls.areRare ? dice.between(5_000, 60_000) : dice.between(200, 4_000);
    scheduler.after(delayMs, undefined, `device ${device.id} reports`, () => {
      if (this.areQuiet) return;
      if (scheduler.nowMs >= (this.#silentUntilMs.get(device.id) ?? 0)) {
        write(device, this.#anyReport(device));
        if (dice.chance(0.1)) this.#silentUntilMs.set(device.id, scheduler.nowMs + dice.between(9_000, 25_000));
      }
      this.#reportOn(device);
    });
  }

  #anyReport({ type }: OwnDevice): Readonly<Record<string, string>> {
    const { dice } = this.#parts.calls.scheduler;
    const told = Object.entries(reports[type]!).filter(() => dice.chance(0.6));
    return Object.fromEntries(told.map(([name, values]) => [name, dice.pick(values)]));
  }

  /** Reads the commands that are durable now. Each is handed to its device, at most once. */
  #readOn(): void {
    const { calls, history, devices } = this.#parts;
    calls.scheduler.after(calls.scheduler.dice.between(50, 400), undefined, "the company reads commands", () => {
      for (; this.#read < history.length; this.#read++) {
        for (const { kind, deviceId, body } of history[this.#read]!.log) {
          const device = kind === "thingCommand" ? devices.find(({ id }) => id === deviceId) : undefined;
          const { state, writes } = device ? (JSON.parse(body) as SentCommand) : { state: "" };
          if (device && state === "sending" && writes) this.#carryOut(device, writes);
        }
      }
      this.#readOn();
    });
  }

  #carryOut(device: OwnDevice, writes: Readonly<Record<string, string>>): void {
    const { calls, faults, write } = this.#parts;
    const { scheduler } = calls;
    const { dice } = scheduler;
    const what = dice.weighted({ done: 6, oneByOne: 2, refused: 2, late: 1, ignored: 3 })!;
    faults.count(`own command ${what}`);
    const later = (range: readonly [number, number], values: Readonly<Record<string, string>>) =>
      scheduler.after(dice.between(...range), undefined, `device ${device.id} answers`, () => write(device, values));
    if (what === "done") later([10, 3_000], writes);
    if (what === "late") later([3_000, 9_000], writes);
    if (what === "refused") later([500, 3_500], { ...writes, ...this.#anyReport(device) });
    if (what === "oneByOne") {
      for (const [name, value] of Object.entries(writes)) later([10, 3_000], { [name]: value });
    }
  }
}
