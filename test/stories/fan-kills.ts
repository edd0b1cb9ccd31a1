import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Activity } from "../../simulator/simulator.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import { numbersFrom } from "../set-up/seeded-random.ts";
import { killableDeployment } from "./killable-deployment.ts";
import { type Deployment, eventually } from "./world.ts";

export interface FanKills {
  readonly database: Deployment;
  readonly seed: number;
  readonly rounds: number;
}

const thermostats = 20;
const request = (y: number) => `d.structures[1].d.thermostats[${y}].fan_timer_active.requestWrite`;
const active = (y: number) => `d.structures[1].d.thermostats[${y}].fan_timer_active`;

/** The moments at which the service is killed. */
export const moments = ["while it is written", "when it was written", "when it was sent", "after a while"] as const;
/** How the ecosystem treats the request or command. */
export const treatments = ["takes", "refuses", "keeps silent about", "loses the answer to"] as const;

/**
 * Kills the service around one fan request after the other. The ecosystem never gets a request twice. Each request has
 * an outcome 5 s after the next start; on a shared database within 35 s, because another node might wait for the answer.
 */
export async function killAroundFanRequests(t: TestContext, { database, seed, rounds }: FanKills): Promise<void> {
  const house = await killableDeployment(t, database, { writesPerHour: 1_000_000 });
  const { simulator, client, nodes } = house;
  const account = simulator.addAccount({ structures: [{ thermostats, alarms: 0 }] });
  const random = numbersFrom(seed);
  await nodes.start();
  await house.signIn();
  const { body } = await client.federate("POST", account.token);
  const deviceId = Number(body.DeviceId) as DeviceId;
  const program = await house.authorizeClient();
  const isLive = async () => assert.equal((await client.device(deviceId)).presenceInfo, "1");
  const shown = async (y: number) => (await client.device(deviceId)).attributes.get(request(y))?.value ?? null;
  const received = (y: number, fromSequence: number) => {
    const id = thermostatIds.get(y)!;
    return simulator.log(fromSequence).filter((entry) => isCommand(entry) && String(entry.path).includes(id));
  };
  const thermostatIds = new Map<number, string>();
  for (const [name, { value }] of (await client.device(deviceId)).attributes) {
    const [, y] = /^d\.structures\[1\]\.d\.thermostats\[(\d+)\]\.device_id$/.exec(name) ?? [];
    if (y) thermostatIds.set(Number(y), value);
  }

  const unsettled: { readonly y: number; readonly dueMs: number; readonly round: string }[] = [];
  for (let round = 0; round < rounds; round++) {
    const y = 1 + (round % thermostats);
    const [moment, treatment] = [pick(random, moments), pick(random, treatments)];
    const what = `round ${round} of seed ${seed}: killed ${moment}, the ecosystem ${treatment} it`;
    // Use a thermostat again only when its last request has an outcome.
    await untilSettled(unsettled.filter((one) => one.y === y));
    await eventually(AbortSignal.timeout(60_000), isLive);
    simulator.clearFaults();
    if (treatment === "refuses") simulator.addFault({ fault: "reject-fan", message: "no, no" });
    if (treatment === "keeps silent about") simulator.addFault({ fault: "silence", newConnections: true });
    if (treatment === "loses the answer to") simulator.addFault({ fault: "withhold-answer" });
    const { sequence } = simulator.log().at(-1)!;
    const isRunning = (await client.device(deviceId)).attributes.get(active(y))?.value === "true";
    const value = isRunning ? "false" : "true";
    const writing = program.write(deviceId, { [request(y)]: value }).catch((error) => {
      assert.equal(moment, "while it is written", error);
    });
    if (moment === "while it is written") await new Promise((resolve) => setTimeout(resolve, random() * 6));
    else await writing;
    if (moment === "when it was sent") {
      const isReceived = () => simulator.log(sequence).some(isCommand);
      for (const untilMs = Date.now() + 1_000; !isReceived() && Date.now() < untilMs; ) await turn();
    }
    if (moment === "after a while") await new Promise((resolve) => setTimeout(resolve, random() * 60));
    await nodes.kill();
    await writing;
    simulator.clearFaults();
    await nodes.start();
    unsettled.push({ y, dueMs: Date.now() + (database === "sqlite" ? 5_000 : 35_000), round: what });
    if (database === "sqlite") await untilSettled([...unsettled]);
    assert.ok(received(y, sequence).length <= 1, `${what}: received ${received(y, sequence).length} times`);
  }
  await untilSettled([...unsettled]);
  let total = 0;
  for (let y = 1; y <= thermostats; y++) {
    const most = Math.floor(rounds / thermostats) + (y <= rounds % thermostats ? 1 : 0);
    assert.ok(received(y, 0).length <= most, `seed ${seed}: a request for thermostat ${y} was sent again`);
    total += received(y, 0).length;
  }
  assert.ok(total >= rounds / 4, `of ${rounds} requests only ${total} reached the ecosystem: the kills came too early`);
  t.diagnostic(`${rounds} kills, ${total} requests received`);

  /** Waits for outcomes: requestWrite is blank or an error, no longer the written value. */
  async function untilSettled(requests: readonly (typeof unsettled)[number][]): Promise<void> {
    for (const one of requests) {
      const { y, dueMs, round } = one;
      await eventually(AbortSignal.timeout(Math.max(1, dueMs - Date.now())), async () => {
        const text = await shown(y);
        assert.ok(text === null || text.startsWith("error: "), `${round}: requestWrite is still ${text}`);
      });
      unsettled.splice(unsettled.indexOf(one), 1);
    }
  }
}

/** The simulator records an unanswered command as the fault that it applied. */
export function isCommand({ kind, method }: Activity): boolean {
  return kind === "command" || (kind === "fault" && method === "PUT");
}

export function pick<T>(random: () => number, choices: readonly T[]): T {
  return choices[Math.floor(random() * choices.length)]!;
}

export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
