import assert from "node:assert/strict";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { DeviceId } from "../../src/model/ids.ts";
import type { CrashPlan } from "../set-up/crash-point.ts";
import { killableDeployment } from "./killable-deployment.ts";
import { type Deployment, eventually } from "./world.ts";

const crashPoint = new URL("../set-up/crash-point.ts", import.meta.url);
const fan = (y: number) => `d.structures[1].d.thermostats[${y}].fan_timer_active`;
const noAnswer = /^error: no answer from the ecosystem, true, \d{4}-/;
const refused = /^error: not today, true, \d{4}-/;

/** A step of a fan request at which the service is killed, and the expected outcome. */
interface Step {
  readonly when: string;
  /** Kill before or after the commit that brings the request into this state; undefined: when the ecosystem got it. */
  readonly at?: readonly [side: "before" | "after", state: string];
  /** How the ecosystem treats the request; by default it accepts it. */
  readonly fault?: { readonly fault: string; readonly message?: string };
  /** Whether the client's write was answered. */
  readonly isAnswered: boolean;
  /** How often the ecosystem gets the command in all. */
  readonly received: 0 | 1;
  /** The final requestWrite: blank, or a matching error. */
  readonly shows: null | RegExp;
}

const steps: readonly Step[] = [
  { when: "before the intent is kept", at: ["before", "queued"], isAnswered: false, received: 0, shows: null },
  { when: "after that, before it is answered", at: ["after", "queued"], isAnswered: false, received: 1, shows: null },
  { when: "before it is marked as sent", at: ["before", "sending"], isAnswered: true, received: 1, shows: null },
  { when: "after that, before it is sent", at: ["after", "sending"], isAnswered: true, received: 0, shows: noAnswer },
  {
    when: "when it was sent, before the answer",
    fault: { fault: "withhold-answer" },
    isAnswered: true,
    received: 1,
    shows: null,
  },
  {
    when: "when the answer has come, before it is kept",
    at: ["before", "accepted"],
    isAnswered: true,
    received: 1,
    shows: null,
  },
  {
    when: "after that, before the stream shows it",
    at: ["after", "accepted"],
    isAnswered: true,
    received: 1,
    shows: null,
  },
  {
    when: "when a refusal has come, before it is kept",
    at: ["before", "rejected"],
    fault: { fault: "reject-fan", message: "not today" },
    isAnswered: true,
    received: 1,
    shows: noAnswer,
  },
  {
    when: "when a refusal was kept",
    at: ["after", "rejected"],
    fault: { fault: "reject-fan", message: "not today" },
    isAnswered: true,
    received: 1,
    shows: refused,
  },
  {
    when: "when the stream has shown it, before that is kept",
    at: ["before", "confirmed"],
    isAnswered: true,
    received: 1,
    shows: null,
  },
  { when: "when that was kept", at: ["after", "confirmed"], isAnswered: true, received: 1, shows: null },
];

/**
 * Kills the service at each step of a fan request. The ecosystem gets the command at
 * most once, and exactly as often as expected. The outcome is there 5 s after the next start, or 35 s where another node
 * might wait for the answer.
 */
export async function killAtEachStep(t: TestContext, database: Deployment): Promise<void> {
  const house = await killableDeployment(t, database);
  const { simulator, client, nodes } = house;
  const account = simulator.addAccount({ structures: [{ thermostats: steps.length, alarms: 0 }] });
  const crashFile = join(house.environment.BREEZEWAY_DATA!, "crash-plan");
  const start = () => nodes.start({ preload: crashPoint, environment: { CRASH_FILE: crashFile } });
  await start();
  await house.signIn();
  const { body } = await client.federate("POST", account.token);
  const deviceId = Number(body.DeviceId) as DeviceId;
  const program = await house.authorizeClient();
  const shown = async (name: string) => (await client.device(deviceId)).attributes.get(name)?.value ?? null;
  const isLive = async () => assert.equal((await client.device(deviceId)).presenceInfo, "1");
  await eventually(t.signal, isLive);
  const received = async (y: number) => {
    const id = (await shown(`d.structures[1].d.thermostats[${y}].device_id`)) ?? "";
    const isAbout = ({ kind, method, path }: ReturnType<typeof simulator.log>[number]) =>
      (kind === "command" || (kind === "fault" && method === "PUT")) && String(path).includes(id);
    return simulator.log().filter(isAbout).length;
  };

  const outcomes: (() => Promise<void>)[] = [];
  for (const [i, step] of steps.entries()) {
    const y = i + 1;
    if (step.fault) simulator.addFault(step.fault as never);
    if (step.at) {
      const [side, state] = step.at;
      const [last] = (await program.call(`/devices/${deviceId}/commands`)).body.commands;
      const plan: CrashPlan = { side, state, afterId: last?.commandId ?? 0 };
      // Written atomically: the processes read the file at any time.
      writeFileSync(`${crashFile}.new`, JSON.stringify(plan));
      renameSync(`${crashFile}.new`, crashFile);
    }
    const writing = program.write(deviceId, { [`${fan(y)}.requestWrite`]: "true" }).then(
      () => true,
      () => false,
    );
    if (!step.at) {
      await writing;
      await eventually(t.signal, async () => assert.equal(await received(y), 1));
      await nodes.kill();
    }
    await nodes.killed();
    assert.equal(await writing, step.isAnswered, step.when);
    simulator.clearFaults();
    await start();
    const dueMs = Date.now() + (database === "sqlite" ? 5_000 : 35_000);
    const outcome = async () => {
      await eventually(AbortSignal.timeout(Math.max(1, dueMs - Date.now())), async () => {
        const text = await shown(`${fan(y)}.requestWrite`);
        assert.ok(step.shows ? step.shows.test(text ?? "") : text === null, `${step.when}: requestWrite shows ${text}`);
      });
      await eventually(t.signal, async () => {
        assert.equal(await shown(fan(y)), step.received === 1 && step.shows === null ? "true" : "false", step.when);
      });
      assert.equal(await received(y), step.received, step.when);
    };
    if (database === "sqlite") await outcome();
    else outcomes.push(outcome);
    await eventually(t.signal, isLive);
  }
  for (const outcome of outcomes) await outcome();
  t.diagnostic(`killed at ${steps.length} steps`);
}
