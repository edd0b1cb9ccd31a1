import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { nginxAsDeployed } from "../set-up/nginx-server.ts";
import { startCluster } from "../set-up/postgres.ts";
import { eventuallySlowly, type Fleet, type FleetNode, startFleet } from "./fleet.ts";
import { PeopleAtWork } from "./people-at-work.ts";

export interface WorkPlan {
  readonly links: number;
  readonly people: number;
  /** How long each person waits between two calls. */
  readonly restMs: number;
  readonly drainSeconds: number;
  /** Three by default. */
  readonly nodes?: number;
}

export interface FleetAtWork {
  readonly fleet: Fleet;
  readonly work: PeopleAtWork;
  /** Resolves when every person has got so many more answers, or one of them a bad one. */
  answers(each: number): Promise<void>;
}

/** Nodes behind nginx, as they are deployed, with people who call there. nginx also knows spare ports. */
export async function fleetAtWork(
  test: TestContext,
  { links, people, restMs, drainSeconds, nodes = 3 }: WorkPlan,
  sparePorts: readonly number[] = [],
): Promise<FleetAtWork> {
  let work: PeopleAtWork | undefined;
  test.after(() => work?.close());
  const cluster = await startCluster({ fsync: false });
  const environment = { BREEZEWAY_DRAIN_SECONDS: String(drainSeconds) };
  const fleet = await startFleet(test, cluster, { links, nodes, environment });
  test.after(() => cluster.stop());
  const address = await nginxAsDeployed(test, [...fleet.nodes.map(portOf), ...sparePorts]);
  const atWork = await PeopleAtWork.of(fleet.parts, fleet.homes.slice(0, people), address, restMs);
  work = atWork;
  await fleet.untilShared(test.signal);
  await work.start();
  return { fleet, work, answers: (each) => atWork.answers(each * people) };
}

export function portOf({ service }: FleetNode): number {
  return Number(new URL(service.baseUrl).port);
}

/** Stops the oldest node while fan requests are in progress, waits for its exit, and reports how soon others took over. */
export async function leave(test: TestContext, { fleet, work }: FleetAtWork): Promise<FleetNode> {
  const [leaving] = fleet.nodes.splice(0, 1) as [FleetNode];
  fleet.gone.push(leaving);
  const accounts = await fleet.accountsOf(leaving);
  const turned = work.turnFans();
  const toldMs = Date.now();
  leaving.service.process.kill("SIGTERM");
  await Promise.all([turned, untilDraining(leaving)]);
  const openedAfter = (accountId: string) => fleet.streams.openedMs(accountId) - toldMs;
  await eventuallySlowly(test.signal, () => {
    const missing = accounts.filter((accountId) => openedAfter(accountId) < 0);
    assert.equal(missing.length, 0, `${missing.length} streams are still missing`);
  });
  const sorted = accounts.map(openedAfter).sort((a, b) => a - b);
  const at = (part: number) => `${(sorted[Math.ceil(sorted.length * part) - 1]! / 1_000).toFixed(2)} s`;
  assert.equal(await leaving.service.ended, 0);
  const goneAfter = `${((Date.now() - toldMs) / 1_000).toFixed(1)} s`;
  const figures = sorted.length > 0 ? `p50 ${at(0.5)}, p99 ${at(0.99)}, last ${at(1)}` : "none";
  test.diagnostic(
    `${sorted.length} streams open elsewhere after SIGTERM: ${figures}; the node ended after ${goneAfter}`,
  );
  return leaving;
}

/** Resolves when `/readyz` says that the node is draining. It still answers: a closed port would refuse the connection. */
async function untilDraining({ service }: FleetNode): Promise<void> {
  for (;;) {
    const answer = await fetch(`${service.baseUrl}/readyz`);
    const { status } = (await answer.json()) as { status: string };
    if (answer.status === 503 && status === "draining") return;
  }
}
