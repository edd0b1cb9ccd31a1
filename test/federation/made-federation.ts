import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import type { TestContext } from "node:test";
import { commitOn, type Reaction } from "../../src/devices/commit.ts";
import { DeviceStates } from "../../src/devices/states.ts";
import { fanEcho } from "../../src/federation/commands/fan-echo.ts";
import { fanGate } from "../../src/federation/commands/fan-gate.ts";
import { sentCommands, thingEcho } from "../../src/federation/commands/thing-echo.ts";
import { federationOn } from "../../src/federation/federation.ts";
import type { Home } from "../../src/home/home.ts";
import { StoreUnavailable } from "../../src/model/errors.ts";
import type { DeviceId, NodeId } from "../../src/model/ids.ts";
import { Membership } from "../../src/nodes/membership.ts";
import { OutgoingCalls } from "../../src/runtime/network/outgoing-calls.ts";
import type { Store } from "../../src/store/seam.ts";
import { openSqlite } from "../../src/store/sqlite/store.ts";
import { makeHome } from "../contracts/store/home.ts";
import { plainThingIds } from "../home/thing-ids.ts";
import { newDataFolder } from "../set-up/sqlite-template.ts";
import { home } from "./made-homes.ts";
import { flushPromises, manualRuntime } from "./manual-runtime.ts";
import { ScriptedConnector } from "./scripted-connector.ts";

export const thisNode = "node-a" as NodeId;
export const otherNode = "node-b" as NodeId;

export interface MadeFederationPlan {
  readonly isShared?: boolean;
  readonly fanNeedsHome?: boolean;
  readonly endsEcoFirst?: boolean;
  /** By how much the store's clock is ahead of this node's. */
  readonly storeAheadMs?: number;
  /** Opens sealed tokens; here sealing does nothing. */
  readonly openToken?: (sealed: string) => string;
  /** A further reaction to commits. */
  readonly react?: Reaction;
}

/** All of federation on its own store, for Ada and her lamp; the test controls ecosystem and time. */
export async function madeFederation(
  t: TestContext,
  {
    isShared = false,
    fanNeedsHome = true,
    endsEcoFirst = false,
    storeAheadMs = 0,
    openToken = (sealed) => sealed,
    react = async () => [],
  }: MadeFederationPlan = {},
) {
  const folder = await newDataFolder("breezeway-federation-");
  const runtime = manualRuntime();
  const database = await openSqlite({ folder, nowMs: () => runtime.nowMs() + storeAheadMs });
  /** The node's connection to the store, which a test can cut. Reads still pass. */
  const connection = { isDown: false };
  const store = reachable(database, isShared, connection);
  const connector = new ScriptedConnector({ fanNeedsHome, endsEcoFirst });
  const connectors = new Map([["nest", connector]]);
  const states = new DeviceStates(store);
  const { report } = runtime;
  const faults: string[] = [];
  const commit = commitOn({
    store,
    gates: [fanGate({ connectors, stateOf: (deviceId) => federation.keeper.standing(deviceId)?.state })],
    reactions: [
      fanEcho((commandId) => federation.fans.sentAt(commandId)),
      thingEcho(sentCommands(() => federation)),
      react,
    ],
    committed: (commits) => {
      states.apply(commits);
      federation.afterCommit(commits);
    },
    report,
  });
  const membership = new Membership(thisNode, store, runtime);
  const federation = federationOn({
    store,
    states,
    commit,
    membership,
    connectors,
    sealing: { seal: (token) => token, open: openToken },
    thingIdOf: plainThingIds,
    runtime: { ...runtime, nowMs: () => membership.nowMs() },
    outgoing: new OutgoingCalls({ timers: runtime }),
    countFault: (kind) => void faults.push(kind),
  });
  await membership.start();
  t.after(async () => {
    connection.isDown = false;
    const stopped = federation.stop();
    await runtime.advance(10_000);
    await stopped;
    await membership.stop();
    await database.close();
    rmSync(folder, { recursive: true });
  });
  const { userId, devices } = await makeHome(database);

  /** Links Ada's account; its first stream is open and has sent nothing yet. */
  async function link(account: Home = home()): Promise<DeviceId> {
    const linked = federation.link(userId, "nest", "c.token");
    while (connector.reads.length === 0) await flushPromises();
    connector.lastRead.resolve(account);
    const deviceId = await linked;
    while (connector.streams.length === 0) await flushPromises();
    return deviceId;
  }

  /** Links Ada's account with a live stream, stored as such. */
  async function linkLive(account: Home = home()): Promise<DeviceId> {
    const deviceId = await link(account);
    await bringLive(account);
    while ((await database.read((tx) => tx.links.ofDevice(userId, deviceId)))?.state !== "live") await flushPromises();
    return deviceId;
  }

  async function bringLive(account: Home = home()): Promise<void> {
    connector.stream.brings(account);
    const isLive = async () => (await federation.status(userId, "nest")).state === "live";
    while (!(await isLive())) await flushPromises();
  }

  /** As after a start: the stored link is live, and the new stream has sent nothing yet. Needs a shared store. */
  async function followAgain(): Promise<void> {
    const streams = connector.streams.length;
    await federation.keeper.startOver();
    while (connector.streams.length === streams) await runtime.advance(10);
    const [link] = await database.read((tx) => tx.links.ofUser(userId));
    assert.equal(link?.state, "live");
  }

  return {
    federation,
    store: database,
    states,
    runtime,
    connector,
    commit,
    membership,
    connection,
    /** The kinds of all counted faults. */
    faults,
    userId,
    lamp: devices[0]!,
    link,
    linkLive,
    bringLive,
    followAgain,
  };
}

/** The store as a node sees it: shared or not, and possibly unreachable. */
function reachable(store: Store, isShared: boolean, connection: { readonly isDown: boolean }): Store {
  const refuse = () => Promise.reject(new StoreUnavailable("The store can't be reached."));
  return {
    isShared,
    transaction: (body, options) => (connection.isDown ? refuse() : store.transaction(body, options)),
    read: (body) => store.read(body),
  };
}
