import { attributesSince } from "../../src/devices/read.ts";
import { thermostatAttribute } from "../../src/model/attribute-names.ts";
import { AlreadyFederated, BreezewayError, NotFound } from "../../src/model/errors.ts";
import type { DeviceId, UserId } from "../../src/model/ids.ts";
import type { ClientRead, ClientWrite, Poll } from "./history.ts";
import type { SimulatedNode } from "./node.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Upstream } from "./upstream.ts";

export interface ClientParts {
  readonly scheduler: Scheduler;
  readonly upstream: Upstream;
  readonly users: readonly UserId[];
  /** Those that answer now; it may freeze or die before it has. */
  readonly readyNodes: () => readonly SimulatedNode[];
  readonly lampOf: (userId: UserId) => DeviceId;
  readonly virtualDeviceOf: (userId: number) => DeviceId | undefined;
}

const givenUpAfterMs = 5_000;

/** The people and programs that use the service, each call on any node: they write, read, poll, link and link again. */
export class Clients {
  readonly writes: ClientWrite[] = [];
  readonly reads: ClientRead[] = [];
  readonly polls: Poll[] = [];
  /** When it is quiet nobody writes any more; pollers go on. */
  areQuiet = false;
  readonly #parts: ClientParts;
  readonly #acknowledgedMs = new Map<DeviceId, number>();
  readonly #linked = new Set<UserId>();

  constructor(parts: ClientParts) {
    this.#parts = parts;
  }

  start(): void {
    for (const userId of this.#parts.users) {
      this.#link(userId);
      if (this.#parts.scheduler.dice.chance(0.3)) this.#link(userId);
      this.#act(userId);
      this.#poll(userId, (user) => this.#parts.lampOf(user), new Poller());
      this.#poll(userId, (user) => this.#parts.virtualDeviceOf(user), new Poller());
    }
  }

  /** A person gives the service the account's new token, and tries until it is taken. */
  relink(userId: UserId): void {
    this.#laterOnSomeNode(`user ${userId} links again`, [200, 4_000], (node) => {
      this.#untilAnswered(
        node.federation.relink(userId, "Nest", this.#parts.upstream.token(userId)),
        () => undefined,
        () => this.relink(userId),
      );
    });
  }

  #link(userId: UserId): void {
    this.#laterOnSomeNode(`user ${userId} links`, [0, 3_000], (node) => {
      if (this.#linked.has(userId)) return;
      this.#untilAnswered(
        node.federation.link(userId, "Nest", this.#parts.upstream.token(userId)),
        () => this.#linked.add(userId),
        (error) => {
          if (error instanceof AlreadyFederated) this.#linked.add(userId);
          else this.#link(userId);
        },
      );
    });
  }

  #act(userId: UserId): void {
    // Often several at once: what happens in one home at the same time is what can go wrong.
    const range: [number, number] = this.#parts.scheduler.dice.chance(0.4) ? [0, 10] : [50, 1_500];
    this.#laterOnSomeNode(`client of user ${userId}`, range, (node) => {
      if (this.areQuiet) return;
      const { dice } = this.#parts.scheduler;
      const virtual = this.#parts.virtualDeviceOf(userId);
      const lamp = this.#parts.lampOf(userId);
      const what = dice.weighted({ lamp: 4, fan: 3, read: 4 });
      if (what === "lamp") this.#writeLamp(node, userId);
      else if (what === "fan" && virtual !== undefined) this.#writeFan(node, userId, virtual);
      else this.#read(node, userId, virtual !== undefined && dice.chance(0.5) ? virtual : lamp);
      this.#act(userId);
    });
  }

  #writeLamp(node: SimulatedNode, userId: UserId): void {
    const deviceId = this.#parts.lampOf(userId);
    const key = this.#parts.scheduler.dice.pick(["power", "level"]);
    const write = this.#newWrite(deviceId);
    const updates = [{ deviceId, changes: [{ key, value: write.value }] }];
    this.#send(node, userId, write, updates);
  }

  #writeFan(node: SimulatedNode, userId: UserId, deviceId: DeviceId): void {
    const { dice } = this.#parts.scheduler;
    const [x, y] = [dice.between(1, 2), dice.between(1, 3)];
    const write = this.#newWrite(deviceId);
    const key = thermostatAttribute(x, y, "requestWrite");
    this.#send(node, userId, write, async (tx) => {
      const [occupant] = await tx.attributes.some(userId, deviceId, [thermostatAttribute(x, y, "deviceId")]);
      if (!occupant?.value) throw new NotFound("Thermostat not found");
      return [{ deviceId, changes: [{ key, value: write.value }] }];
    });
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
        this.#parts.scheduler.note(`${write.value} is acknowledged by ${node.name}`);
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
    const mustSeeMs = this.#acknowledgedMs.get(deviceId) ?? 0;
    node.states.get(userId, deviceId).then((state) => {
      const versionMs = state?.device.lastTimeMs ?? -1;
      const attributes = state?.attributes ?? new Map();
      this.reads.push({ node: node.name, deviceId, mustSeeMs, versionMs, attributes });
    }, expectOurs);
  }

  #poll(userId: UserId, deviceOf: (userId: UserId) => DeviceId | undefined, poller: Poller): void {
    this.#laterOnSomeNode(`poller of user ${userId}`, [100, 2_000], (node) => {
      const deviceId = deviceOf(userId);
      const next = () => this.#poll(userId, deviceOf, poller);
      if (deviceId === undefined) return next();
      this.#untilAnswered(
        node.states.get(userId, deviceId),
        (state) => {
          const told = state ? attributesSince(state, poller.sinceMs) : [];
          for (const { updateTimeMs } of told) poller.sinceMs = Math.max(poller.sinceMs, updateTimeMs);
          this.polls.push({
            deviceId,
            sinceMs: poller.sinceMs,
            told: told.map(({ key, value, updateTimeMs }) => ({ key, value, timeMs: updateTimeMs })),
          });
          next();
        },
        next,
      );
    });
  }

  /** A call whose node never answers is given up; what it answers later is not heard. */
  #untilAnswered<Result>(
    call: Promise<Result>,
    done: (result: Result) => void,
    failed: (error: unknown) => void,
  ): void {
    let isOver = false;
    const once = (act: () => void) => {
      if (isOver) return;
      isOver = true;
      giveUp();
      act();
    };
    const giveUp = this.#parts.scheduler.after(givenUpAfterMs, undefined, "a client gives up", () =>
      once(() => failed(undefined)),
    );
    call.then(
      (result) => once(() => done(result)),
      (error) => {
        expectOurs(error);
        once(() => failed(error));
      },
    );
  }

  #laterOnSomeNode(what: string, range: readonly [number, number], act: (node: SimulatedNode) => void): void {
    const { scheduler, readyNodes } = this.#parts;
    scheduler.after(scheduler.dice.between(...range), undefined, what, () => {
      const nodes = readyNodes();
      if (nodes.length === 0) this.#laterOnSomeNode(what, range, act);
      else act(scheduler.dice.pick(nodes));
    });
  }

  #newWrite(deviceId: DeviceId): ClientWrite {
    const write: ClientWrite = { value: `w${this.writes.length + 1}`, deviceId, outcome: "open" };
    this.writes.push(write);
    return write;
  }
}

class Poller {
  sinceMs = 0;
}

/** A call may fail in the ways that have a name; any other is a mistake of the core, and ends the run. */
function expectOurs(error: unknown): void {
  if (!(error instanceof BreezewayError)) throw error;
}
