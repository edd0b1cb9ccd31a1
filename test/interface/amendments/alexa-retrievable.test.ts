import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { alexaWorld, endpointsOf } from "../../assistants/alexa/alexa-world.ts";
import { assertRetrieved } from "../../assistants/random/alexa-checks.ts";

describe("settled: Alexa's retrievable properties", () => {
  it("are in every state report, in every mode of a thermostat", async (t) => {
    const { customer, skill, amazon } = await alexaWorld(t);
    await skill.acceptGrant(amazon.login);
    await skill.discover();
    const assertAll = async () => {
      for (const [endpointId, endpoint] of customer.endpoints) {
        const answer = await skill.reportState(endpointId);
        assert.equal(answer.event.header.name, "StateReport");
        assertRetrieved(answer, endpoint);
      }
    };
    await assertAll();
    const [thermostat] = endpointsOf(customer, "THERMOSTAT");
    for (const value of ["HEAT", "ECO", "OFF"]) {
      const payload = { thermostatMode: { value } };
      await skill.directive("Alexa.ThermostatController SetThermostatMode", thermostat!, payload);
      await assertAll();
    }
  });
});
