import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Simulator } from "../../simulator/simulator.ts";
import { readAttributeBody } from "../../src/devices/log-entries.ts";
import type { DeviceId, UserId } from "../../src/model/ids.ts";
import { openPostgres } from "../../src/store/postgres/store.ts";
import { runCommand } from "../cli/run-command.ts";
import { openLocked } from "../contracts/store/sqlite-harness.ts";
import { numbersFrom } from "../set-up/seeded-random.ts";
import { killableDeployment } from "./killable-deployment.ts";
import { type Deployment, eventually } from "./world.ts";

export interface PresencePlan {
  readonly database: Deployment;
  readonly seed: number;
  readonly changes: number;
  readonly kills: number;
}

const away = "d.structures[1].a.away";
const scenes = { home: "come-home", away: "leave", "auto-away": "auto-away" } as const;
type Presence = keyof typeof scenes;
const presences = Object.keys(scenes) as readonly Presence[];

/**
 * The typical use of alerts: they switch a lamp on when somebody comes home and off when everybody leaves; one lamp by
 * patterns, another by equal texts. Presence changes at random, streams break, and the service is killed. In the end
 * each lamp was switched exactly as often as its condition became true in the simulator's record.
 */
export async function switchLampsByPresence(test: TestContext, plan: PresencePlan): Promise<void> {
  const house = await killableDeployment(test, plan.database);
  const { simulator, client, nodes } = house;
  const account = simulator.addAccount({ structures: [{ thermostats: 1, alarms: 1 }] });
  await nodes.start();
  await house.signIn();
  const call = (operation: string, parameters: Record<string, string>) =>
    client.call(operation, { secToken: client.secToken, ...parameters });
  const devId = String((await client.federate("POST", account.token)).body.DeviceId);
  const userId = (await call("getDeviceList", {})).getDeviceListResponse.devList[0].userID as string;
  const [byPattern, byText] = [await addLamp(house.environment, userId), await addLamp(house.environment, userId)];
  const addAlert = async (operation: string, stringThreshold: string, lamp: string, power: string) => {
    const answer = await call("addTrigger", {
      ...{ devId, action: "attribute", attrName: away, operation, stringThreshold, address: "", msg: "" },
      ...{ autoDisarm: "true", autoDelete: "false", autoDisable: "false", enable: "true" },
      targetDeviceAttributes: `${lamp},power:"${power}"`,
    });
    assert.ok(answer.addTriggerResponse?.triggerId, JSON.stringify(answer));
  };
  await addAlert("regex", "home", byPattern, "on");
  await addAlert("regex", "away|auto-away", byPattern, "off");
  await addAlert("equals", "home", byText, "on");
  await addAlert("equals", "away", byText, "off");

  const random = numbersFrom(plan.seed);
  const killEvery = Math.floor(plan.changes / plan.kills);
  const begin = await presenceOf(call, devId);
  const recordFrom = simulator.log().at(-1)?.sequence ?? 0;
  for (let change = 1; change <= plan.changes; change++) {
    const next = presences[Math.floor(random() * presences.length)]!;
    await simulator.playScene(account.accountId, { scene: scenes[next] });
    if (change % killEvery === 0) {
      // Kill either at once, between the stream and the store, or after the change is durable.
      if (random() < 0.3) await eventually(test.signal, async () => assert.equal(await presenceOf(call, devId), next));
      await nodes.kill();
      await nodes.start();
    } else if (random() < 0.1) simulator.drop(account.accountId);
    await eventually(test.signal, async () => assert.equal(await presenceOf(call, devId), next));
    // Both are in one transaction: a client that sees the change also sees the alert's write.
    const lamp = await call("getDeviceAttribute", { devId: byPattern, name: "power" });
    if (change > 1) assert.equal(lamp.getDeviceAttributeResponse?.value, next === "home" ? "on" : "off");
  }
  await nodes.kill();

  const record = recordOf(simulator, account.accountId, recordFrom);
  assert.equal(record.length, plan.changes);
  const countRisingEdges = (isTrue: (presence: string) => boolean) =>
    [begin, ...record].filter((presence, i, all) => i > 0 && isTrue(presence) && !isTrue(all[i - 1]!)).length;
  const expected = {
    home: countRisingEdges((presence) => presence === "home"),
    gone: countRisingEdges((presence) => presence !== "home"),
    away: countRisingEdges((presence) => presence === "away"),
  };
  const powers = await writtenPowers(house.environment, Number(userId) as UserId, [byPattern, byText]);
  assert.deepEqual(powers, [
    { on: expected.home, off: expected.gone },
    { on: expected.home, off: expected.away },
  ]);
  test.diagnostic(`${plan.changes} changes, ${plan.kills} kills, ${JSON.stringify(expected)}`);
}

type Call = (
  operation: string,
  parameters: Record<string, string>,
) => Promise<{
  readonly getDeviceAttributeResponse?: { readonly value: string };
}>;

async function presenceOf(call: Call, devId: string): Promise<string> {
  return (await call("getDeviceAttribute", { devId, name: away })).getDeviceAttributeResponse?.value ?? "";
}

async function addLamp(environment: Record<string, string>, userId: string): Promise<string> {
  const args = ["device", "add", "--user", userId, "--name", "Lamp", "--type", "Lamp", "--json"];
  const { stdout, stderr } = await runCommand(args, { environment });
  return String(JSON.parse(stdout || assert.fail(stderr)).deviceId);
}

/** The presence after each scene in the simulator's record. */
function recordOf(simulator: Simulator, accountId: string, after: number): readonly Presence[] {
  const played = simulator.log(after).filter((entry) => entry.kind === "scene" && entry.accountId === accountId);
  return played.map(({ scene }) => presences.find((presence) => scenes[presence] === scene) ?? assert.fail());
}

/** The number of times each lamp was switched on and off. */
async function writtenPowers(environment: Record<string, string>, userId: UserId, lamps: readonly string[]) {
  const { BREEZEWAY_DATABASE_URL: url, BREEZEWAY_DATA: folder = "" } = environment;
  const store = url ? await openPostgres({ url }) : await openLocked(folder, () => 0);
  try {
    const counted = [];
    for (const lamp of lamps) {
      const entries = await store.read((tx) => tx.log.ofDevice(userId, Number(lamp) as DeviceId));
      const written = entries
        .filter(({ kind }) => kind === "attribute")
        .flatMap((entry) => readAttributeBody(entry).changes.map(([, value]) => value));
      const count = (power: string) => written.filter((value) => value === power).length;
      counted.push({ on: count("on"), off: count("off") });
    }
    return counted;
  } finally {
    await store.close();
  }
}
