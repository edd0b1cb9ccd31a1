import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { setTimeout as pass } from "node:timers/promises";
import { addClient, addGrant } from "../../bench/granted-client.ts";
import { smallServer } from "../crashes/crash-world.ts";
import { type CommitCutter, type Fate, startCommitCutter } from "../set-up/commit-cutter.ts";
import { type Cluster, startCluster } from "../set-up/postgres.ts";
import { numbersFrom } from "../set-up/seeded-random.ts";
import { V3Client } from "../stories/v3-client.ts";
import { ChangingHomes } from "./changing-homes.ts";
import { eventuallySlowly, type Fleet, type FleetNode, startFleet } from "./fleet.ts";
import { SincePoller } from "./since-poller.ts";

export interface RandomFaultsPlan {
  readonly seed: number;
  readonly faults: number;
  readonly links: number;
}

const faultNames = [
  "node killed",
  "node frozen",
  "node cut off",
  "connections of a node broken",
  "database killed",
  "database stopped",
  "answers to COMMIT lost",
  "COMMITs lost",
] as const;

type FaultName = (typeof faultNames)[number];

/** What one fault needs. */
interface Scene {
  readonly test: TestContext;
  readonly fleet: Fleet;
  readonly cluster: Cluster;
  readonly cutter: CommitCutter;
  /** Chooses the faults, and nothing that depends on the time, so that a seed repeats them. */
  readonly random: () => number;
  /** For whatever happens meanwhile. */
  readonly dice: () => number;
}

/** Homes that clients with `since` read while faults happen. */
const polledHomes = 6;
const pollPauseMs = 100;
/** How many COMMITs are lost in one fault. */
const lostCommits = 4;
/** Both sides of a lease (6 s): some of these faults move links, others do not. */
const lastsMs = { from: 1_000, to: 10_000 };
/** Statements of a commit's transaction: of one that is alone, and of a group. */
const writesAttributes = /INSERT INTO attributes/;

/**
 * Homes change all the time, many of them together, while faults in random order hit three nodes and their database. In
 * the end every change was mirrored, every alert fired once for each transition, times rose, clients with `since` got
 * every change, and no node has written to a link of another.
 */
export async function liveThroughRandomFaults(test: TestContext, plan: RandomFaultsPlan): Promise<void> {
  const [random, dice] = [numbersFrom(plan.seed), numbersFrom(plan.seed + 1)];
  const cluster = await startCluster({ settings: smallServer });
  let cutter: CommitCutter | undefined;
  const reachThrough = async (databaseUrl: string) => {
    cutter = await startCommitCutter(databaseUrl, writesAttributes);
    return cutter.url;
  };
  const fleet = await startFleet(test, cluster, { links: plan.links, reachThrough });
  test.after(async () => {
    await cutter?.stop();
    await cluster.stop();
  });
  const scene: Scene = { test, fleet, cluster, cutter: cutter!, random, dice };
  await fleet.untilShared(test.signal);
  const homes = await ChangingHomes.of(fleet, dice);
  const readers = await Readers.of(fleet, dice);
  test.after(() => Promise.all([homes.stop(), readers.stop()]));
  homes.start();
  readers.start();
  let deck: FaultName[] = [];
  for (let fault = 1; fault <= plan.faults; fault++) {
    if (deck.length === 0) deck = [...faultNames];
    const [name] = deck.splice(Math.floor(random() * deck.length), 1) as [FaultName];
    const startedMs = performance.now();
    await faults[name](scene);
    // Each home has changed and was mirrored after the fault.
    await homes.untilChanged(test.signal);
    readers.assertNoneWrong();
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
    process.stderr.write(`seed ${plan.seed}, fault ${fault} of ${plan.faults}: ${name}, over after ${seconds} s\n`);
  }
  await homes.stop();
  await readers.stop();
  const grouped = await changesInGroups(fleet);
  await fleet.untilReceived(
    test.signal,
    fleet.homes.map(({ accountId }) => accountId),
  );
  await fleet.untilMirrored(test.signal);
  await homes.assertFiredOnceEach();
  await assertTimesRise(fleet);
  await readers.assertWhole();
  const { foreign, writes } = await fleet.witnessed();
  assert.equal(foreign, 0, "a node wrote to a device whose link was not its own");
  assert.ok(grouped > 0, "changes shared transactions");
  test.diagnostic(
    `seed ${plan.seed}: ${plan.faults} faults, ${homes.changes} changes, ${writes} values mirrored, none by an old epoch; ` +
      `COMMITs cut: ${JSON.stringify(scene.cutter.cuts)}; the nodes that live now made ${grouped} groups of several changes`,
  );
}

const faults: Readonly<Record<FaultName, (scene: Scene) => Promise<void>>> = {
  async "node killed"({ fleet, random }) {
    const [dying] = fleet.nodes.splice(Math.floor(random() * fleet.nodes.length), 1) as [FleetNode];
    fleet.gone.push(dying);
    dying.service.process.kill("SIGKILL");
    await fleet.startNode(`replacement ${fleet.gone.length}`);
  },
  async "node frozen"({ fleet, random }) {
    const { service } = anyOf(fleet.nodes, random);
    service.process.kill("SIGSTOP");
    await pass(duration(random));
    service.process.kill("SIGCONT");
  },
  async "node cut off"({ fleet, random }) {
    const { proxy } = anyOf(fleet.nodes, random);
    proxy.mood = "half-open";
    await pass(duration(random));
    proxy.mood = "open";
    proxy.drop();
  },
  async "connections of a node broken"({ fleet, random }) {
    anyOf(fleet.nodes, random).proxy.drop();
  },
  async "database killed"({ cluster }) {
    await cluster.kill();
  },
  async "database stopped"({ cluster, random }) {
    await cluster.halt();
    await pass(duration(random));
    await cluster.start();
  },
  "answers to COMMIT lost": (scene) => loseCommits(scene, "after"),
  "COMMITs lost": (scene) => loseCommits(scene, "before"),
};

async function loseCommits({ test, cutter, dice }: Scene, fate: Exclude<Fate, "pass">): Promise<void> {
  const until = cutter.cuts[fate] + lostCommits;
  cutter.fate = () => (dice() < 0.5 ? fate : "pass");
  await eventuallySlowly(test.signal, () => assert.ok(cutter.cuts[fate] >= until));
  cutter.fate = () => "pass";
}

function anyOf<Item>(items: readonly Item[], random: () => number): Item {
  return items[Math.floor(random() * items.length)]!;
}

function duration(random: () => number): number {
  return lastsMs.from + random() * (lastsMs.to - lastsMs.from);
}

/** How many groups of several changes the nodes have committed that live now. */
async function changesInGroups({ nodes }: Fleet): Promise<number> {
  let groups = 0;
  for (const { service } of nodes) {
    const text = await (await fetch(`${service.baseUrl}/metrics`)).text();
    const figure = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1] ?? 0);
    groups += figure("breezeway_store_group_size_count") - figure('breezeway_store_group_size_bucket\\{le="1"\\}');
  }
  return groups;
}

/** Of each device, each commit's time is later than that of the one before. */
async function assertTimesRise({ sql }: Fleet): Promise<void> {
  const { rows } = await sql.query(
    `SELECT device_id, before_ms, time_ms FROM (
       SELECT device_id, time_ms, lag(time_ms) OVER (PARTITION BY device_id ORDER BY id) AS before_ms
       FROM log WHERE kind = 'attribute') entries
     WHERE time_ms <= before_ms LIMIT 10`,
  );
  assert.deepEqual(rows, [], "times of a device did not rise");
}

/** Clients that poll some homes with `since`, each time at any node, and try again where a node can't answer. */
class Readers {
  readonly #pollers: readonly SincePoller[];
  readonly #anyNode: () => string;
  readonly #wrong: unknown[] = [];
  #isStopped = false;
  #running: Promise<unknown> = Promise.resolve();

  static async of(fleet: Fleet, random: () => number): Promise<Readers> {
    const { oauth, store } = fleet.parts;
    const homes = fleet.homes.slice(0, polledHomes);
    const { tenantId } = (await store.read((tx) => tx.users.byId(homes[0]!.userId)))!;
    const client = await addClient({ oauth }, tenantId);
    const anyNode = () => anyOf(fleet.nodes, random).service.baseUrl;
    const pollers: SincePoller[] = [];
    for (const { userId, deviceId } of homes) {
      const { accessToken } = await store.transaction((tx) => addGrant(tx, client, userId));
      pollers.push(new SincePoller(new V3Client(anyNode, accessToken), deviceId));
    }
    return new Readers(pollers, anyNode);
  }

  private constructor(pollers: readonly SincePoller[], anyNode: () => string) {
    this.#pollers = pollers;
    this.#anyNode = anyNode;
  }

  start(): void {
    this.#running = Promise.all(this.#pollers.map((poller) => this.#read(poller)));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  assertNoneWrong(): void {
    assert.deepEqual(this.#wrong, []);
  }

  /** The collected answers of each client equal the whole device. */
  async assertWhole(): Promise<void> {
    this.assertNoneWrong();
    for (const poller of this.#pollers) {
      await poller.poll(this.#anyNode());
      await poller.assertWhole(this.#anyNode());
    }
  }

  async #read(poller: SincePoller): Promise<void> {
    while (!this.#isStopped) {
      await poller.poll(this.#anyNode()).catch((error) => {
        // Anything else means that a node did not answer, as in a fault it may.
        if (error instanceof assert.AssertionError) this.#wrong.push(error);
      });
      await pass(pollPauseMs);
    }
  }
}
