import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Latencies } from "../../bench/alarmed-home.ts";
import { type AssistedUser, burningHouse } from "../../bench/burning-house.ts";
import { MeasuredProcess } from "../../bench/measured-process.ts";
import { GoogleAccount, isReported } from "../assistants/google-world.ts";
import { type Deployment, databaseFor } from "../set-up/deployment.ts";
import { eventually } from "./world.ts";

export interface ThousandHomesPlan {
  readonly database: Deployment;
  readonly homes: number;
  readonly emergencies: number;
}

/** Each home changes more than once a second. */
const noise = 100;
const deadlineMs = 120_000;

/**
 * All homes of a Google outlet change at once, again and again. First Google keeps silent about every home but one: the
 * smoke of that one still reaches Google, because emergencies have a reserve of slots. Then Google answers, and smoke is
 * told while the other reports run. In the end Google knows the present state of every home, by fewer reports than there
 * were changes.
 */
export async function changeThousandHomes(t: TestContext, plan: ThousandHomesPlan): Promise<void> {
  let service: MeasuredProcess | undefined;
  const house = await burningHouse({
    others: plan.homes,
    assisted: "all",
    databaseUrl: await databaseFor(plan.database),
    run: async (settings) => {
      service = await MeasuredProcess.service(settings);
      return service;
    },
  });
  t.after(() => house[Symbol.asyncDispose]());
  const { ecosystem, graph, assisted } = house;
  const reports = () => graph.callsOf("reportStateAndNotification").length;
  const told = (some: readonly AssistedUser[]) => untilTold(t, service!.url, some);
  await told(assisted);
  const memoryBefore = await memory();

  const answer = graph.inject({
    method: "reportStateAndNotification",
    isSilent: true,
    exceptUser: assisted[0]!.user.agentUserId,
  });
  const before = { changes: await ecosystem.changes(), reports: reports() };
  await ecosystem.makeNoise(noise);
  await eventually(t.signal, async () => assert.ok(graph.waiting >= 25, `${graph.waiting} calls wait`));
  const silent = await house.soundAlarm(deadlineMs);
  assert.ok(graph.waiting >= 25, "Google has answered others meanwhile");
  answer();

  const latencies: Latencies[] = [];
  while (latencies.length < plan.emergencies) latencies.push(await house.soundAlarm(deadlineMs));
  const memoryDuring = await memory();
  await ecosystem.makeNoise(0);
  const changes = (await ecosystem.changes()) - before.changes;
  await told(assisted);
  const sent = reports() - before.reports;
  assert.ok(sent < changes, `${sent} reports of ${changes} changes: they are not grouped`);
  t.diagnostic(`${plan.homes} homes: ${changes} changes, told by ${sent} reports; all states told in the end`);
  t.diagnostic(`memory before: ${memoryBefore}`);
  t.diagnostic(`memory while all change: ${memoryDuring}`);
  t.diagnostic(`memory in the end: ${await memory()}`);
  t.diagnostic(`smoke while Google is silent about the others: ${ways([silent])}`);
  t.diagnostic(`smoke while all are told: ${ways(latencies)}`);

  async function memory(): Promise<string> {
    const { rssBytes, heapBytes, heapUsedBytes, bufferBytes } = await service!.usage();
    const megabytes = (bytes: number) => `${Math.round(bytes / 1_048_576)} MB`;
    const heap = `heap ${megabytes(heapBytes)} of which ${megabytes(heapUsedBytes)} are used`;
    return `RSS ${megabytes(rssBytes)}, ${heap}, buffers ${megabytes(bufferBytes)}`;
  }
}

async function untilTold(t: TestContext, url: string, users: readonly AssistedUser[]): Promise<void> {
  for (const { user, token } of users) await isReported(new GoogleAccount(() => url, token), user, t.signal);
}

function ways(latencies: readonly Latencies[]): string {
  const shown = (["alarm", "webhook", "google"] as const).map((way) => {
    const sorted = latencies.map((one) => one[way]).sort((a, b) => a - b);
    return `${way} p50 ${sorted[sorted.length >> 1]!.toFixed(0)} ms, max ${sorted.at(-1)!.toFixed(0)} ms`;
  });
  return shown.join("; ");
}
