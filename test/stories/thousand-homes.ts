import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Latencies } from "../../bench/alarmed-home.ts";
import type { AssistantName, AssistedHome } from "../../bench/assisting-makers.ts";
import { burningHouse } from "../../bench/burning-house.ts";
import { MeasuredProcess } from "../../bench/measured-process.ts";
import { limits } from "../../src/model/limits.ts";
import { type Deployment, databaseFor } from "../set-up/deployment.ts";
import { eventually } from "./world.ts";

export interface ThousandHomesPlan {
  readonly database: Deployment;
  readonly assistant: AssistantName;
  readonly homes: number;
  readonly emergencies: number;
}

/** Each home changes more than once a second. */
const noise = 100;
const deadlineMs = 120_000;

/**
 * All homes of an outlet change at once, again and again. First the assistant's maker keeps silent about every home but
 * one: the smoke of that one still reaches the maker, because emergencies have a reserve of slots. Then the maker answers,
 * and smoke is told while the other reports run. In the end the maker knows the present state of every home, by fewer
 * messages than there were changes.
 */
export async function changeThousandHomes(t: TestContext, plan: ThousandHomesPlan): Promise<void> {
  let service: MeasuredProcess | undefined;
  const house = await burningHouse({
    others: plan.homes,
    assistant: plan.assistant,
    assisted: "all",
    databaseUrl: await databaseFor(plan.database),
    run: async (settings) => {
      service = await MeasuredProcess.service(settings);
      return service;
    },
  });
  t.after(() => house[Symbol.asyncDispose]());
  const { ecosystem, maker, assisted } = house;
  await untilTold(t, assisted);
  const memoryBefore = await memory();

  const endSilence = maker.silence(assisted[0]!);
  const before = { changes: await ecosystem.changes(), messages: maker.messages() };
  await ecosystem.makeNoise(noise);
  const slots = limits.assistantSendsPerOutlet;
  await eventually(t.signal, async () => assert.ok(maker.unanswered() >= slots, `${maker.unanswered()} calls wait`));
  const silent = await house.soundAlarm(deadlineMs);
  endSilence();

  const latencies: Latencies[] = [];
  while (latencies.length < plan.emergencies) latencies.push(await house.soundAlarm(deadlineMs));
  const memoryDuring = await memory();
  await ecosystem.makeNoise(0);
  const changes = (await ecosystem.changes()) - before.changes;
  await untilTold(t, assisted);
  const sent = maker.messages() - before.messages;
  assert.ok(sent < changes, `${sent} messages of ${changes} changes: they are not grouped`);
  t.diagnostic(`${plan.homes} homes: ${changes} changes, told by ${sent} messages; all states told in the end`);
  t.diagnostic(`memory before: ${memoryBefore}`);
  t.diagnostic(`memory while all change: ${memoryDuring}`);
  t.diagnostic(`memory in the end: ${await memory()}`);
  t.diagnostic(`smoke while the maker is silent about the others: ${ways([silent])}`);
  t.diagnostic(`smoke while all are told: ${ways(latencies)}`);

  async function memory(): Promise<string> {
    const { rssBytes, heapBytes, heapUsedBytes, bufferBytes } = await service!.usage();
    const megabytes = (bytes: number) => `${Math.round(bytes / 1_048_576)} MB`;
    const heap = `heap ${megabytes(heapBytes)} of which ${megabytes(heapUsedBytes)} are used`;
    return `RSS ${megabytes(rssBytes)}, ${heap}, buffers ${megabytes(bufferBytes)}`;
  }
}

async function untilTold(t: TestContext, homes: readonly AssistedHome[]): Promise<void> {
  for (const home of homes) {
    await eventually(t.signal, async () => {
      const { reported, present } = await home.states();
      assert.ok(present.size > 0, "the home has no devices");
      assert.deepEqual(reported, present);
    });
  }
}

function ways(latencies: readonly Latencies[]): string {
  const shown = (["alarm", "webhook", "assistant"] as const).map((way) => {
    const sorted = latencies.map((one) => one[way]).sort((a, b) => a - b);
    return `${way} p50 ${sorted[sorted.length >> 1]!.toFixed(0)} ms, max ${sorted.at(-1)!.toFixed(0)} ms`;
  });
  return shown.join("; ");
}
