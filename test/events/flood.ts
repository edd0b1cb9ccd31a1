import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import type { TestContext } from "node:test";
import type { Deployment } from "../stories/world.ts";
import { EventStream } from "./event-stream.ts";
import { lampHouse } from "./killed-service.ts";
import { write } from "./made-home.ts";
import { openSleeping, wakeUp } from "./sleeping-readers.ts";

export interface Flood {
  readonly database: Deployment;
  readonly sleepers: number;
  readonly writes: number;
}

/** By how much the process may grow. */
const growthLimit = 100 * 1024 * 1024;
/** One write sends about 56 kB to each reader. */
const value = "x".repeat(8_000);
const values = Object.fromEntries(["a", "b", "c", "d", "e", "f", "g"].map((name) => [name, value]));

const names = [...Object.keys(values), "count"];

/**
 * Readers stop reading; some resume later. Those that paused too long are disconnected, with `resync` for those that
 * resume soon after; the process stays small, and active readers get every event.
 */
export async function floodSleepers(t: TestContext, { database, sleepers, writes }: Flood): Promise<void> {
  const { service, token, lamps } = await lampHouse(t, database, { BREEZEWAY_EVENT_STREAMS: "1000" });
  const attentive = await EventStream.open(service.baseUrl, token);
  t.after(() => attentive.close());
  let written = 0;
  let largest = 0;
  const writeNext = async () => {
    await write(service, token, lamps[0] as never, { ...values, count: `${written++}` });
    largest = Math.max(largest, residentBytes(service.process.pid!));
  };
  // Memory of a warm process does not count as growth.
  while (written < writes / 2) await writeNext();
  const before = largest;

  // Each reader has its own filter: readers with one filter share the bytes that wait for them.
  const asleep = await Promise.all(
    Array.from({ length: sleepers }, (_, i) =>
      openSleeping(service.baseUrl, token, {
        query: `?${[...names, `nothing${i}`].map((name) => `attribute=${name}`).join("&")}`,
      }),
    ),
  );
  t.after(() => asleep.forEach((socket) => void socket.destroy()));
  const waking = asleep.slice(0, sleepers / 2);
  const read: Promise<string>[] = [];
  const everyWrites = Math.floor(writes / 2 / waking.length);
  while (written < writes) {
    await writeNext();
    if (written % everyWrites === 0) read.push(...waking.splice(0, 1).map(wakeUp));
  }
  const heard = await attentive.until(writes, ({ data }) => data.name === "count");
  assert.deepEqual(
    heard.map(({ data }) => data.value),
    Array.from({ length: writes }, (_, i) => `${i}`),
  );
  const grown = largest - before;
  assert.ok(grown <= growthLimit, `grew by ${megabytes(grown)} MB`);
  const slept = await Promise.all(asleep.slice(-sleepers / 2).map(wakeUp));
  assert.ok(slept.every((text) => !hasHeard(text, writes - 1)));
  for (const socket of asleep) socket.destroy();
  const woken = await Promise.all(read);
  const resynced = woken.filter((text) => /\nevent: resync\ndata: \{"reason":"too_slow"\}\n\n$/.test(text));
  const whole = woken.filter((text) => hasHeard(text, writes - 1));
  for (const text of whole) for (let i = writes / 2; i < writes; i++) assert.ok(hasHeard(text, i));
  assert.ok(resynced.length > 0 && whole.length > 0);
  const fates = `${whole.length} woke in time and heard all, ${resynced.length} read resync`;
  t.diagnostic(`${sleepers} sleepers, from ${megabytes(before)} MB at most ${megabytes(grown)} MB more; ${fates}`);
}

function hasHeard(text: string, count: number): boolean {
  return text.includes(`"name":"count","value":"${count}"`);
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024);
}

function residentBytes(processId: number): number {
  const { stdout } = spawnSync("ps", ["-o", "rss=", "-p", String(processId)], { encoding: "utf8" });
  return Number(stdout) * 1024;
}
