import type { Post } from "../../src/events/webhooks/post.ts";
import { noNodeBus } from "../../src/store/node-bus.ts";
import type { LinkRow } from "../../src/store/tables/links.ts";
import type { Makers } from "./assistants/makers.ts";
import type { Interval } from "./checks/history.ts";
import { Clock } from "./clocks.ts";
import type { Dice } from "./dice.ts";
import type { Upstream } from "./ecosystem/upstream.ts";
import type { FaultKind, Faults } from "./faults.ts";
import { type OtherWires, SimulatedNode } from "./node.ts";
import type { Process, Scheduler } from "./scheduler.ts";
import { MemoryStore, type StoreClient } from "./store/memory-store.ts";
import { QueuedStore } from "./store/queued-store.ts";
import type { Database } from "./store/rows.ts";

const hourMs = 3_600_000;

export interface DeploymentParts extends OtherWires {
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly database: Database;
  readonly upstream: Upstream;
  readonly postFor: (node: SimulatedNode) => Post;
  readonly newWebhookId: () => string;
  readonly logDays: number;
  readonly hasOwnThings: boolean;
  readonly makers: Makers | undefined;
  readonly confirmEveryMs: number;
  readonly linkOf: (userId: number) => LinkRow | undefined;
  /** Whether all clocks are right. */
  readonly areClocksRight: boolean;
  /** Called when a node has died, so that its connections can be closed. */
  readonly died: (node: SimulatedNode) => void;
}

/** The machines: the nodes, their store (shared, or the single node's own), and the faults of both. */
export class Deployment {
  readonly nodes: SimulatedNode[] = [];
  readonly frozen: (Interval & { readonly node: string })[] = [];
  readonly #parts: DeploymentParts;
  readonly #store: MemoryStore | undefined;
  readonly #frozenSince = new Map<SimulatedNode, number>();
  #started = 0;

  constructor(parts: DeploymentParts, nodes: number, isShared: boolean) {
    this.#parts = parts;
    const { scheduler, faults, database } = parts;
    if (isShared) this.#store = new MemoryStore(database, scheduler, faults, new Clock(scheduler, 0));
    for (let slot = 0; slot < (isShared ? nodes : 1); slot++) this.#start(slot, scheduler.dice.between(0, 500));
  }

  get living(): SimulatedNode[] {
    return this.nodes.filter((node) => !node.isDead);
  }

  /** Injects a random fault into a machine. */
  strike(): void {
    const { faults, scheduler, areClocksRight } = this.#parts;
    const { dice } = scheduler;
    const weights: Partial<Record<FaultKind, number>> = {
      "node killed": 3,
      "node frozen": 3,
      "node drained": 1,
      ...(!areClocksRight && { "node clock jumped": 2 }),
      ...(this.#store && { "node cut off": 3, "store down": 1, "store crashed": 1, "store slow": 2, "place lost": 1 }),
      ...(this.#store && !areClocksRight && { "store clock jumped": 1 }),
    };
    for (const kind of Object.keys(weights) as FaultKind[]) weights[kind]! *= faults.strength(kind);
    const kind = dice.weighted(weights);
    const slot = dice.below(this.nodes.length);
    const node = this.nodes[slot];
    if (!kind || !node || node.isDead) return;
    faults.count(kind);
    scheduler.note(`${kind} (${node.name})`);
    if (kind === "node killed") this.#kill(slot);
    if (kind === "node drained") this.#drain(slot);
    if (kind === "node frozen") {
      node.isFrozen = true;
      this.#frozenSince.set(node, this.#frozenSince.get(node) ?? scheduler.nowMs);
      this.#later(dice.pick([300, 2_000, 7_000, 15_000]), `${node.name} thaws`, () => this.#thaw(node));
    }
    if (kind === "node cut off") {
      node.isCut = true;
      this.#later(dice.pick([200, 2_000, 8_000]), `${node.name} is connected again`, () => {
        node.isCut = false;
      });
    }
    if (kind === "node clock jumped") node.clock.offsetMs += dice.between(-hourMs, hourMs) / dice.pick([1, 60, 3_600]);
    if (kind === "place lost") this.#store?.places.lose(node);
    if (this.#store) this.#strikeStore(kind, this.#store);
  }

  kill(node: Process): void {
    const slot = this.nodes.indexOf(node as SimulatedNode);
    if (slot >= 0) this.#kill(slot);
  }

  /** Repairs everything, and injects no more faults. */
  repair(): void {
    const { scheduler, faults } = this.#parts;
    scheduler.note("the faults are over");
    faults.areOver = true;
    for (const node of this.nodes) {
      node.isCut = false;
      if (node.isFrozen) this.#thaw(node);
    }
    if (!this.#store) return;
    if (this.#store.isDown) this.#store.upSinceMs = scheduler.nowMs;
    this.#store.isDown = false;
    this.#store.slowUntilMs = 0;
    this.#store.refusesUntilMs = 0;
  }

  #strikeStore(kind: FaultKind, store: MemoryStore): void {
    const { scheduler } = this.#parts;
    const { dice } = scheduler;
    if (kind === "store clock jumped") store.clock.offsetMs += dice.between(-3_000, 3_000) * dice.pick([1, 10]);
    if (kind === "store slow") store.slowUntilMs = scheduler.nowMs + dice.between(1_000, 8_000);
    if (kind === "store down") this.#stopStore(store);
    if (kind === "store crashed") {
      // A full disk before the crash: the ids of all refused transactions are assigned again.
      const refusesMs = dice.pick([0, 500, 2_000, 6_000]);
      store.refuse(refusesMs);
      this.#later(refusesMs, "the store crashes", () => {
        if (this.#parts.faults.areOver) return;
        store.crash();
        this.#stopStore(store);
      });
    }
  }

  #stopStore(store: MemoryStore): void {
    const { scheduler } = this.#parts;
    store.isDown = true;
    for (const node of this.living) store.places.lose(node);
    this.#later(scheduler.dice.between(500, 8_000), "the store is back", () => {
      if (store.isDown) store.upSinceMs = scheduler.nowMs;
      store.isDown = false;
    });
  }

  #start(slot: number, delayMs: number): void {
    const { scheduler, faults, database, areClocksRight } = this.#parts;
    this.#later(delayMs, `node ${slot} starts`, () => {
      this.#started += 1;
      const clock = new Clock(scheduler, areClocksRight ? 0 : scheduler.dice.between(-hourMs, hourMs));
      const crash = () => this.#kill(slot);
      const node = new SimulatedNode({
        ...this.#parts,
        name: `n${slot}.${this.#started}`,
        clock,
        way: wayToStore(scheduler.dice),
        storeFor: (client) =>
          this.#store?.for(client) ?? new QueuedStore({ database, client, scheduler, faults, clock, crash }),
        nodeBusFor: (client) => this.#store?.places.for(client) ?? noNodeBus,
        committedSoFar: () => database.history.length,
      });
      this.nodes[slot] = node;
      // A service that cannot start exits, and its supervisor starts it again.
      node.start().catch((error) => {
        scheduler.note(`${node.name} could not start: ${error.message}`);
        this.#kill(slot);
      });
    });
  }

  #thaw(node: SimulatedNode): void {
    const { scheduler } = this.#parts;
    const fromMs = this.#frozenSince.get(node);
    if (fromMs !== undefined) this.frozen.push({ node: node.name, fromMs, toMs: scheduler.nowMs });
    this.#frozenSince.delete(node);
    scheduler.thaw(node);
  }

  #kill(slot: number): void {
    const node = this.nodes[slot]!;
    if (node.isDead) return;
    this.#thaw(node);
    node.isDead = true;
    this.#store?.disconnect(node);
    this.#parts.upstream.disconnect(node);
    this.#parts.died(node);
    this.#start(slot, this.#parts.scheduler.dice.pick([50, 1_000, 8_000]));
  }

  #drain(slot: number): void {
    const node = this.nodes[slot]!;
    const end = () => {
      if (this.nodes[slot] === node) this.#kill(slot);
    };
    node.drain().then(end, end);
    this.#later(6_000, `${node.name} is stopped again`, end);
  }

  #later(delayMs: number, what: string, act: () => void): void {
    this.#parts.scheduler.after(delayMs, undefined, what, act);
  }
}

/** Some nodes have a slow connection to the store, in one or both directions, and so a less exact store clock. */
function wayToStore(dice: Dice): StoreClient["way"] {
  const farMs = dice.chance(0.15) ? dice.between(40, 100) : 0;
  return dice.chance(0.5) ? { thereMs: farMs, backMs: 0 } : { thereMs: 0, backMs: farMs };
}
