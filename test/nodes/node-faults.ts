import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { TestContext } from "node:test";
import { setTimeout as pass } from "node:timers/promises";
import { startCluster } from "../set-up/postgres.ts";
import { eventuallySlowly, type Fleet, type FleetNode, startFleet } from "./fleet.ts";

export interface NodeFaultsPlan {
  readonly links: number;
  readonly frozenMs: number;
  readonly cutOffMs: number;
  readonly haltedMs: number;
}

/** Nodes are killed, frozen and cut off, and the database stops. Afterwards the ecosystem's present state is mirrored. */
export async function liveThroughNodeFaults(test: TestContext, plan: NodeFaultsPlan): Promise<void> {
  const cluster = await startCluster({ fsync: false });
  test.after(() => cluster.stop());
  const fleet = await startFleet(test, cluster, plan);
  const tell = (what: string) => test.diagnostic(what);
  await fleet.untilShared(test.signal);
  await kill(test, fleet, tell);
  await freeze(test, fleet, plan.frozenMs, tell);
  await cutOff(test, fleet, plan.cutOffMs, tell);
  await halt(test, fleet, plan.haltedMs, cluster, tell);
  const { foreign, writes } = await fleet.witnessed();
  assert.equal(foreign, 0, "a node wrote to a device whose link was not its own");
  await fleet.assertFiredOnce();
  tell(`${writes} values mirrored, none by an old epoch; every alert fired once`);
}

type Tell = (what: string) => void;

async function kill({ signal }: TestContext, fleet: Fleet, tell: Tell): Promise<void> {
  const [dying] = fleet.nodes.splice(0, 1) as [FleetNode];
  const accounts = await fleet.accountsOf(dying);
  const killedMs = Date.now();
  dying.service.process.kill("SIGKILL");
  await untilReopened(signal, fleet, accounts, killedMs);
  tell(`kill -9: ${accounts.length} streams open elsewhere, ${spread(fleet, accounts, killedMs)}`);
  fleet.gone.push(dying);
  await fleet.untilShared(signal);
  await fleet.startNode("replacement");
  const joinedMs = Date.now();
  await fleet.untilShared(signal);
  tell(`a node joins: it has its share after ${seconds(joinedMs)}`);
}

async function freeze({ signal }: TestContext, fleet: Fleet, frozenMs: number, tell: Tell): Promise<void> {
  const [frozen] = fleet.nodes as [FleetNode];
  const accounts = await fleet.accountsOf(frozen);
  const frozenAtMs = Date.now();
  frozen.service.process.kill("SIGSTOP");
  // On a busy machine it takes longer than that until the others have all streams.
  const isLongEnough = pass(frozenMs);
  await untilReopened(signal, fleet, accounts, frozenAtMs);
  await isLongEnough;
  const figures = `${accounts.length} streams elsewhere, ${spread(fleet, accounts, frozenAtMs)}`;
  await fleet.change(accounts, { smoke: true });
  tell(`frozen for ${seconds(frozenAtMs)}: ${figures}`);
  frozen.service.process.kill("SIGCONT");
  await fleet.change(accounts);
  await fleet.untilMirrored(signal, accounts);
  await fleet.untilShared(signal);
}

async function cutOff({ signal }: TestContext, fleet: Fleet, cutOffMs: number, tell: Tell): Promise<void> {
  const node = fleet.nodes[1]!;
  const accounts = await fleet.accountsOf(node);
  const cutMs = Date.now();
  node.proxy.mood = "half-open";
  const changed = changeForAWhile(fleet, accounts, cutMs + cutOffMs);
  await untilReopened(signal, fleet, accounts, cutMs);
  tell(
    `cut off for ${cutOffMs / 1_000} s: ${accounts.length} streams elsewhere, ${spread(fleet, accounts, cutMs)}, ` +
      `while ${some(accounts)} homes changed every second`,
  );
  await changed;
  await fleet.change(accounts);
  node.proxy.mood = "open";
  node.proxy.drop();
  const backMs = Date.now();
  await fleet.untilReceived(signal, accounts);
  tell(`back again, after all of them have changed at once: the store has it ${seconds(backMs)} after`);
  await fleet.untilMirrored(signal, accounts);
  await fleet.untilShared(signal);
}

/** How many homes change each second: twelve times the usual rate. */
const some = (accounts: readonly string[]) => Math.ceil(accounts.length / 10);

async function changeForAWhile(fleet: Fleet, accounts: readonly string[], untilMs: number): Promise<void> {
  const many = some(accounts);
  for (let i = 0; Date.now() < untilMs; i++) {
    const from = (i * many) % accounts.length;
    await fleet.change(accounts.slice(from, from + many), { smoke: i === 0 });
    await pass(1_000);
  }
}

async function halt(
  { signal }: TestContext,
  fleet: Fleet,
  haltedMs: number,
  cluster: { halt(): Promise<void>; start(): Promise<void> },
  tell: Tell,
): Promise<void> {
  const accounts = fleet.homes.map(({ accountId }) => accountId);
  const before = { epochs: await fleet.epochs(), opened: fleet.streams.opened, memory: memoryOf(fleet) };
  await cluster.halt();
  const untilMs = Date.now() + haltedMs;
  while (Date.now() < untilMs) {
    await fleet.change(accounts.slice(0, some(accounts)));
    await pass(2_000);
  }
  await fleet.change(accounts);
  const memory = memoryOf(fleet);
  await cluster.start();
  const backMs = Date.now();
  await eventuallySlowly(signal, async () => void (await fleet.epochs()));
  await fleet.untilReceived(signal, accounts);
  tell(`PostgreSQL stopped for ${haltedMs / 1_000} s: caught up ${seconds(backMs)} after it was back`);
  await fleet.untilMirrored(signal);
  // A node that was wrongly declared dead would lose its links within a lease.
  await pass(8_000);
  await fleet.untilShared(signal);
  const reassigned = (await fleet.epochs()) - before.epochs;
  const reopened = fleet.streams.opened - before.opened;
  tell(
    `${reassigned} links reassigned, ${reopened} streams opened anew, memory of the nodes ${before.memory} → ${memory} MB`,
  );
  assert.equal(reassigned, 0);
  assert.equal(reopened, 0);
}

function untilReopened(signal: AbortSignal, fleet: Fleet, accounts: readonly string[], sinceMs: number): Promise<void> {
  return eventuallySlowly(signal, () => {
    const missing = accounts.filter((accountId) => fleet.streams.openedMs(accountId) < sinceMs);
    assert.equal(missing.length, 0, `${missing.length} streams are still missing`);
  });
}

function spread(fleet: Fleet, accounts: readonly string[], sinceMs: number): string {
  const sorted = accounts.map((accountId) => fleet.streams.openedMs(accountId) - sinceMs).sort((a, b) => a - b);
  const at = (part: number) => `${(sorted[Math.ceil(sorted.length * part) - 1]! / 1_000).toFixed(1)} s`;
  return `p50 ${at(0.5)}, p99 ${at(0.99)}, last ${at(1)}`;
}

function memoryOf({ nodes }: Fleet): string {
  const ofNode = ({ service }: FleetNode) => {
    const status = readFileSync(`/proc/${service.process.pid}/status`, "utf8");
    return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(status)![1]) / 1_024);
  };
  return nodes.map(ofNode).join("/");
}

function seconds(sinceMs: number): string {
  return `${((Date.now() - sinceMs) / 1_000).toFixed(1)} s`;
}
