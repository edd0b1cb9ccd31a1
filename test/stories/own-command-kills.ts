import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { readConfig } from "../../src/config/config.ts";
import type { DeviceId, UserId } from "../../src/model/ids.ts";
import { startLogging } from "../../src/runtime/process/log.ts";
import { openParts } from "../../src/service/parts.ts";
import { runCommand } from "../cli/run-command.ts";
import { numbersFrom } from "../set-up/seeded-random.ts";
import type { CommandKills } from "./command-kills.ts";
import { moments, pick } from "./fan-kills.ts";
import { killableDeployment } from "./killable-deployment.ts";
import { controlScope, type ShownReceipt, ThingClient } from "./thing-client.ts";
import { tokenFor, type V3Answer, V3Client } from "./v3-client.ts";
import { eventually, person } from "./world.ts";

const lamps = 10;
const commandSeconds = 10;
const lampMap = {
  kind: "light",
  commandSeconds,
  traits: { brightness: { percent: { attribute: "level", writable: true, decimals: 0 } } },
};
/** How the company treats a command. An answer counts only before the command's deadline. */
const treatments = ["answers before the kill", "answers after the start", "contradicts", "keeps silent"] as const;
const outcomes: Readonly<Record<(typeof treatments)[number], readonly string[]>> = {
  // The kill can come before the command or its answer is stored.
  "answers before the kill": ["confirmed", "expired"],
  "answers after the start": ["confirmed"],
  // A contradiction counts two seconds after the sending.
  contradicts: ["contradicted", "expired"],
  "keeps silent": ["expired"],
};

/**
 * Kills the service around one command to an own thing after the other. The client repeats each command with its key
 * after the next start. Each key has one receipt, which the log shows as sent once and ended once.
 */
export async function killAroundOwnCommands(t: TestContext, { database, seed, rounds }: CommandKills): Promise<void> {
  const house = await killableDeployment(t, database);
  const { nodes, environment } = house;
  const random = numbersFrom(seed);
  await nodes.start();
  const company = await enterpriseClient(house);
  const send = (method: string, path: string, body: object) =>
    company.call(path, { method, headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  assert.equal((await send("PUT", "/device-types/Lamp", lampMap)).status, 200);
  const userId = await userIdOf(environment);
  for (let lamp = 0; lamp < lamps; lamp++) {
    const device = { userId, deviceTypeName: "Lamp", deviceName: `Lamp ${lamp}` };
    assert.equal((await send("POST", "/devices", device)).status, 201);
  }
  const program = new ThingClient(await house.authorizeClient(controlScope));
  const things: readonly { readonly thingId: string; readonly deviceId: DeviceId }[] = await program.ofKind("light");
  assert.equal(things.length, lamps);
  const write = (deviceId: DeviceId, level: number) => send("PUT", `/devices/${deviceId}`, { level: String(level) });

  let late = 0;
  const made: { readonly receipt: ShownReceipt; readonly states: readonly string[]; readonly round: string }[] = [];
  for (let round = 0; round < rounds; round++) {
    const { thingId, deviceId } = things[round % lamps]!;
    const [moment, treatment] = [pick(random, moments), pick(random, treatments)];
    const what = `round ${round} of seed ${seed}: killed ${moment}, the company ${treatment}`;
    await ended(made.filter(({ receipt }) => receipt.thingId === thingId));
    const percent = 1 + (round % 90);
    const command = { trait: "brightness", command: "set", params: { percent } };
    const key = { "idempotency-key": `round ${round}` };
    const lost = (error: unknown): undefined => assert.equal(moment, "while it is written", String(error)) as undefined;
    const writing = program.post(thingId, command, key).catch((error): V3Answer | undefined => lost(error));
    if (moment === "while it is written") await new Promise((resolve) => setTimeout(resolve, random() * 6));
    else await writing;
    const answering =
      treatment === "answers before the kill" ? write(deviceId, percent).catch(() => undefined) : undefined;
    if (moment === "after a while") await new Promise((resolve) => setTimeout(resolve, random() * 60));
    await nodes.kill();
    const isAnswered = (await answering)?.status === 200 && moment !== "while it is written";
    const killedMs = Date.now();
    const first = await writing;
    await nodes.start();
    const again = await program.post(thingId, command, key);
    assert.equal(again.status, 202, `${what}: ${JSON.stringify(again.body)}`);
    if (first?.status === 202) assert.deepEqual(again.body, first.body, what);
    if (treatment === "answers after the start") assert.equal((await write(deviceId, percent)).status, 200);
    if (treatment === "contradicts") assert.equal((await write(deviceId, percent + 5)).status, 200);
    const receipt: ShownReceipt = again.body;
    // On a busy machine a start can take longer than the command waits. All nodes use this machine's clock.
    const isLate = (isAnswered ? killedMs : Date.now()) >= receipt.requestedTime + commandSeconds * 1_000;
    if (isLate) late += 1;
    const inTime = isAnswered ? ["confirmed"] : outcomes[treatment];
    made.push({ receipt, states: isLate ? [...inTime, "expired"] : inTime, round: what });
  }
  await ended(made);
  await nodes.stop();
  await assertLoggedOnce();
  t.diagnostic(`${rounds} kills; ${late} answers came after the deadline`);

  async function ended(commands: typeof made): Promise<void> {
    for (const { receipt, states, round } of commands) {
      await eventually(AbortSignal.timeout((commandSeconds + 35) * 1_000), async () => {
        const { state } = await program.receipt(receipt);
        assert.ok(states.includes(state), `${round}: ${state}`);
      });
    }
  }

  /** The log has one entry for the sending of each command, and one for its end. */
  async function assertLoggedOnce(): Promise<void> {
    const parts = await openParts(readConfig({ flags: {}, environment }), startLogging("silent"));
    try {
      const logged: string[] = [];
      for (const { deviceId } of things) {
        const entries = await parts.store.read((tx) => tx.log.ofDevice(userId, deviceId));
        for (const { kind, body } of entries) {
          const { id, state } = JSON.parse(body);
          if (kind === "thingCommand") logged.push(`c${id} ${state === "sending" ? "sent" : "ended"}`);
        }
      }
      const expected = made.flatMap(({ receipt }) => [`${receipt.commandId} sent`, `${receipt.commandId} ended`]);
      assert.deepEqual(logged.sort(), expected.sort(), `seed ${seed}`);
    } finally {
      await parts.close();
    }
  }
}

async function enterpriseClient(house: Awaited<ReturnType<typeof killableDeployment>>): Promise<V3Client> {
  const add = ["client", "add", "--tenant", "Story", "--name", "Company", "--kind", "enterprise", "--json"];
  const added = await runCommand(add, { environment: house.environment });
  assert.equal(added.code, 0, added.stderr);
  const { client_id, client_secret } = JSON.parse(added.stdout);
  const request = { client_id, client_secret, grant_type: "client_credentials" };
  return new V3Client(() => house.baseUrl, await tokenFor(house.baseUrl, request));
}

async function userIdOf(environment: Readonly<Record<string, string>>): Promise<UserId> {
  const listed = await runCommand(["user", "list", "--tenant", "Story", "--json"], { environment });
  const { users } = JSON.parse(listed.stdout) as {
    users: readonly { readonly name: string; readonly userId: UserId }[];
  };
  return users.find(({ name }) => name === person.name)!.userId;
}
