import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { numbersFrom } from "../set-up/seeded-random.ts";
import { isCommand, moments, pick, treatments, turn } from "./fan-kills.ts";
import { killableDeployment } from "./killable-deployment.ts";
import { controlScope, type ShownReceipt, ThingClient } from "./thing-client.ts";
import type { V3Answer } from "./v3-client.ts";
import { type Deployment, eventually } from "./world.ts";

export interface CommandKills {
  readonly database: Deployment;
  readonly seed: number;
  readonly rounds: number;
}

/** Each command to a thermostat has another duration, so that every command of 200 rounds can be told apart. */
const thermostats = 25;
const durations = [15, 30, 45, 60, 120, 240, 480, 720];
const ended = ["confirmed", "contradicted", "rejected", "expired"];

/**
 * Kills the service around one command after the other. The client repeats each command with its key after the next
 * start. The ecosystem never gets a command twice, and each receipt ends 5 s after the start; on a shared database within
 * 35 s, because another node might wait for the answer.
 */
export async function killAroundCommands(t: TestContext, { database, seed, rounds }: CommandKills): Promise<void> {
  const house = await killableDeployment(t, database, { writesPerHour: 1_000_000 });
  const { simulator, client, nodes } = house;
  const account = simulator.addAccount({ structures: [{ thermostats, alarms: 0 }] });
  const random = numbersFrom(seed);
  await nodes.start();
  await house.signIn();
  await client.federate("POST", account.token);
  const program = new ThingClient(await house.authorizeClient(controlScope));
  const things = (await program.ofKind("thermostat")) as readonly { readonly thingId: string }[];
  assert.equal(things.length, thermostats);
  const isLive = async () => assert.ok((await program.ofKind("thermostat")).every(({ stale }) => !stale));

  const unsettled: { readonly receipt: ShownReceipt; readonly dueMs: number; readonly round: string }[] = [];
  for (let round = 0; round < rounds; round++) {
    const { thingId } = things[round % thermostats]!;
    const [moment, treatment] = [pick(random, moments), pick(random, treatments)];
    const what = `round ${round} of seed ${seed}: killed ${moment}, the ecosystem ${treatment} it`;
    // A thing is used again only when its last command has ended.
    await untilEnded(unsettled.filter(({ receipt }) => receipt.thingId === thingId));
    await eventually(AbortSignal.timeout(60_000), isLive);
    simulator.clearFaults();
    if (treatment === "refuses") simulator.addFault({ fault: "reject-fan", message: "no, no" });
    if (treatment === "keeps silent about") simulator.addFault({ fault: "silence", newConnections: true });
    if (treatment === "loses the answer to") simulator.addFault({ fault: "withhold-answer" });
    const { sequence } = simulator.log().at(-1)!;
    const minutes = durations[Math.floor(round / thermostats) % durations.length];
    const command = { trait: "fanTimer", command: "start", params: { minutes } };
    const key = { "idempotency-key": `round ${round}` };
    const writing = program.post(thingId, command, key).catch((error): V3Answer | undefined => {
      assert.equal(moment, "while it is written", error);
      return undefined;
    });
    if (moment === "while it is written") await new Promise((resolve) => setTimeout(resolve, random() * 6));
    else await writing;
    if (moment === "when it was sent") {
      const isReceived = () => simulator.log(sequence).some(isCommand);
      for (const untilMs = Date.now() + 1_000; !isReceived() && Date.now() < untilMs; ) await turn();
    }
    if (moment === "after a while") await new Promise((resolve) => setTimeout(resolve, random() * 60));
    await nodes.kill();
    const first = await writing;
    simulator.clearFaults();
    await nodes.start();
    const dueMs = Date.now() + (database === "sqlite" ? 5_000 : 35_000);
    const again = await program.post(thingId, command, key);
    assert.equal(again.status, 202, `${what}: ${JSON.stringify(again.body)}`);
    if (first?.status === 202) assert.deepEqual(again.body, first.body, what);
    unsettled.push({ receipt: again.body, dueMs, round: what });
    if (database === "sqlite") await untilEnded([...unsettled]);
  }
  await untilEnded([...unsettled]);
  const sent = simulator.log().filter(isCommand);
  const told = sent.flatMap(({ path, body }) => (body === undefined ? [] : [`${path} ${body}`]));
  const repeated = told.filter((one, index) => told.indexOf(one) !== index);
  assert.deepEqual(repeated, [], `seed ${seed}: commands that were sent twice`);
  for (const path of new Set(sent.map((one) => one.path))) {
    const times = sent.filter((one) => one.path === path).length;
    assert.ok(times <= Math.ceil(rounds / thermostats), `seed ${seed}: ${path} received ${times} commands`);
  }
  const received = sent.length;
  assert.ok(
    received >= rounds / 4,
    `of ${rounds} commands only ${received} reached the ecosystem: the kills came too early`,
  );
  t.diagnostic(`${rounds} kills, ${received} commands received`);

  async function untilEnded(commands: readonly (typeof unsettled)[number][]): Promise<void> {
    for (const one of commands) {
      await eventually(AbortSignal.timeout(Math.max(1, one.dueMs - Date.now())), async () => {
        const receipt = await program.receipt(one.receipt);
        const hasEnded = ended.includes(receipt.state) || (receipt.state === "accepted" && receipt.sentTime !== null);
        assert.ok(hasEnded, `${one.round}: ${JSON.stringify(receipt)}`);
      });
      unsettled.splice(unsettled.indexOf(one), 1);
    }
  }
}
