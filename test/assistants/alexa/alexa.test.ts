import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { namedFaults } from "../../../simulator/alexa/faults.ts";
import { Skill } from "../../../simulator/alexa/skill.ts";
import type { AlexaEvent } from "../../../src/assistants/alexa/messages.ts";
import { clientOfUser } from "../../stories/v3-client.ts";
import { eventually, person } from "../../stories/world.ts";
import { type AlexaPlan, accountLinked, alexaWorld, endpointsOf, isNamed, lambdaFor, nameOf } from "./alexa-world.ts";
import { checked } from "./checked.ts";

/** A skill that is enabled, and whose devices Alexa has discovered. */
async function enabledWorld(t: Parameters<typeof alexaWorld>[0], plan: AlexaPlan = {}) {
  const made = await alexaWorld(t, plan);
  assert.equal(nameOf(await made.skill.acceptGrant(made.amazon.login)), "AcceptGrant.Response");
  await made.skill.discover();
  await made.isReported();
  const play = (scene: string, more: object = {}) =>
    made.story.simulator.playScene(made.story.accountId, { scene, ...more });
  return { ...made, play };
}

describe("a home at Alexa", () => {
  it("is discovered, read and commanded, and every change is told as ReportState tells it", async (t) => {
    const { story, customer, skill, isReported, play } = await enabledWorld(t);
    assert.equal(endpointsOf(customer, "THERMOSTAT").length, 2);
    const [contact] = endpointsOf(customer, "CONTACT_SENSOR");
    const [thermostat] = endpointsOf(customer, "THERMOSTAT");
    const set = (name: string, payload: object) =>
      skill.directive(`Alexa.ThermostatController ${name}`, thermostat!, payload);
    const shownBy = (name: string) => customer.states.get(thermostat!)?.get(`Alexa.ThermostatController.${name}`);

    assert.equal(nameOf(await set("SetThermostatMode", { thermostatMode: { value: "HEAT" } })), "Response");
    assert.equal(shownBy("thermostatMode"), "HEAT");
    const target = { targetSetpoint: { value: 68, scale: "FAHRENHEIT" } };
    assert.equal(nameOf(await set("SetTargetTemperature", target)), "Response");
    assert.deepEqual(shownBy("targetSetpoint"), { value: 20, scale: "CELSIUS" });
    const delta = { targetSetpointDelta: { value: -1, scale: "CELSIUS" } };
    assert.equal(nameOf(await set("AdjustTargetTemperature", delta)), "Response");
    assert.deepEqual(shownBy("targetSetpoint"), { value: 19, scale: "CELSIUS" });
    const tooHot = { targetSetpoint: { value: 60, scale: "CELSIUS" } };
    const refused = await set("SetTargetTemperature", tooHot);
    assert.equal(nameOf(refused), "ErrorResponse TEMPERATURE_VALUE_OUT_OF_RANGE");
    assert.equal(nameOf(await set("SetThermostatMode", { thermostatMode: { value: "OFF" } })), "Response");
    assert.equal(nameOf(await set("SetTargetTemperature", target)), "ErrorResponse THERMOSTAT_IS_OFF");

    const detected = () => customer.states.get(contact!)?.get("Alexa.ContactSensor.detectionState");
    assert.equal(detected(), "NOT_DETECTED");
    await play("smoke");
    await eventually(t.signal, async () => assert.equal(detected(), "DETECTED"));
    await play("clear");
    await play("drift");
    await isReported();
    assert.equal(detected(), "NOT_DETECTED");
    for (const event of customer.events) checked(event as unknown as AlexaEvent);

    const answered = await skill.reportState(thermostat!);
    assert.notEqual(answered.event.header.correlationToken, undefined);
    const { deliveries } = (await story.service.parts.administration.run("outlet deliveries", {
      outlet: (await story.service.parts.assistants.outlets.list())[0]!.id,
    })) as { readonly deliveries: readonly { readonly outcome: string }[] };
    assert.ok(deliveries.length > 0);
    assert.ok(deliveries.every(({ outcome }) => outcome === "taken"));
    assert.ok(!/Atz[ar]\|/.test(JSON.stringify(deliveries)), "no token is shown");
    assert.ok(!/Atz[ar]\|/.test(story.logged.join()), "no token is logged");
  });

  it("hears of things that are added, renamed, gone and unlinked", async (t) => {
    const { story, customer, isReported, play } = await enabledWorld(t);
    const names = () => [...customer.endpoints.values()].map(({ friendlyName }) => friendlyName);
    await play("rename", { thermostat: 1, name: "Attic" });
    await eventually(t.signal, async () => assert.ok(names().some((name) => name.startsWith("Attic"))));
    const before = customer.endpoints.size;
    await play("add-structure", { thermostats: 1 });
    await eventually(t.signal, async () => assert.ok(customer.endpoints.size > before));
    await isReported();
    const known = [...customer.endpoints.keys()];
    await play("remove-thermostat", { thermostat: 1 });
    const connectivity = () => [...customer.states.values()].map((one) => one.get("Alexa.EndpointHealth.connectivity"));
    await eventually(t.signal, async () => {
      assert.ok(connectivity().some((value) => JSON.stringify(value) === '{"value":"UNREACHABLE"}'));
    });
    await isReported();
    const deleted = known.filter((endpointId) => !customer.endpoints.has(endpointId));
    assert.deepEqual(deleted, [], "it is unreachable, and not deleted yet");
    await story.client.unlink();
    await eventually(t.signal, async () => assert.equal(endpointsOf(customer, "CONTACT_SENSOR").length, 0));
    for (const event of customer.events) checked(event as unknown as AlexaEvent);
    assert.ok(customer.events.some(isNamed("DeleteReport")));
  });

  it("answers a slow command later, through the event gateway", async (t) => {
    const { story, customer, skill } = await enabledWorld(t, { clockSpeed: 10 });
    const [thermostat] = endpointsOf(customer, "THERMOSTAT");
    story.simulator.addFault({ fault: "keep-alives-only" } as never);
    const payload = { thermostatMode: { value: "ECO" } };
    const deferred = await skill.directive("Alexa.ThermostatController SetThermostatMode", thermostat!, payload);
    assert.equal(nameOf(deferred), "DeferredResponse");
    story.simulator.clearFaults();
    story.simulator.drop(story.accountId);
    const late = await customer.event(isNamed("Response"));
    checked(late as unknown as AlexaEvent);
    assert.equal(late.event.header.correlationToken, deferred.event.header.correlationToken);
    assert.equal(late.event.endpoint?.endpointId, thermostat);
    const mode = late.context?.properties.find(({ name }) => name === "thermostatMode");
    assert.equal(mode?.value, "ECO");
  });

  it("is not open to tokens of other clients, nor to commands that were not granted", async (t) => {
    const { story, outlet, customer, skill, amazon } = await enabledWorld(t, { scope: "devices:read" });
    const [thermostat] = endpointsOf(customer, "THERMOSTAT");
    const payload = { thermostatMode: { value: "HEAT" } };
    const refused = await skill.directive("Alexa.ThermostatController SetThermostatMode", thermostat!, payload);
    assert.equal(nameOf(refused), "ErrorResponse INSUFFICIENT_PERMISSIONS");
    const other = await clientOfUser(() => story.service, "Story", person);
    const baseUrl = () => story.service.baseUrl;
    const stranger = new Skill(customer, other.accessToken, lambdaFor(baseUrl));
    assert.equal(nameOf(await stranger.discover()), "ErrorResponse INVALID_AUTHORIZATION_CREDENTIAL");
    assert.equal(nameOf(await stranger.acceptGrant(amazon.login)), "ErrorResponse ACCEPT_GRANT_FAILED");
    const nothing = new Skill(customer, await accountLinked(baseUrl, outlet, "devices:control"), lambdaFor(baseUrl));
    assert.equal(nameOf(await nothing.discover()), "ErrorResponse INSUFFICIENT_PERMISSIONS");
    const unreadable = await fetch(`${baseUrl()}/alexa/v3/directives`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    assert.equal(unreadable.status, 400);
  });
});

describe("reports to Alexa's event gateway", () => {
  it("go to the region of the grant, and are repeated until they are taken", async (t) => {
    const { amazon, customer, isReported, play } = await enabledWorld(t, { region: "eu" });
    const [contact] = endpointsOf(customer, "CONTACT_SENSOR");
    const detected = () => customer.states.get(contact!)?.get("Alexa.ContactSensor.detectionState");
    amazon.login.endAccessTokens();
    await play("smoke");
    await eventually(t.signal, async () => assert.equal(detected(), "DETECTED"));
    assert.equal(amazon.login.renewals, 1);
    for (const fault of [namedFaults.unavailable, namedFaults.neverEnabled]) {
      amazon.faults.set("gateway", fault, 1);
      await play("clear");
      await eventually(t.signal, async () => assert.equal(detected(), "NOT_DETECTED"));
      await play("smoke");
      await eventually(t.signal, async () => assert.equal(detected(), "DETECTED"));
    }
    amazon.login.endAccessTokens();
    amazon.faults.set("tokens", { kind: "refuses", status: 503, code: "server_error" }, 1);
    await play("clear");
    await eventually(t.signal, async () => assert.equal(detected(), "NOT_DETECTED"));
    await isReported();
  });

  it("end when the customer disables the skill, and when the user withdraws the access", async (t) => {
    const { story, amazon, outlet, customer, skill, accessToken, play } = await enabledWorld(t);
    const { assistants, administration } = story.service.parts;
    const links = () => assistants.grants.countOfOutlet(outlet.outlet);
    assert.equal(await links(), 1);
    amazon.disableSkill(customer);
    await play("smoke");
    await eventually(t.signal, async () => assert.equal(await links(), 0));
    const { deliveries } = (await administration.run("outlet deliveries", { outlet: outlet.outlet })) as {
      readonly deliveries: readonly { readonly outcome: string }[];
    };
    assert.equal(deliveries[0]!.outcome, "forgotten");

    customer.isEnabled = true;
    assert.equal(nameOf(await skill.acceptGrant(amazon.login)), "AcceptGrant.Response");
    const [contact] = endpointsOf(customer, "CONTACT_SENSOR");
    await eventually(t.signal, async () => {
      assert.equal(customer.states.get(contact!)?.get("Alexa.ContactSensor.detectionState"), "DETECTED");
    });
    const revoked = await fetch(`${story.service.baseUrl}/oauth2/revoke_token`, {
      method: "POST",
      body: new URLSearchParams({
        token: accessToken,
        client_id: outlet.client_id,
        client_secret: outlet.client_secret,
      }),
    });
    assert.equal(revoked.status, 200);
    assert.equal(nameOf(await skill.discover()), "ErrorResponse INVALID_AUTHORIZATION_CREDENTIAL");
    assert.equal(await links(), 0);
    const calls = amazon.gatewayCalls();
    await play("clear");
    await play("co-emergency");
    const seen = await story.service.parts.store.read((tx) => tx.log.end());
    await eventually(t.signal, async () => {
      const feed = await story.service.parts.store.transaction((tx) => tx.assistantMarks.lockFeed());
      assert.ok(feed.id >= seen.id || !(await story.service.parts.store.read((tx) => tx.assistantGrants.isAny())));
    });
    assert.equal(amazon.gatewayCalls(), calls);
  });

  it("need a grant that Amazon accepts", async (t) => {
    const { story, amazon, outlet, skill } = await alexaWorld(t);
    amazon.faults.set("tokens", { kind: "refuses", status: 400, code: "invalid_grant" }, 1);
    assert.equal(nameOf(await skill.acceptGrant(amazon.login)), "ErrorResponse ACCEPT_GRANT_FAILED");
    assert.equal(await story.service.parts.assistants.grants.countOfOutlet(outlet.outlet), 0);
    const checkedOutlet = (await story.service.parts.administration.run("outlet check", {
      outlet: outlet.outlet,
    })) as { readonly isRight: boolean };
    assert.equal(checkedOutlet.isRight, true);
  });
});
