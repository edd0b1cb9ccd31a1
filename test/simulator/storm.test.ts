import { describe, it } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { faultKinds } from "../../simulator/faults/catalogue.ts";
import type { JsonObject } from "../../simulator/home/json.ts";
import { integerBetween, pick, type Random, seededRandom } from "../../simulator/home/random.ts";
import { malformedKinds } from "../../simulator/streams/malformed-frames.ts";
import { openRawStream, type RawStream } from "./raw-stream.ts";
import { simulatorWorld } from "./world.ts";

const steps = 2000;

describe("a storm of faults", () => {
  for (const seed of [1, 20260101]) {
    it(`never crashes the simulator, and a new stream shows the document afterwards (seed ${seed})`, async (t) => {
      const { simulator } = await simulatorWorld(t);
      const accounts = [1, 2].map((number) => simulator.addAccount({ seed: number, structures: [{}, {}] }));
      const random = seededRandom(`storm/${seed}`);
      const open: RawStream[] = [];
      const asked: Promise<unknown>[] = [];
      const leaving = new AbortController();
      for (let step = 0; step < steps; step++) {
        const { accountId, token } = pick(random, accounts)!;
        await simulator.playScene(accountId, { scene: "random" });
        if (random() < 0.2) simulator.addFault(randomFault(random, accountId));
        if (random() < 0.05) simulator.clearFaults();
        if (random() < 0.05) asked.push(readAlong(simulator.url, token, open, leaving.signal).catch(refused));
        if (random() < 0.1) asked.push(ask(simulator, accountId, token, random, leaving.signal).catch(refused));
        if (random() < 0.05) await new Promise((resolve) => setImmediate(resolve));
      }
      simulator.clearFaults();
      leaving.abort();
      await Promise.all(asked);
      for (const stream of open) stream.close();
      for (const { accountId, token } of accounts) {
        const stream = await openRawStream(`${simulator.url}/`, token);
        // A command of the storm may still be in progress; the stream reports it too.
        await stream.until((text) =>
          isDeepStrictEqual(lastPut(text), { path: "/", data: simulator.document(accountId) }),
        );
        stream.close();
      }
    });
  }
});

function lastPut(text: string): unknown {
  if (!text.endsWith("\n\n")) return undefined;
  return JSON.parse(text.slice(text.lastIndexOf("data: ") + "data: ".length));
}

/** Errors of callers during the storm are expected. */
function refused(): void {}

/** A random fault with valid arguments, mostly with an end. */
function randomFault(random: Random, accountId: string): JsonObject {
  const fault = pick(random, [...faultKinds.keys()])!;
  return {
    fault,
    ...(random() < 0.7 && { accountId }),
    ...(random() < 0.7 && { times: integerBetween(random, 1, 5) }),
    ...(random() < 0.3 && { forMs: integerBetween(random, 1, 50) }),
    ...(fault === "slow" && { ms: integerBetween(random, 1, 20) }),
    ...(fault === "malformed" && { kind: pick(random, malformedKinds)! }),
    ...(fault === "out-of-size" && { megabytes: 1, times: 1 }),
    ...(fault === "redirect-foreign" && { host: "127.0.0.1:9" }),
    ...(fault === "silence" && { newConnections: random() < 0.3 }),
  };
}

async function readAlong(url: string, token: string, open: RawStream[], signal: AbortSignal): Promise<void> {
  const opening = openRawStream(`${url}/`, token).then((stream) => {
    if (signal.aborted) stream.close();
    else open.push(stream);
  });
  // Do not wait for a request that a fault leaves unanswered.
  await Promise.race([opening, new Promise((resolve) => signal.addEventListener("abort", resolve))]);
}

async function ask(
  simulator: { readonly url: string; document(accountId: string): JsonObject },
  accountId: string,
  token: string,
  random: Random,
  signal: AbortSignal,
): Promise<void> {
  const { devices } = simulator.document(accountId) as { devices: { thermostats?: JsonObject } };
  const thermostat = pick(random, Object.keys(devices.thermostats ?? {})) ?? "none";
  const isWrite = random() < 0.5;
  const response = await fetch(`${simulator.url}/devices/thermostats/${thermostat}`, {
    method: isWrite ? "PUT" : "GET",
    headers: { Authorization: `Bearer ${token}` },
    redirect: "manual",
    signal,
    ...(isWrite && { body: JSON.stringify({ fan_timer_active: random() < 0.5 }) }),
  });
  await response.text();
}
