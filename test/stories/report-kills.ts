import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { HomeGraph } from "../../simulator/google-home/home-graph.ts";
import { readConfig } from "../../src/config/config.ts";
import { startLogging } from "../../src/runtime/process/log.ts";
import { openParts, type Parts } from "../../src/service/parts.ts";
import { addOutlet, GoogleAccount, isReported, syncWith } from "../assistants/google-world.ts";
import { numbersFrom } from "../set-up/seeded-random.ts";
import type { CommandKills } from "./command-kills.ts";
import { pick } from "./fan-kills.ts";
import { killableHouse } from "./killable-house.ts";
import { ThingClient } from "./thing-client.ts";
import { eventually } from "./world.ts";

const scenes = ["smoke", "co-warning", "co-emergency", "clear", "drift", "fan-on", "fan-off", "leave"] as const;
/** Reports are grouped for a second: some kills come before a report, some while it is sent, some after it. */
const longestPauseMs = 1_500;
/** Every so many rounds a report surely is on its way at the kill, and the states are compared afterwards. */
const roundsBetweenChecks = 5;

/**
 * Kills the service while it reports changes to Home Graph. In the end Google knows the present state of every device,
 * after the claim of a killed node has ended (reportTimes.claimMs). A change after the end of the link is not reported.
 */
export async function killAroundReports(t: TestContext, { database, seed, rounds }: CommandKills): Promise<void> {
  const house = await killableHouse(t, database);
  const { simulator, nodes, client } = house;
  const graph = await HomeGraph.start();
  t.after(() => graph.stop());
  const outlet = await withParts(house.environment, ({ administration }) => addOutlet(administration, graph));
  const { accountId, token } = simulator.addAccount({ structures: [{ thermostats: 3, alarms: 2 }] });
  const play = (scene: string) => simulator.playScene(accountId, { scene });
  const random = numbersFrom(seed);
  await nodes.start();
  await house.signIn();
  await client.federate("POST", token);
  const program = new ThingClient(await house.authorizeClient());
  const serviceShows = (smoke: "ok" | "alarm") =>
    eventually(t.signal, async () => {
      const shown = (await program.ofKind("alarm")).map(({ traits }) => traits.smoke.state.state.value);
      assert.equal(shown.includes("alarm") ? "alarm" : "ok", smoke);
    });
  const google = await GoogleAccount.link(() => house.baseUrl, outlet);
  const { user } = await syncWith(google, graph, t.signal);
  const reports = () => graph.callsOf("reportStateAndNotification");

  await isReported(google, user, t.signal);
  const before = reports().length;
  for (let round = 0; round < rounds; round++) {
    for (let change = 0; change < 3; change++) await play(pick(random, scenes));
    await new Promise((resolve) => setTimeout(resolve, random() * longestPauseMs));
    const isMidReport = round % roundsBetweenChecks === 0;
    const breakOff = isMidReport ? await unansweredReport() : undefined;
    await nodes.kill();
    breakOff?.();
    if (!isMidReport) await play(pick(random, scenes));
    await nodes.start();
    if (isMidReport) await isReported(google, user, t.signal);
  }
  await play("clear");
  await serviceShows("ok");
  await play("smoke");
  await serviceShows("alarm");
  await isReported(google, user, t.signal);
  assert.match(JSON.stringify([...user.states.values()]), /"smoke detected"/);
  const sent = reports().length - before;

  await play("clear");
  await serviceShows("ok");
  await isReported(google, user, t.signal);
  assert.deepEqual(await google.intent("DISCONNECT"), {});
  const told = reports().length;
  await nodes.kill();
  await play("smoke");
  await nodes.start();
  await serviceShows("alarm");
  await nodes.stop();
  const linked = await withParts(house.environment, ({ assistants }) => assistants.grants.countOfOutlet(outlet.outlet));
  assert.equal(linked, 0);
  assert.doesNotMatch(JSON.stringify(reports().slice(told)), /"smoke detected"/, `seed ${seed}`);
  t.diagnostic(`${rounds} kills; ${sent} reports`);

  /** Waits for a report that Google does not answer and loses when the returned function is called. */
  async function unansweredReport(): Promise<() => void> {
    await play("clear");
    await serviceShows("ok");
    const breakOff = graph.inject({ method: "reportStateAndNotification", isSilent: true, isDown: true });
    await play("smoke");
    await eventually(t.signal, async () => assert.ok(graph.waiting > 0));
    return breakOff;
  }
}

/** The parts of a service on the same store, while no other service runs on it. */
async function withParts<Result>(
  environment: Readonly<Record<string, string>>,
  act: (parts: Parts) => Promise<Result>,
): Promise<Result> {
  const parts = await openParts(readConfig({ flags: {}, environment }), startLogging("silent"));
  try {
    return await act(parts);
  } finally {
    await parts.close();
  }
}
