import { attributesSince } from "../../../src/devices/read.ts";
import type { DeviceId, UserId } from "../../../src/model/ids.ts";
import { thermostatAttribute } from "../../../src/virtual-device/attribute-names.ts";
import type { ClientRead, ClientWrite, Poll } from "../checks/history.ts";
import type { SimulatedNode } from "../node.ts";
import { type Calls, expectOurs } from "./calls.ts";

export interface ClientParts {
  readonly calls: Calls;
  readonly users: readonly UserId[];
  readonly lampOf: (userId: UserId) => DeviceId;
  readonly sirenOf: (userId: UserId) => DeviceId;
  readonly virtualDeviceOf: (userId: number) => DeviceId | undefined;
  /** Virtual devices whose removal was acknowledged. */
  readonly formerDevicesOf: (userId: UserId) => readonly DeviceId[];
  readonly committedSoFar: () => number;
}

/** The programs that use the service, each call on any node: they write, read and poll. */
export class Clients {
  readonly writes: ClientWrite[] = [];
  readonly reads: ClientRead[] = [];
  readonly polls: Poll[] = [];
  /** Stops all writes; pollers continue. */
  areQuiet = false;
  readonly #parts: ClientParts;
  readonly #acknowledgedMs = new Map<DeviceId, number>();

  constructor(parts: ClientParts) {
    this.#parts = parts;
  }

  start(): void {
    for (const userId of this.#parts.users) {
      this.#act(userId);
      this.#poll(userId, (user) => this.#parts.lampOf(user), new Poller());
      this.#poll(userId, (user) => this.#parts.sirenOf(user), new Poller());
      this.#poll(userId, (user) => this.#parts.virtualDeviceOf(user), new Poller());
    }
  }

  #act(userId: UserId): void {
    // Often several at once, because concurrency in one home is where errors appear.
    const { areRare, scheduler } = this.#parts.calls;
    const range: [number, number] = areRare ? [5_000, 60_000] : scheduler.dice.chance(0.4) ? [0, 10] : [50, 1_500];
    this.#parts.calls.laterOnSomeNode(`client of user ${userId}`, range, (node) => {
      if (this.areQuiet) return;
      const { dice } = scheduler;
      const virtual = this.#parts.virtualDeviceOf(userId);
      const lamp = this.#parts.lampOf(userId);
      const former = this.#parts.formerDevicesOf(userId);
      const what = dice.weighted({ lamp: 4, fan: 3, thing: 2, read: 4, former: former.length > 0 ? 1 : 0 });
      if (what === "lamp") this.#writeLamp(node, userId);
      else if (what === "fan" && virtual !== undefined) this.#writeFan(node, userId, virtual);
      else if (what === "thing" && virtual !== undefined) this.#commandThing(node, userId, virtual);
      else if (what === "former") this.#read(node, userId, dice.pick(former));
      else this.#read(node, userId, virtual !== undefined && dice.chance(0.5) ? virtual : lamp);
      this.#act(userId);
    });
  }

  #writeLamp(node: SimulatedNode, userId: UserId): void {
    const deviceId = this.#parts.lampOf(userId);
    const key = this.#parts.calls.scheduler.dice.pick(["power", "level"]);
    const write = this.#newWrite(deviceId);
    const updates = [{ deviceId, changes: [{ key, value: write.value }] }];
    this.#send(node, userId, write, updates);
  }

  #writeFan(node: SimulatedNode, userId: UserId, deviceId: DeviceId): void {
    const { dice } = this.#parts.calls.scheduler;
    const key = thermostatAttribute(dice.between(1, 2), dice.between(1, 3), "requestWrite");
    const value = dice.pick(["true", "true", "true", "false", "false", "false", "banana", null]);
    // The outcome is in the receipt, not in the history of values.
    const write: ClientWrite = { value: `fan ${value}`, deviceId, outcome: "open" };
    this.#send(node, userId, write, [{ deviceId, changes: [{ key, value }] }]);
  }

  #commandThing(node: SimulatedNode, userId: UserId, deviceId: DeviceId): void {
    const { dice } = this.#parts.calls.scheduler;
    const command = { trait: "fanTimer", command: dice.pick(["start", "stop"] as const), params: {} } as const;
    node.commandThermostat(userId, deviceId, command, (thingIds) => dice.pick(thingIds)).catch(expectOurs);
  }

  #send(
    node: SimulatedNode,
    userId: UserId,
    write: ClientWrite,
    updates: Parameters<SimulatedNode["commit"]>[0]["updates"],
  ): void {
    node.commit({ userId, cause: { by: "client", user: userId }, updates }).then(
      (commits) => {
        write.outcome = "acknowledged";
        this.#parts.calls.scheduler.note(`${write.value} is acknowledged by ${node.name}`);
        for (const { deviceId, timeMs } of commits) {
          this.#acknowledgedMs.set(deviceId, Math.max(timeMs, this.#acknowledgedMs.get(deviceId) ?? 0));
        }
      },
      (error) => {
        expectOurs(error);
        write.outcome = "refused";
      },
    );
  }

  #read(node: SimulatedNode, userId: UserId, deviceId: DeviceId): void {
    const { committedSoFar, formerDevicesOf } = this.#parts;
    const fromSeq = committedSoFar();
    const mustSeeMs = this.#acknowledgedMs.get(deviceId) ?? 0;
    const mustBeGone = formerDevicesOf(userId).includes(deviceId);
    node.states.get(userId, deviceId).then((state) => {
      const versionMs = state?.device.lastTimeMs ?? null;
      const attributes = state?.attributes ?? new Map();
      const toSeq = committedSoFar();
      this.reads.push({ node: node.name, deviceId, mustSeeMs, mustBeGone, fromSeq, toSeq, versionMs, attributes });
    }, expectOurs);
  }

  #poll(userId: UserId, deviceOf: (userId: UserId) => DeviceId | undefined, poller: Poller): void {
    const range: [number, number] = this.#parts.calls.areRare ? [2_000, 5_000] : [100, 2_000];
    this.#parts.calls.laterOnSomeNode(`poller of user ${userId}`, range, (node) => {
      const deviceId = deviceOf(userId);
      const next = () => this.#poll(userId, deviceOf, poller);
      if (deviceId === undefined) return next();
      poller.turnTo(deviceId);
      this.#parts.calls.untilAnswered(
        node.states.get(userId, deviceId),
        (state) => {
          const changes = state ? attributesSince(state, poller.sinceMs) : [];
          for (const { updateTimeMs } of changes) poller.sinceMs = Math.max(poller.sinceMs, updateTimeMs);
          this.polls.push({
            deviceId,
            sinceMs: poller.sinceMs,
            changes: changes.map(({ key, value, updateTimeMs }) => ({ key, value, timeMs: updateTimeMs })),
          });
          next();
        },
        next,
      );
    });
  }

  #newWrite(deviceId: DeviceId): ClientWrite {
    const write: ClientWrite = { value: `w${this.writes.length + 1}`, deviceId, outcome: "open" };
    this.writes.push(write);
    return write;
  }
}

/** Polls one device at a time; another device starts from nothing. */
class Poller {
  sinceMs = 0;
  #deviceId: DeviceId | undefined;

  turnTo(deviceId: DeviceId): void {
    if (this.#deviceId !== deviceId) this.sinceMs = 0;
    this.#deviceId = deviceId;
  }
}
