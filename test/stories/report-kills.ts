import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { readConfig } from "../../src/config/config.ts";
import { startLogging } from "../../src/runtime/process/log.ts";
import { openParts, type Parts } from "../../src/service/parts.ts";
import { TwoAssistants } from "../assistants/two-assistants.ts";
import { numbersFrom } from "../set-up/seeded-random.ts";
import type { CommandKills } from "./command-kills.ts";
import { pick } from "./fan-kills.ts";
import { killableDeployment } from "./killable-deployment.ts";
import { ThingClient } from "./thing-client.ts";
import { eventually } from "./world.ts";

const scenes = ["smoke", "co-warning", "co-emergency", "clear", "drift", "fan-on", "fan-off", "leave"] as const;
/** Reports are grouped for a second: some kills come before a report, some while it is sent, some after it. */
const longestPauseMs = 1_500;
/** When the kill comes: at any time, while a maker has a report and has not answered it, or while Alexa waits. */
const moments = ["any time", "google is silent", "alexa is silent", "alexa has lost its answer", "deferred"] as const;
type Moment = (typeof moments)[number];

/** A house whose things Google and Alexa know, and which the test changes and kills. */
export type ReportingHouse = Awaited<ReturnType<typeof reportingHouse>>;

/**
 * Kills the service while it reports changes to Google and to Alexa. In the end both know the present state of every
 * device, after the claim of a killed node has ended (reportTimes.claimMs), and neither was told an older state after a
 * newer one. A command whose answer was deferred is answered once.
 */
export async function killAroundReports(t: TestContext, { database, seed, rounds }: CommandKills): Promise<void> {
  const house = await reportingHouse(t, { database, seed });
  const { assistants, simulator, nodes, random, play } = house;
  const { graph, amazon, customer } = assistants;
  const before = { google: assistants.googleReports().length, alexa: customer.events.length };
  const met = new Map<Moment, number>(moments.map((moment) => [moment, 0]));
  const late: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const moment = moments[(round + seed) % moments.length]!;
    met.set(moment, met.get(moment)! + 1);
    for (let change = 0; change < 2; change++) await play(pick(random, scenes));
    await house.raise();
    const mend = await reach(moment);
    await nodes.kill();
    await mend();
    if (moment === "any time") await play(pick(random, scenes));
    await nodes.start();
    if (moment !== "any time") await assistants.bothAreTold();
  }
  await play("clear");
  await house.serviceShows("ok");
  await play("smoke");
  await house.serviceShows("alarm");
  await house.raise();
  await assistants.bothAreTold();
  assert.match(JSON.stringify([...assistants.user.states.values()]), /"smoke detected"/);
  assert.match(JSON.stringify([...customer.states.values()].map((state) => [...state])), /"DETECTED"/);
  await eventually(t.signal, async () => {
    for (const token of late) assert.equal(answersTo(token), 1, `seed ${seed}: answers to ${token}`);
  });
  assistants.assertOrdered(house.rising);
  const sent = `${assistants.googleReports().length - before.google} reports to Google`;
  const events = `${customer.events.length - before.alexa} events to Alexa, ${late.length} of them late answers`;
  t.diagnostic(
    `${rounds} kills (${[...met].map(([what, times]) => `${what}: ${times}`).join(", ")}); ${sent}, ${events}`,
  );

  function answersTo(token: string): number {
    return customer.events.filter(({ event }) => event.header.correlationToken === token).length;
  }

  /** Resolves at the moment of the kill, with a function that ends the fault. */
  async function reach(moment: Moment): Promise<() => Promise<void>> {
    if (moment === "any time") {
      await new Promise((resolve) => setTimeout(resolve, random() * longestPauseMs));
      return async () => undefined;
    }
    if (moment === "deferred") return deferredCommand();
    await play("clear");
    await house.serviceShows("ok");
    if (moment === "google is silent") {
      const breakOff = graph.inject({ method: "reportStateAndNotification", isSilent: true, isDown: true });
      await play("smoke");
      await eventually(t.signal, async () => assert.ok(graph.waiting > 0));
      return async () => breakOff();
    }
    const unanswered = amazon.unanswered();
    amazon.faults.set("gateway", { kind: moment === "alexa is silent" ? "hangs" : "loses" });
    await play("smoke");
    await eventually(t.signal, async () => assert.ok(amazon.unanswered() > unanswered));
    return async () => amazon.faults.clear("gateway");
  }

  /** The ecosystem takes the command and does not show it before the kill, so that Alexa is told to wait. */
  async function deferredCommand(): Promise<() => Promise<void>> {
    await house.isLive();
    simulator.addFault({ fault: "keep-alives-only" });
    const mode = late.length % 2 === 0 ? "ECO" : "HEAT";
    const payload = { thermostatMode: { value: mode } };
    const answer = await assistants.skill.directive(
      "Alexa.ThermostatController SetThermostatMode",
      house.ruled,
      payload,
    );
    const { name, correlationToken } = answer.event.header;
    assert.equal(name, "DeferredResponse", JSON.stringify(answer));
    late.push(correlationToken!);
    return async () => {
      simulator.clearFaults();
      simulator.drop(house.accountId);
    };
  }
}

/** Starts the service with both assistants linked; both know every device. */
export async function reportingHouse(t: TestContext, { database, seed }: Pick<CommandKills, "database" | "seed">) {
  const house = await killableDeployment(t, database, { writesPerHour: 1_000_000 });
  const { simulator, nodes, client, environment } = house;
  const assistants = await TwoAssistants.start(
    t,
    () => house.baseUrl,
    (act) => withParts(environment, ({ administration }) => act(administration)),
  );
  const { accountId, token } = simulator.addAccount({ structures: [{ thermostats: 3, alarms: 2 }] });
  const thermostatIds = Object.keys(thermostatsIn(simulator.document(accountId)));
  const change = (deviceId: string, values: object) => {
    const document = structuredClone(simulator.document(accountId));
    Object.assign(thermostatsIn(document)[deviceId]!, values);
    simulator.replaceDocument(accountId, document);
  };
  let target = 9;
  /** Each change raises the target of one thermostat, so that an older state can be told from a newer one. */
  const raise = async () => {
    target += 0.5;
    const heat = {
      hvac_mode: "heat",
      target_temperature_c: target,
      target_temperature_f: Math.round(target * 1.8 + 32),
    };
    change(thermostatIds[0]!, heat);
  };
  await raise();
  change(thermostatIds[1]!, { hvac_mode: "heat" });
  await nodes.start();
  await house.signIn();
  await client.federate("POST", token);
  const program = new ThingClient(await house.authorizeClient());
  await assistants.linkGoogle();
  await assistants.linkSkill();
  await assistants.enableSkill();
  await assistants.bothAreTold();
  const thingOf = async (index: number) => {
    const { name } = thermostatsIn(simulator.document(accountId))[thermostatIds[index]!]!;
    const things = await program.ofKind("thermostat");
    return things.find((thing) => thing.name === name || thing.name.startsWith(name)).thingId as string;
  };
  return {
    assistants,
    simulator,
    nodes,
    environment,
    accountId,
    random: numbersFrom(seed),
    play: (scene: string) => simulator.playScene(accountId, { scene }),
    raise,
    /** The thermostat whose target only rises, and one that is commanded. */
    rising: await thingOf(0),
    ruled: await thingOf(1),
    serviceShows: (smoke: "ok" | "alarm") =>
      eventually(t.signal, async () => {
        const shown = (await program.ofKind("alarm")).map(({ traits }) => traits.smoke.state.state.value);
        assert.equal(shown.includes("alarm") ? "alarm" : "ok", smoke);
      }),
    isLive: () =>
      eventually(t.signal, async () => assert.ok((await program.ofKind("thermostat")).every(({ stale }) => !stale))),
  };
}

function thermostatsIn(document: object): Record<string, { name: string }> {
  return (document as { devices: { thermostats: Record<string, { name: string }> } }).devices.thermostats;
}

/** The parts of a service on the same store, while no other service runs on it. */
export async function withParts<Result>(
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
