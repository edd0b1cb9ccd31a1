import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { ChildServer } from "../../../bench/ecosystems/child-server.ts";
import { nginxAsProxy } from "../../set-up/nginx-server.ts";
import type { Attack, Deployment, Rows } from "./attack.ts";
import type { Order, Told } from "./attackers-process.ts";
import type { Figures } from "./figures.ts";
import { type Measured, QuietNeighbour } from "./neighbour.ts";
import { hangUp } from "./requests.ts";
import { countRows } from "./row-counts.ts";
import { ServiceUnderTest } from "./service-under-test.ts";
import { silentNameServer } from "./silent-name-server.ts";
import type { Template } from "./template.ts";

export type Attackers = ChildServer<Order, Told>;

const nothing: Measured = { reads: [], emergencies: [], signIns: [], failures: [] };
const quietMs = 3_000;
const emergenciesAtLeast = 3;
/** Descriptors that may be added: SQLite's checkpoint thread starts late; connections to PostgreSQL and a proxy vary. */
const ownDescriptors: Readonly<Record<Deployment, number>> = {
  "SQLite, direct": 12,
  "PostgreSQL behind nginx": 64,
};
/** Longer than any time-out of the service for things that an attacker left behind. */
const settleMs = 90_000;

/** Runs one attack on a new copy of the store, and measures its neighbour before, during and after it. */
export async function underAttack(
  t: TestContext,
  {
    attack,
    deployment,
    template,
    attackers,
  }: {
    readonly attack: Attack;
    readonly deployment: Deployment;
    readonly template: Template;
    readonly attackers: Attackers;
  },
): Promise<Figures> {
  const settings = { ...(await template.copy()), ...attack.environment };
  if (attack.fill) await template.open(settings, (parts) => attack.fill!(parts, template.attacker));
  const nameServer = attack.hasSilentNameServer ? await silentNameServer() : undefined;
  if (nameServer) {
    t.after(() => nameServer.close());
    settings.BREEZEWAY_ALLOW_PRIVATE_WEBHOOKS = "false";
  }
  const service = await ServiceUnderTest.start(settings, nameServer?.address);
  t.after(() => service.stop());
  const url = deployment === "SQLite, direct" ? service.url : await nginxAsProxy(t, service.url);
  const target = { ...template.attacker, url };
  const order = async (step: Order["step"]) => {
    const reply = await attackers.request({ attack: attack.name, step, target });
    if ("failed" in reply) throw new Error(`the attack itself failed: ${reply.failed}`);
    return reply;
  };
  if (attack.prepare) await order("prepare");
  const neighbour = await QuietNeighbour.setUp(url, template.neighbour, template.simulator, !nameServer);
  t.after(() => {
    neighbour.leave();
    hangUp();
  });

  const before = await neighbour.run(pause(quietMs), emergenciesAtLeast, service.ended);
  const resourcesBefore = await service.resources();
  const rowsBefore = await countRows(settings);
  const reachedBefore = await service.limitsReached();
  await withoutConnections(service);
  const { heapBytes: heapBefore } = await service.liveMemory();
  const watch = new Watch(service);
  const attacking = order("run");
  if (attack.breaksStream) neighbour.loseStream();
  const during = await neighbour.run(attacking, emergenciesAtLeast, service.ended);
  const { got, sightings } = await attacking;
  const heapKept = (await service.liveMemory()).heapBytes - heapBefore;
  const after = service.isAlive ? await neighbour.run(pause(quietMs), emergenciesAtLeast, service.ended) : nothing;
  watch.stop();
  const { signIns, failures } = during;
  const descriptorsAtMost = watch.descriptors.before + ownDescriptors[deployment];
  await withoutConnections(service);
  await settled(() => !service.isAlive || service.descriptors <= descriptorsAtMost);

  const rows = joined(rowsBefore, await countRows(settings));
  const reached = since(reachedBefore, service.isAlive ? await service.limitsReached() : {});
  const exit = service.isAlive ? undefined : await service.ended;
  const broken = failuresOf([
    () => assert.ok(service.isAlive, `the service has died: ${exit}`),
    () => {
      const left = service.descriptors;
      assert.ok(left <= descriptorsAtMost, `${left} descriptors are open, ${watch.descriptors.before} were before`);
    },
    () => {
      const failed = signIns.length === 0 ? 1 : failures.filter((one) => one.startsWith("sign-in")).length;
      const rssGrown = watch.rss.peak - watch.rss.before;
      attack.judge?.({ got, sightings, rows, reached, signIns: { done: signIns.length, failed }, rssGrown, heapKept });
    },
    () => assert.deepEqual(failures, [], "the neighbour was refused"),
  ]);
  return {
    attack: attack.name,
    ...{ before, during, after, rows, reached, got, sightings, heapKept, broken },
    died: exit,
    rss: { ...watch.rss, after: service.rssBytes },
    descriptors: { ...watch.descriptors, after: service.descriptors },
    resources: { before: resourcesBefore, after: await service.resources() },
  };
}

/** Samples the process ten times a second from outside, because a blocked service cannot report. */
class Watch {
  readonly rss: { readonly before: number; peak: number };
  readonly descriptors: { readonly before: number; peak: number };
  readonly #timer: NodeJS.Timeout;

  constructor(service: ServiceUnderTest) {
    this.rss = { before: service.rssBytes, peak: service.rssBytes };
    this.descriptors = { before: service.descriptors, peak: service.descriptors };
    this.#timer = setInterval(() => {
      if (!service.isAlive) return;
      this.rss.peak = Math.max(this.rss.peak, service.rssBytes);
      this.descriptors.peak = Math.max(this.descriptors.peak, service.descriptors);
    }, 100);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

/** Closes the neighbour's own connections, and waits until the service has closed them too. */
async function withoutConnections(service: ServiceUnderTest): Promise<void> {
  hangUp();
  for (let open = Number.POSITIVE_INFINITY; service.isAlive && service.descriptors < open; await pause(200)) {
    open = service.descriptors;
  }
}

/** Waits until the condition holds, or until the time is up. */
async function settled(condition: () => boolean): Promise<void> {
  const untilMs = performance.now() + settleMs;
  while (!condition() && performance.now() < untilMs) await pause(100);
}

function failuresOf(checks: readonly (() => void)[]): readonly string[] {
  return checks.flatMap((check) => {
    try {
      check();
      return [];
    } catch (error) {
      return [error instanceof Error ? error.message.split("\n", 1)[0]! : String(error)];
    }
  });
}

function joined(before: Readonly<Record<string, number>>, after: Readonly<Record<string, number>>): Rows {
  return Object.fromEntries(
    Object.entries(before).map(([table, count]) => [table, { before: count, after: after[table] ?? 0 }]),
  );
}

function since(before: Readonly<Record<string, number>>, after: Readonly<Record<string, number>>) {
  return Object.fromEntries(Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)]));
}
