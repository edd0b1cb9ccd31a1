import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { describe, it, type TestContext } from "node:test";
import fc from "fast-check";
import type { AlexaMessage } from "../../simulator/alexa/alexa-message.ts";
import { HomeGraph } from "../../simulator/google-home/home-graph.ts";
import { startHomeAssistant } from "../../simulator/home-assistant/simulator.ts";
import type { AlexaEvent } from "../../src/assistants/alexa/messages.ts";
import { traitMapTemplates } from "../../src/home/trait-map-templates.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import { rounds } from "../set-up/extent.ts";
import { clientOfTenant } from "../stories/v3-client.ts";
import { eventually } from "../stories/world.ts";
import { alexaWorld, lambdaFor } from "./alexa/alexa-world.ts";
import { checked } from "./alexa/checked.ts";
import { addOutlet, GoogleAccount, isReported, type Json, syncWith } from "./google-world.ts";
import { assertRepeated, declaredBy, keyOf, propertiesIn } from "./random/alexa-checks.ts";
import { type AskedDirective, type AskedIntent, anyDirective, anyIntent, type Target } from "./random/any-ask.ts";
import { assertExecuted, assertListed, assertQueried } from "./random/google-checks.ts";

const maps = {
  ...traitMapTemplates,
  gauge: {
    kind: "thermostat",
    traits: {
      temperature: { celsius: { attribute: "room", unit: "fahrenheit" } },
      thermostat: { mode: { attribute: "mode" }, targetCelsius: { attribute: "target", unit: "fahrenheit" } },
    },
  },
};

type MapName = keyof typeof maps;

const number = (min: number, max: number) => fc.integer({ min, max }).map(String);
const onOrOff = fc.constantFrom("on", "off", "?");
/** Texts that devices of a type write, wrong ones too. */
const written: Readonly<Record<Exclude<MapName, "sensor">, fc.Arbitrary<object>>> = {
  lamp: fc.record({ power: onOrOff }),
  dimmer: fc.record({ power: onOrOff, brightness: number(0, 101) }),
  plug: fc.record({ power: onOrOff }),
  fan: fc.record({ power: onOrOff, speed: number(0, 100) }),
  thermostat: fc.record({
    mode: fc.constantFrom("off", "heat", "boost"),
    target: number(5, 30),
    temperature: number(-20, 40),
    humidity: number(0, 100),
  }),
  "smoke-alarm": fc.record({
    smoke: fc.constantFrom("clear", "warning", "alarm", "fault"),
    battery: fc.constant("ok"),
  }),
  gauge: fc.record({ room: number(0, 100), mode: fc.constantFrom("off", "heat"), target: number(40, 90) }),
};

const writers = Object.keys(written) as readonly Exclude<MapName, "sensor">[];
const scenes = ["smoke", "co", "clear", "warmer", "cooler", "fan-on", "fan-off", "light-on", "light-off", "leave"];
const others = ["come-home", "unavailable", "available", "fahrenheit", "celsius"];

type Step =
  | { readonly do: "write"; readonly type: Exclude<MapName, "sensor">; readonly values: object }
  | { readonly do: "grow warmer" | "live" | "settle" }
  | { readonly do: "play"; readonly scene: string }
  | { readonly do: "Alexa"; readonly asked: AskedDirective }
  | { readonly do: "Google"; readonly asked: AskedIntent };

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .constantFrom(...writers)
      .chain((type) =>
        fc.record({ do: fc.constant("write" as const), type: fc.constant(type), values: written[type] }),
      ),
  },
  { weight: 2, arbitrary: fc.constant({ do: "grow warmer" as const }) },
  { weight: 4, arbitrary: fc.constant({ do: "live" as const }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("play" as const), scene: fc.constantFrom(...scenes, ...others) }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("Alexa" as const), asked: anyDirective }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("Google" as const), asked: anyIntent }) },
  { weight: 1, arbitrary: fc.constant({ do: "settle" as const }) },
);

/** One user with two linked accounts of different ecosystems and own devices of every kind, at both assistants. */
async function wholeHome(t: TestContext) {
  const instance = await startHomeAssistant({});
  t.after(() => instance.stop());
  const home = { protocol: "home-assistant", allowPrivateNetworks: true };
  const made = await alexaWorld(t, { furtherEcosystems: { home } });
  const { story, skill, amazon } = made;
  const linked = await story.client.federate("POST", instance.tokens.addLongLived(), "home", instance.url);
  assert.equal(linked.status, 200, JSON.stringify(linked.body));
  await eventually(t.signal, async () => assert.equal((await story.client.linkStatus("home")).state, "live"));
  const company = await clientOfTenant(() => story.service, "Story");
  const send = async (method: string, path: string, body: object): Promise<Json> => {
    const headers = { "content-type": "application/json" };
    const answer = await company.call(path, { method, headers, body: JSON.stringify(body) });
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    return answer.body;
  };
  const devices = new Map<MapName, DeviceId>();
  for (const [type, map] of Object.entries(maps)) {
    await send("PUT", `/device-types/${type}`, map);
    const body = { userId: story.userId, deviceTypeName: type, deviceName: `My ${type} <&"'>` };
    devices.set(type as MapName, (await send("POST", "/devices", body)).deviceId);
  }
  const graph = await HomeGraph.start();
  t.after(() => graph.stop());
  const outlet = await addOutlet(story.service.parts.administration, graph);
  const google = await GoogleAccount.link(() => story.service.baseUrl, outlet);
  await skill.acceptGrant(amazon.login);
  await skill.discover();
  const { user } = await syncWith(google, graph, t.signal);
  return { ...made, instance, company, devices, graph, google, user };
}

type WholeHome = Awaited<ReturnType<typeof wholeHome>>;

async function tellAlexa({ story, customer, accessToken }: WholeHome, asked: AskedDirective): Promise<void> {
  const endpointId = chosen(asked.to, [...customer.endpoints.keys()]);
  const [namespace, name] = asked.name.split(" ");
  const { instance, correlationToken, version: payloadVersion, payload } = asked;
  const scope = { type: "BearerToken", token: asked.token === "good" ? accessToken : "none" };
  const header = { namespace, name, instance, payloadVersion, correlationToken, messageId: "in" };
  const send = lambdaFor(() => story.service.baseUrl);
  const answer = await send({ directive: { header, endpoint: { endpointId, scope, cookie: {} }, payload } });
  assertRepeated(answer, asked, endpointId);
}

async function tellGoogle({ google, user }: WholeHome, asked: AskedIntent): Promise<void> {
  const ids = (to: readonly Target[]) => [...new Set(to.map((one) => chosen(one, [...user.devices.keys()])))];
  if (asked.intent === "SYNC") return assertListed((await google.intent("SYNC")).devices);
  if (asked.intent === "QUERY") {
    for (const entry of Object.values<Json>(await google.query(...ids(asked.to)))) assertQueried(entry);
    return;
  }
  const commands = asked.groups.map(({ to, steps }) => ({
    devices: ids(to).map((id) => ({ id })),
    execution: steps.map(({ command, params }) => ({ command: `action.devices.commands.${command}`, params })),
  }));
  const named = commands.flatMap(({ devices }) => devices.map(({ id }) => id));
  assertExecuted((await google.intent("EXECUTE", { commands })).commands, named);
}

function chosen(to: Target, known: readonly string[]): string {
  return typeof to === "string" ? to : known[to % known.length]!;
}

/** No report tells what discovery has not declared, and none is older than one before it. */
function assertInOrder(events: readonly AlexaMessage[], discovered: readonly Json[]): void {
  const declared = new Map<string, Set<string>>();
  const declare = (endpoints: readonly Json[]) => {
    for (const one of endpoints) {
      const known = declared.get(one.endpointId) ?? new Set();
      declared.set(one.endpointId, known.union(new Set(declaredBy(one))));
    }
  };
  declare(discovered);
  const sampled = new Map<string, string>();
  for (const message of events) {
    checked(message as unknown as AlexaEvent);
    const { header, endpoint, payload } = message.event;
    if (header.name === "AddOrUpdateReport") declare(payload.endpoints as readonly Json[]);
    if (header.name !== "ChangeReport") continue;
    for (const { namespace, instance, name, timeOfSample } of propertiesIn(message)) {
      const property = keyOf(namespace, instance, name);
      assert.ok(declared.get(endpoint!.endpointId)?.has(property), `${property} is declared`);
      const key = `${endpoint!.endpointId} ${property}`;
      assert.ok(timeOfSample >= (sampled.get(key) ?? ""), `${key} is not older than before`);
      sampled.set(key, timeOfSample);
    }
  }
}

describe("a home of all ecosystems at both assistants", () => {
  const story = async (t: TestContext, seed: number) => {
    const home = await wholeHome(t);
    const { story, customer, instance, company, devices, graph, google, user } = home;
    const discovered = [...customer.endpoints.values()];
    let degrees = 10;
    const grow = () => {
      degrees += 0.5;
      return company.write(devices.get("sensor")!, { temperature: String(degrees), humidity: "40" });
    };
    await grow();
    const settled = async () => {
      await isReported(google, user, t.signal);
      await home.isReported();
    };
    for (const step of fc.sample(anyStep, { seed, numRuns: rounds({ all: 120, few: 60 }) })) {
      if (step.do === "write") await company.write(devices.get(step.type)!, step.values);
      else if (step.do === "grow warmer") await grow();
      else if (step.do === "live") await story.simulator.playScene(story.accountId, { scene: "random" });
      else if (step.do === "play") instance.playScene(step.scene);
      else if (step.do === "Alexa") await tellAlexa(home, step.asked);
      else if (step.do === "Google") await tellGoogle(home, step.asked);
      else await settled();
    }
    await settled();
    assertInOrder(customer.events, discovered);
    const sensor = [...user.devices].find(([, one]: Json) => one.name.name.startsWith("My sensor"))![0];
    const told = graph
      .callsOf("reportStateAndNotification")
      .filter(({ status }) => status === 200)
      .flatMap(({ body }) => body.payload.devices.states[sensor]?.temperatureAmbientCelsius ?? []);
    assert.deepEqual(
      told,
      told.toSorted((a: number, b: number) => a - b),
      "no report is older than one before it",
    );
    assert.equal(told.at(-1), degrees);
  };

  for (let round = 1; round <= rounds({ all: 4, few: 1 }); round++) {
    const seed = Number(process.env.SEED ?? randomInt(1_000_000));
    it(`is told as it is after anything that happens, with SEED=${seed}`, { timeout: 300_000 }, (t) => story(t, seed));
  }
});
