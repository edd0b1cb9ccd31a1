import { rmSync } from "node:fs";
import type { TestContext } from "node:test";
import { commitOn } from "../../src/devices/commit.ts";
import { DeviceStates } from "../../src/devices/states.ts";
import type { Connector } from "../../src/ecosystems/connector.ts";
import type { Credential } from "../../src/ecosystems/credential.ts";
import { openCredential } from "../../src/federation/credential.ts";
import { federationOn } from "../../src/federation/federation.ts";
import { feedsOn } from "../../src/federation/feeds/feeds.ts";
import { StoreUnavailable } from "../../src/model/errors.ts";
import type { DeviceId, NodeId, UserId } from "../../src/model/ids.ts";
import { Membership } from "../../src/nodes/membership.ts";
import { OutgoingCalls } from "../../src/runtime/network/outgoing-calls.ts";
import { pause, type Runtime } from "../../src/runtime/runtime.ts";
import { sealingWith } from "../../src/store/keys/sealing.ts";
import type { OpenStore, Store } from "../../src/store/seam.ts";
import { openSqlite } from "../../src/store/sqlite/store.ts";
import { makeHome } from "../contracts/store/home.ts";
import { plainThingIds } from "../home/thing-ids.ts";
import { newDataFolder } from "../set-up/sqlite-template.ts";
import { flushPromises, manualRuntime } from "./manual-runtime.ts";
import { RenewingEcosystem } from "./renewing-ecosystem.ts";

/** An ecosystem whose tokens expire. */
export interface RenewedEcosystem {
  connector(): Connector & Required<Pick<Connector, "renew">>;
  /** A new credential for an account. */
  consent(name: string): Credential;
  /** Calls over the network that are in progress: no time passes meanwhile. */
  readonly inProgress?: number;
}

export interface RenewalPlan<Ecosystem extends RenewedEcosystem> {
  readonly random?: () => number;
  /** A scripted ecosystem when left out. */
  readonly ecosystem?: (runtime: Runtime) => Ecosystem | Promise<Ecosystem>;
}

export interface LinkedAccount {
  readonly name: string;
  readonly userId: UserId;
  readonly deviceId: DeviceId;
}

export const sealing = sealingWith(new Uint8Array(32).fill(7));

/** Nodes of one deployment on one real SQLite store, which they share, and an ecosystem whose tokens expire. */
export async function madeRenewal<Ecosystem extends RenewedEcosystem = RenewingEcosystem>(
  t: TestContext,
  plan: RenewalPlan<Ecosystem> = {},
) {
  const { random = () => 0.5 } = plan;
  const folder = await newDataFolder("breezeway-renewal-");
  const runtime = manualRuntime({ random });
  const database = await openSqlite({ folder, nowMs: runtime.nowMs });
  const ecosystem = ((await plan.ecosystem?.(runtime)) ?? new RenewingEcosystem(runtime)) as Ecosystem;
  const busy: StoreTrouble = { count: 0, isDown: false, cutOff: undefined, lateMs: 0 };
  const nodes: RenewalNode[] = [];
  t.after(async () => {
    busy.isDown = false;
    busy.cutOff = undefined;
    for (const node of nodes) if (!node.isDead()) await drive(node.federation.stop());
    for (const node of nodes) if (!node.isDead()) await node.membership.stop();
    await database.close();
    rmSync(folder, { recursive: true });
  });

  async function startNode(isShared = false): Promise<RenewalNode> {
    const node = nodeOn(`node-${nodes.length + 1}` as NodeId, { database, isShared, busy, runtime, ecosystem });
    nodes.push(node);
    await node.membership.start();
    await node.federation.start();
    return node;
  }

  async function link(node: RenewalNode, name: string): Promise<LinkedAccount> {
    const { userId } = await makeHome(database, { devices: 0, name });
    const deviceId = await node.federation.link(userId, "hearth", ecosystem.consent(name));
    return { name, userId, deviceId };
  }

  /** Waits for the store: no time passes while a transaction is in progress. */
  async function quiet(): Promise<void> {
    for (let turns = 0; turns < 3; turns++) {
      await flushPromises();
      if (busy.count > 0 || (ecosystem.inProgress ?? 0) > 0) turns = -1;
    }
  }

  /** Lets time pass in small steps. */
  async function pass(ms: number, stepMs = 50): Promise<void> {
    await quiet();
    for (let leftMs = ms; leftMs > 0; leftMs -= stepMs) {
      await runtime.advance(Math.min(stepMs, leftMs));
      await quiet();
    }
  }

  async function drive<Result>(work: Promise<Result>): Promise<Result> {
    let isOver = false;
    const ended = work.finally(() => {
      isOver = true;
    });
    while (!isOver) await pass(50);
    return ended;
  }

  const rowOf = async ({ userId, deviceId }: LinkedAccount) =>
    (await database.read((tx) => tx.links.ofDevice(userId, deviceId)))!;
  const storedOf = async (account: LinkedAccount) => openCredential(sealing.open, await rowOf(account));

  return { runtime, store: database, ecosystem, busy, nodes, startNode, link, pass, drive, rowOf, storedOf };
}

export type RenewalWorld = Awaited<ReturnType<typeof madeRenewal<RenewingEcosystem>>>;
export type RenewalNode = ReturnType<typeof nodeOn>;

interface StoreTrouble {
  /** Work in progress. */
  count: number;
  isDown: boolean;
  /** The node that can't reach the store. */
  cutOff: NodeId | undefined;
  /** How late the answer to a COMMIT arrives. */
  lateMs: number;
}

interface NodeParts {
  readonly database: OpenStore;
  readonly isShared: boolean;
  readonly busy: StoreTrouble;
  readonly runtime: Runtime;
  readonly ecosystem: RenewedEcosystem;
}

/** One node, which can be killed: its timers stop, its calls are never answered, its connections are closed. */
function nodeOn(id: NodeId, { database, isShared, busy, runtime, ecosystem }: NodeParts) {
  const killed = new AbortController();
  const never = new Promise<never>(() => undefined);
  const isDead = () => killed.signal.aborted;
  const alive = <Result>(work: Promise<Result>): Promise<Result> =>
    work.then(
      (result) => (isDead() ? never : result),
      (error) => (isDead() ? never : Promise.reject(error)),
    );
  const tracked = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (isDead()) return never;
    if (busy.isDown || busy.cutOff === id) throw new StoreUnavailable("The store can't be reached.");
    busy.count += 1;
    const ended = () => {
      busy.count -= 1;
    };
    return alive(work().finally(ended));
  };
  const store: Store = {
    isShared,
    async transaction(body, priority) {
      const result = await tracked(() => database.transaction(body, priority));
      if (busy.lateMs > 0) await alive(pause(runtime, busy.lateMs, killed.signal));
      return result;
    },
    read: (body) => tracked(() => database.read(body)),
  };
  const upstream = ecosystem.connector();
  const connector: Connector = {
    ...upstream,
    read: (token, signal) => alive(upstream.read(token, signal)),
    follow: (token, listener, signal) =>
      alive(upstream.follow(token, listener, AbortSignal.any([signal, killed.signal]))),
    renew: (credential, signal) => alive(upstream.renew(credential, signal)),
  };
  const own: Runtime = {
    ...runtime,
    after: (delayMs, act) => runtime.after(delayMs, () => (isDead() ? undefined : act())),
  };
  const faults: string[] = [];
  const states = new DeviceStates(store);
  const membership = new Membership(id, store, own);
  const commit = commitOn({ store, reactions: [], committed: (commits) => states.apply(commits), report: own.report });
  const connectors = new Map([["hearth", connector]]);
  const synchronised: Runtime = { ...own, nowMs: () => membership.nowMs() };
  const ignored = { count: () => undefined, onLimitReached: () => undefined };
  const federation = federationOn({
    store,
    states,
    commit,
    membership,
    connectors,
    sealing,
    thingIdOf: plainThingIds,
    feeds: feedsOn({ store, membership, connectors, runtime: synchronised, ...ignored }),
    outgoing: new OutgoingCalls({ timers: synchronised }),
    runtime: synchronised,
    countFault: (kind) => void faults.push(kind),
  });
  return { id, federation, membership, faults, isDead, kill: () => killed.abort() };
}
