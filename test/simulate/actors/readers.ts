import type { DeviceId, UserId } from "../../../src/model/ids.ts";
import type { Frame, Position, ReaderRecord } from "../checks/history.ts";
import type { Faults } from "../faults.ts";
import type { SimulatedNode } from "../node.ts";
import { Outlet } from "../outlet.ts";
import { tenantId } from "../own-things/rows.ts";
import type { Calls } from "./calls.ts";

export interface ReaderParts {
  readonly calls: Calls;
  readonly faults: Faults;
  readonly users: readonly UserId[];
  readonly lampOf: (userId: UserId) => DeviceId;
  readonly committedSoFar: () => number;
  /** The position up to which the log was truncated. */
  readonly horizon: () => Position;
  /** Whether the log is truncated while a reader is away. */
  readonly hasShortRetention: boolean;
}

/** Clients that follow event streams. Each loses its connection now and then, and resumes on any node. */
export class Readers {
  readonly records: readonly ReaderRecord[];
  readonly #readers: readonly Reader[];

  constructor(parts: ReaderParts) {
    const { dice } = parts.calls.scheduler;
    // Half of the runs have no readers, which makes them faster.
    this.#readers = (dice.chance(0.5) ? parts.users : []).flatMap((userId) => [
      ...(dice.chance(0.8) ? [new Reader(parts, userId, [])] : []),
      ...(dice.chance(0.3) ? [new Reader(parts, userId, [parts.lampOf(userId)])] : []),
    ]);
    this.records = this.#readers;
  }

  start(): void {
    for (const reader of this.#readers) reader.connect();
  }

  disconnect(node: SimulatedNode): void {
    for (const reader of this.#readers) reader.disconnect(node);
  }

  beQuiet(): void {
    for (const reader of this.#readers) reader.isQuiet = true;
  }
}

class Reader implements ReaderRecord {
  readonly userId: UserId;
  readonly deviceIds: readonly DeviceId[];
  readonly frames: Frame[] = [];
  /** The reader no longer disconnects by itself. */
  isQuiet = false;
  readonly #parts: ReaderParts;
  readonly #weight: number;
  #outlet: Outlet | undefined;
  #lastNode: SimulatedNode | undefined;
  #unfinished = "";

  constructor(parts: ReaderParts, userId: UserId, deviceIds: readonly DeviceId[]) {
    this.#parts = parts;
    this.userId = userId;
    this.deviceIds = deviceIds;
    this.#weight = parts.calls.scheduler.dice.pick([1, 1, 1, 40]);
  }

  connect(): void {
    const { calls, faults } = this.#parts;
    const { scheduler } = calls;
    const isAsleep = this.#parts.hasShortRetention && !this.isQuiet && scheduler.dice.chance(0.2);
    const range: readonly [number, number] = isAsleep ? [20_000, 60_000] : [0, 2_000];
    calls.laterOnSomeNode(`reader of user ${this.userId}`, range, (node) => {
      const outlet = new Outlet({
        scheduler,
        node,
        weight: this.#weight,
        arrived: (text, wasSlow) => this.#read(text, wasSlow),
        gone: () => this.#left(outlet),
      });
      this.#outlet = outlet;
      this.#unfinished = "";
      const lastEventId = this.frames.at(-1)?.id;
      if (lastEventId !== undefined && node !== this.#lastNode) faults.count("reader resumed elsewhere");
      this.#lastNode = node;
      const { userId, deviceIds } = this;
      const filter = { deviceIds, attributes: [] };
      const hasExpired = () => false;
      const accessScope = { kind: "user", userId, tenantId } as const;
      node.events.beginning(lastEventId).then(
        (beginning) => {
          if (!outlet.closed.aborted)
            node.events.follow({ clientId: "reader", accessScope, filter, beginning, hasExpired }, outlet);
        },
        () => outlet.drop(),
      );
      scheduler.after(scheduler.dice.between(500, 15_000), undefined, `reader of user ${userId} tires`, () => {
        if (this.isQuiet || outlet.closed.aborted || calls.areRare) return;
        faults.count("reader dropped");
        outlet.drop();
      });
    });
  }

  disconnect(node: SimulatedNode): void {
    if (this.#outlet?.node === node) this.#outlet.drop();
  }

  #left(outlet: Outlet): void {
    if (this.#outlet !== outlet) return;
    this.#outlet = undefined;
    this.connect();
  }

  #read(text: string, wasSlow: boolean): void {
    const pieces = (this.#unfinished + text).split("\n\n");
    this.#unfinished = pieces.pop()!;
    const [seq, horizon] = [this.#parts.committedSoFar(), this.#parts.horizon()];
    for (const piece of pieces) {
      const fields = new Map(piece.split("\n").map((line) => splitAt(line, ": ")));
      const [id, name] = [fields.get("id"), fields.get("event")];
      if (id === undefined || name === undefined) continue;
      if (name === "resync") this.#parts.faults.count("reader got a resync");
      this.frames.push({ id, name, data: fields.get("data")!, seq, horizon, wasSlow });
    }
  }
}

function splitAt(line: string, separator: string): readonly [string, string] {
  const index = line.indexOf(separator);
  return [line.slice(0, index), line.slice(index + separator.length)];
}
