import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { eventuallySlowly, type Fleet, startFleet } from "../nodes/fleet.ts";
import type { Cluster } from "../set-up/postgres.ts";
import { numbersFrom } from "../set-up/seeded-random.ts";
import { EventWitness, type KnownIds } from "./event-witness.ts";
import { addLampOwners, historyOf, type LampOwner } from "./lamp-owner.ts";
import { LampWriter } from "./lamp-writer.ts";
import { Revoker } from "./revoker.ts";
import { WebhookWitness } from "./webhook-witness.ts";

export interface CrashPlan {
  readonly seed: number;
  /** The number of linked homes; the users of the first ones have a lamp each. */
  readonly links: number;
  readonly lamps: number;
}

/**
 * Settings for a small server whose crashes are cheap. fsync is on, so durable data survives. A rollback is not made
 * durable before the next commit, so a crash in between forgets it.
 */
export const smallServer = {
  shared_buffers: "16MB",
  max_wal_size: "64MB",
  wal_writer_delay: "10s",
  // One sync of the file system instead of one per file, where that is supported.
  ...(process.platform === "linux" && { recovery_init_sync_method: "syncfs" }),
  // Shared memory of a killed server is in its folder, and removed with it.
  dynamic_shared_memory_type: "mmap",
};

/** A lamp with a writer, a client that holds its stream, and a client that reconnects. */
export interface Lamp {
  readonly owner: LampOwner;
  readonly writer: LampWriter;
  readonly held: EventWitness;
  readonly roaming: EventWitness;
}

/** Three nodes on one database under load, with clients that detect lost events, repeated events and reused ids. */
export class CrashWorld {
  readonly fleet: Fleet;
  readonly lamps: readonly Lamp[];
  readonly webhooks: WebhookWitness;
  readonly revoker: Revoker;
  readonly random: () => number;
  readonly #anyNode: () => string;
  readonly #known: KnownIds;
  readonly #newcomers: EventWitness[] = [];
  #areHomesHeld = false;
  #changing: Promise<void> = Promise.resolve();

  private constructor(
    fleet: Fleet,
    lamps: readonly Lamp[],
    { webhooks, revoker, random }: Pick<CrashWorld, "webhooks" | "revoker" | "random">,
    { anyNode, known }: { readonly anyNode: () => string; readonly known: KnownIds },
  ) {
    this.#anyNode = anyNode;
    this.#known = known;
    this.fleet = fleet;
    this.lamps = lamps;
    this.webhooks = webhooks;
    this.revoker = revoker;
    this.random = random;
  }

  static async start(
    test: TestContext,
    cluster: Pick<Cluster, "createDatabase">,
    plan: CrashPlan,
  ): Promise<CrashWorld> {
    const random = numbersFrom(plan.seed);
    let world: CrashWorld | undefined;
    // Registered first, so that the clients end before the nodes.
    test.after(() => world?.stop());
    const environment = { BREEZEWAY_ALLOW_PRIVATE_WEBHOOKS: "true" };
    const fleet = await startFleet(test, cluster, { links: plan.links, environment });
    const anyNode = () => fleet.nodes[Math.floor(random() * fleet.nodes.length)]!.service.baseUrl;
    const users = fleet.homes.slice(0, plan.lamps).map(({ userId }) => userId);
    const { client, owners } = await addLampOwners(fleet.parts, users);
    const known: KnownIds = new Map();
    const lamps = owners.map((owner) => ({
      owner,
      writer: new LampWriter(owner, anyNode),
      held: new EventWitness(owner, anyNode, known),
      roaming: new EventWitness(owner, anyNode, known),
    }));
    const webhooks = new WebhookWitness(owners, anyNode);
    const revoker = new Revoker(fleet, client, owners[0]!, { anyNode, random });
    const started = new CrashWorld(fleet, lamps, { webhooks, revoker, random }, { anyNode, known });
    world = started;
    await fleet.untilShared(test.signal);
    await webhooks.start(test);
    await Promise.all(started.witnesses.map((witness) => witness.start()));
    started.releaseWriters();
    started.releaseHomes();
    return started;
  }

  get witnesses(): readonly EventWitness[] {
    return this.lamps.flatMap(({ held, roaming }) => [held, roaming]);
  }

  /** Resolves when each writer has got this many more acknowledgements. */
  async writes(each: number): Promise<void> {
    await Promise.all(this.lamps.map(({ writer }) => writer.acknowledges(each)));
  }

  async holdWriters(): Promise<void> {
    await Promise.all([...this.lamps.map(({ writer }) => writer.stop()), this.revoker.stop()]);
  }

  /** Stops changes in the homes until they are allowed again. */
  async holdHomes(): Promise<void> {
    this.#areHomesHeld = true;
    await this.#changing;
  }

  releaseHomes(): void {
    this.#areHomesHeld = false;
    this.#changing = this.#changeHomes();
  }

  releaseWriters(): void {
    for (const { writer } of this.lamps) writer.start();
    this.revoker.start();
  }

  /** Stops all clients; their records stay. */
  async stop(): Promise<void> {
    const witnesses = [...this.witnesses, ...this.#newcomers].map((witness) => witness.stop());
    await Promise.all([this.holdWriters(), this.holdHomes(), ...witnesses]);
  }

  /** The committed values of a lamp, the same at every node. */
  async history(signal: AbortSignal, { owner }: Lamp): Promise<readonly string[]> {
    const histories: (readonly string[])[] = [];
    for (const { service } of this.fleet.nodes) {
      await eventuallySlowly(signal, async () => {
        const history = await historyOf(service.baseUrl, owner);
        assert.ok(history, "a node did not return the history");
        histories.push(history);
      });
    }
    for (const other of histories) assert.deepEqual(other, histories[0], "two nodes show different histories");
    return histories[0]!;
  }

  /** Adds another client of each lamp, whose stream begins now; it knows the earlier values. */
  async newcomers(histories: readonly (readonly string[])[]): Promise<readonly EventWitness[]> {
    const newcomers = this.lamps.map(({ owner }) => new EventWitness(owner, this.#anyNode, this.#known));
    this.#newcomers.push(...newcomers);
    await Promise.all(newcomers.map((newcomer, i) => newcomer.start(histories[i])));
    return newcomers;
  }

  histories(signal: AbortSignal): Promise<(readonly string[])[]> {
    return Promise.all(this.lamps.map((lamp) => this.history(signal, lamp)));
  }

  /** No process has ended, and no client has seen a violation of the interface. */
  assertSound(): void {
    for (const { name, service } of this.fleet.nodes) {
      const { exitCode, signalCode } = service.process;
      assert.deepEqual([exitCode, signalCode], [null, null], `${name} has ended`);
    }
    const violations = [
      ...this.witnesses.flatMap((witness) => witness.violations),
      ...this.webhooks.violations,
      ...this.revoker.violations,
      ...this.lamps.flatMap(({ writer }) => writer.wrongStatuses.map((status) => `a write was answered ${status}`)),
    ];
    assert.deepEqual(violations.slice(0, 10), [], `${violations.length} violations`);
  }

  /** Every client knows all committed values: by events, by webhook messages, or by reading again after a `resync`. */
  async untilAllKnown(signal: AbortSignal): Promise<void> {
    const histories = await this.histories(signal);
    const told = (values: (lamp: Lamp) => ReadonlySet<string>) => this.lamps.map(values);
    const { webhooks } = this;
    await untilKnown(
      signal,
      "a held stream",
      histories,
      told(({ held }) => held.values),
    );
    await untilKnown(
      signal,
      "a stream that comes and goes",
      histories,
      told(({ roaming }) => roaming.values),
    );
    await untilKnown(
      signal,
      "a webhook",
      histories,
      told(({ owner }) => webhooks.valuesOf(owner)),
    );
  }

  /** No node accepts a revoked token. */
  async assertRevoked(): Promise<void> {
    for (const { token } of this.revoker.revoked) {
      for (const { service } of this.fleet.nodes) {
        assert.equal(await this.revoker.statusOf(token, service.baseUrl), 401, "a revoked token is good again");
      }
    }
  }

  figures(): string {
    const sum = (count: (lamp: Lamp) => number) => this.lamps.reduce((total, lamp) => total + count(lamp), 0);
    const acknowledged = sum(({ writer }) => writer.acknowledged.length);
    const refused = sum(({ writer }) => writer.refused);
    const events = sum(({ held, roaming }) => held.eventCount + roaming.eventCount);
    const resyncs = sum(({ held, roaming }) => held.resyncs.length + roaming.resyncs.length);
    return (
      `${acknowledged} writes acknowledged, ${refused} refused with 503, ${events} events and ${resyncs} resyncs received, ` +
      `${this.webhooks.messages} webhook messages (${this.webhooks.resyncs} resyncs), ` +
      `${this.revoker.revoked.length} revocations`
    );
  }

  /** Changes the presence in the homes all the time. */
  async #changeHomes(): Promise<void> {
    while (!this.#areHomesHeld) {
      const home = this.fleet.homes[Math.floor(this.random() * this.fleet.homes.length)]!;
      await this.fleet.change([home.accountId]);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/** The clients of all lamps know all committed values. */
export async function untilKnown(
  signal: AbortSignal,
  client: string,
  histories: readonly (readonly string[])[],
  known: readonly ReadonlySet<string>[],
): Promise<void> {
  await eventuallySlowly(AbortSignal.any([signal, AbortSignal.timeout(knownWithinMs)]), () => {
    for (const [i, committed] of histories.entries()) {
      const missing = committed.filter((value) => !known[i]!.has(value));
      assert.deepEqual(missing, [], `${client} missed ${missing.length} of ${committed.length}, without a resync`);
    }
  });
}

/** Longer than two retries of a webhook delivery: a value that is still unknown then was missed, not late. */
const knownWithinMs = 120_000;
