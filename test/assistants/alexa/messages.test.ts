import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { endpointsOf } from "../../../src/assistants/alexa/endpoint.ts";
import {
  type AlexaEvent,
  acceptGrantResponse,
  addOrUpdateReport,
  changeReport,
  deferredResponse,
  deleteReport,
  response,
  withScope,
} from "../../../src/assistants/alexa/messages.ts";
import { propertiesOf, type TimedProperty } from "../../../src/assistants/alexa/properties.ts";
import { checked } from "./checked.ts";
import { changedMs, temperature, thermostat, thing } from "./things.ts";

const answered = { messageId: "m-1", correlationToken: "Y29y", endpointId: "t_1" };
const nowMs = changedMs + 90_000;

function propertiesWith(times: Readonly<Record<string, number>>): readonly TimedProperty[] {
  const shown = thing("thermostat", { thermostat: thermostat(), ...temperature(21) }, {}, times);
  return propertiesOf(endpointsOf(shown, "none")[0]!, nowMs);
}

const since = (timeMs: number) => (one: TimedProperty) => one.changedMs >= timeMs;

function namesIn(properties: unknown): readonly string[] {
  return (properties as readonly { readonly name: string }[]).map(({ name }) => name);
}

function changeIn({ event }: AlexaEvent) {
  return event.payload.change as { readonly cause: object; readonly properties: readonly { readonly name: string }[] };
}

describe("an answer to a directive", () => {
  it("copies the correlation token and the endpoint, and holds the whole state", () => {
    const { event, context } = checked(response(answered, propertiesWith({})));
    assert.deepEqual(event, {
      header: {
        namespace: "Alexa",
        name: "Response",
        payloadVersion: "3",
        messageId: "m-1",
        correlationToken: "Y29y",
      },
      endpoint: { endpointId: "t_1" },
      payload: {},
    });
    assert.deepEqual(namesIn(context!.properties), ["thermostatMode", "targetSetpoint", "temperature", "connectivity"]);
  });

  it("may be deferred", () => {
    const { event } = checked(deferredResponse(answered, 30));
    assert.equal(event.header.correlationToken, "Y29y");
    assert.deepEqual(event.payload, { estimatedDeferralInSeconds: 30 });
  });

  it("accepts a grant", () => {
    const { event } = checked(acceptGrantResponse({ messageId: "m-1" }));
    assert.equal(`${event.header.namespace} ${event.header.name}`, "Alexa.Authorization AcceptGrant.Response");
  });
});

describe("a change report", () => {
  it("holds what changed apart from all other properties", () => {
    const properties = propertiesWith({ "thermostat.targetCelsius": changedMs + 10 });
    const report = checked(changeReport(answered, properties, since(changedMs + 10))!);
    assert.deepEqual(namesIn(changeIn(report).properties), ["targetSetpoint"]);
    assert.deepEqual(namesIn(report.context!.properties), ["thermostatMode", "temperature", "connectivity"]);
    assert.equal(report.event.header.correlationToken, undefined);
    assert.deepEqual(changeIn(report).cause, { type: "PHYSICAL_INTERACTION" });
  });

  it("says that a measured value was read", () => {
    const properties = propertiesWith({ "temperature.celsius": changedMs + 10 });
    const report = checked(changeReport(answered, properties, since(changedMs + 10))!);
    assert.deepEqual(changeIn(report).cause, { type: "PERIODIC_POLL" });
  });

  it("is not made when no property changed", () => {
    assert.equal(changeReport(answered, propertiesWith({}), since(changedMs + 10)), undefined);
  });

  it("has the connectivity among what changed when a trait became available", () => {
    const properties = propertiesWith({ "temperature.available": changedMs + 10 });
    const report = checked(changeReport(answered, properties, since(changedMs + 10))!);
    assert.deepEqual(namesIn(changeIn(report).properties), ["connectivity"]);
  });
});

describe("the token of the event gateway", () => {
  it("stands beside the endpoint, or in the payload when there are several", () => {
    const scope = { type: "BearerToken", token: "gateway-token" };
    const report = changeReport(answered, propertiesWith({}), () => true)!;
    assert.deepEqual(checked(withScope(report, "gateway-token")).event.endpoint, { endpointId: "t_1", scope });
    const endpoints = endpointsOf(thing("thermostat", { thermostat: thermostat() }), "none");
    assert.deepEqual(
      checked(withScope(addOrUpdateReport("m-2", endpoints), "gateway-token")).event.payload.scope,
      scope,
    );
    const removed = checked(withScope(deleteReport("m-3", ["t_1", "t_1:fan"]), "gateway-token"));
    assert.deepEqual(removed.event.payload, { endpoints: [{ endpointId: "t_1" }, { endpointId: "t_1:fan" }], scope });
  });
});
