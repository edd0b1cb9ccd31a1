import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { ChildServer } from "../../../bench/child-server.ts";
import { nginxAsProxy } from "../../set-up/nginx-server.ts";
import { hangUp } from "./asking.ts";
import type { Attack, Deployment, Rows } from "./attack.ts";
import type { Order, Told } from "./attackers-process.ts";
import type { Figures } from "./figures.ts";
import { QuietNeighbour } from "./neighbour.ts";
import { countRows } from "./row-counts.ts";
import { ServiceUnderTest } from "./service-under-test.ts";
import { silentNameServer } from "./silent-name-server.ts";
import type { Tally } from "./tally.ts";
import type { Template } from "./template.ts";

export type Attackers = ChildServer<Order, Told>;

const quietMs = 3_000;
const emergenciesAtLeast = 3;
/** The thread of SQLite's checkpoints begins late; connections to PostgreSQL, and those of a proxy, come and go. */
const ownDescriptors: Readonly<Record<Deployment, number>> = {
  "SQLite, direct": 12,
  "PostgreSQL behind nginx": 64,
};
/** Longer than the service waits for anything that an attacker has left behind. */
const settleMs = 90_000;

/** Runs one attack on a fresh copy of the store, and measures what a neighbour notices before, meanwhile and after. */
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
  const nameServer = attack.hasSilentNameServer ? await silentNameServer() : undefined;
  if (nameServer) {
    t.after(() => nameServer.close());
    settings.BREEZEWAY_ALLOW_PRIVATE_WEBHOOKS = "false";
  }
  const service = await ServiceUnderTest.start(settings, nameServer?.address);
  t.after(() => service.stop());
  const url = deployment === "SQLite, direct" ? service.url : await nginxAsProxy(t, service.url);
  const target = { ...template.attacker, url };
  const order = async (step: Order["step"]): Promise<Tally> => {
    const told = await attackers.request({ attack: attack.name, step, target });
    if ("failed" in told) throw new Error(`the attack itself failed: ${told.failed}`);
    return told.got;
  };
  if (attack.prepare) await order("prepare");
  const neighbour = await QuietNeighbour.moveIn(url, template.neighbour, template.simulator, !nameServer);
  t.after(() => {
    neighbour.leave();
    hangUp();
  });

  const before = await neighbour.live(pause(quietMs), emergenciesAtLeast);
  const resourcesBefore = await service.resources();
  const rowsBefore = await countRows(settings);
  const reachedBefore = await service.limitsReached();
  await quietly(service);
  const watch = new Watch(service);
  const attacking = order("run");
  if (attack.breaksStream) neighbour.loseStream();
  const during = await neighbour.live(attacking, emergenciesAtLeast);
  const got = await attacking;
  const after = await neighbour.live(pause(quietMs), emergenciesAtLeast);
  watch.stop();
  const { signIns, failures } = during;
  const descriptorsAtMost = watch.descriptors.before + ownDescriptors[deployment];
  await quietly(service);
  await settled(() => !service.isAlive || service.descriptors <= descriptorsAtMost);

  const rows = joined(rowsBefore, await countRows(settings));
  const reached = since(reachedBefore, service.isAlive ? await service.limitsReached() : {});
  const broken = failuresOf([
    () => assert.ok(service.isAlive, "the service has died"),
    () => {
      const left = service.descriptors;
      assert.ok(left <= descriptorsAtMost, `${left} descriptors are open, ${watch.descriptors.before} were before`);
    },
    () => {
      const failed = signIns.length === 0 ? 1 : failures.filter((one) => one.startsWith("sign-in")).length;
      attack.judge?.({ got, rows, reached, signIns: { done: signIns.length, failed } });
    },
    () => assert.deepEqual(failures, [], "the neighbour was refused"),
  ]);
  return {
    attack: attack.name,
    ...{ before, during, after, rows, reached, got, broken },
    rss: { ...watch.rss, after: service.rssBytes },
    descriptors: { ...watch.descriptors, after: service.descriptors },
    resources: { before: resourcesBefore, after: await service.resources() },
  };
}

/** Looks at the process ten times a second, from outside: a service that is held up can't tell. */
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

/** Hangs up the neighbour's own connections, and waits until the service has closed its ends of them. */
async function quietly(service: ServiceUnderTest): Promise<void> {
  hangUp();
  for (let open = Number.POSITIVE_INFINITY; service.isAlive && service.descriptors < open; await pause(200)) {
    open = service.descriptors;
  }
}

/** Waits until that is so, or until it is not to be expected any more. */
async function settled(isSo: () => boolean): Promise<void> {
  const untilMs = performance.now() + settleMs;
  while (!isSo() && performance.now() < untilMs) await pause(100);
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
