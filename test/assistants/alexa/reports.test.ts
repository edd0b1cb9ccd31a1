import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type AlexaEvent, withScope } from "../../../src/assistants/alexa/messages.ts";
import { reportMessages } from "../../../src/assistants/alexa/reports.ts";
import type { AssistantMessage, DueReply, DueReport, DueThing } from "../../../src/assistants/assistant.ts";
import type { CurrentThing } from "../../../src/assistants/current-thing.ts";
import type { CommandReceipt } from "../../../src/devices/command-receipts.ts";
import { checked } from "./checked.ts";
import { changedMs, fan, onOff, smoke, temperature, thermostat, thing } from "./things.ts";

const nowMs = changedMs + 5_000;

function due(current: CurrentThing | undefined, wants: Partial<DueThing> = {}): DueThing {
  const base = { thingId: current?.thingId ?? "t_lost", current, sinceMs: changedMs };
  return { ...base, wantsState: true, wantsSync: false, rises: [], ...wants };
}

function messagesFor(report: Partial<DueReport>, alarms: "none" | "contact" = "none"): readonly AssistantMessage[] {
  let count = 0;
  const newMessageId = () => `m-${++count}`;
  const whole = { agentUserId: "u", things: [], replies: [], isWhole: false, ...report };
  const messages = reportMessages(whole, { alarms, nowMs, newMessageId });
  for (const { body } of messages) checked(withScope(body as AlexaEvent, "token"));
  return messages;
}

/** `type thingIds state sync` of each message. */
function shown(messages: readonly AssistantMessage[]): readonly string[] {
  return messages.map(({ type, thingIds, tells }) => `${type} ${thingIds} ${tells.state} ${tells.sync}`);
}

function eventOf(message: AssistantMessage | undefined): AlexaEvent["event"] {
  return (message!.body as AlexaEvent).event;
}

const lamp = thing("light", onOff(true), { thingId: "t_lamp" });
const alarm = thing("alarm", smoke("alarm"), { thingId: "t_alarm" });
const rise = { trait: "smoke", state: "alarm", timeMs: changedMs } as const;
const heater = thing("thermostat", { thermostat: thermostat(), ...fan("on") }, { thingId: "t_heater" });

describe("what Alexa is told", () => {
  it("is the changed state, one report for each endpoint, done with the last one", () => {
    const messages = messagesFor({ things: [due(lamp), due(heater)] });
    assert.deepEqual(shown(messages), [
      "ChangeReport t_lamp true false",
      "ChangeReport t_heater false false",
      "ChangeReport t_heater true false",
    ]);
    assert.deepEqual(
      messages.map((message) => eventOf(message).endpoint?.endpointId),
      ["t_lamp", "t_heater", "t_heater:fan"],
    );
  });

  it("is nothing when no property of Alexa changed", () => {
    assert.deepEqual(messagesFor({ things: [due(lamp, { sinceMs: changedMs + 1 })] }), []);
    assert.deepEqual(messagesFor({ things: [due(alarm, { rises: [rise], wantsSync: true })] }), []);
  });

  it("is the changed endpoint alone, of a thing with two", () => {
    const times = { "fan.mode": changedMs + 10 };
    const changed = thing("thermostat", { thermostat: thermostat(), ...fan("on") }, {}, times);
    const messages = messagesFor({ things: [due(changed, { sinceMs: changedMs + 10 })] });
    assert.deepEqual(
      messages.map((message) => [eventOf(message).endpoint?.endpointId, message.tells.state]),
      [[`${changed.thingId}:fan`, true]],
    );
  });

  it("begins with alarms, then outcomes of commands, then endpoints before their states", () => {
    const gone = thing("switch", onOff(true), { thingId: "t_gone", goneMs: changedMs });
    const things = [
      due(lamp, { wantsSync: true }),
      due(gone, { wantsSync: true, wantsState: false }),
      due(alarm, { rises: [rise], wantsSync: true }),
    ];
    assert.deepEqual(shown(messagesFor({ things, replies: [reply("confirmed")] }, "contact")), [
      "AddOrUpdateReport t_alarm false true",
      "ChangeReport t_alarm true false",
      "Response t_lamp false false",
      "AddOrUpdateReport t_lamp false true",
      "DeleteReport t_gone true true",
      "ChangeReport t_lamp true false",
    ]);
  });

  it("is that a thing is offline as soon as it is gone, and its removal later", () => {
    const gone = { ...heater, goneMs: changedMs + 10 };
    const [first] = messagesFor({ things: [due(gone, { sinceMs: changedMs + 10 })] });
    const { properties } = eventOf(first).payload.change as { readonly properties: readonly { value: object }[] };
    assert.deepEqual(
      properties.map(({ value }) => value),
      [{ value: "UNREACHABLE" }],
    );
    const [removal] = messagesFor({ things: [due(gone, { wantsState: false, wantsSync: true })] });
    assert.deepEqual(eventOf(removal).payload.endpoints, [{ endpointId: "t_heater" }, { endpointId: "t_heater:fan" }]);
  });

  it("is the removal of all endpoints that a thing may have had, when nothing is known of it", () => {
    const messages = messagesFor({ things: [due(undefined, { wantsSync: true })] });
    assert.deepEqual(shown(messages), ["DeleteReport t_lost true true"]);
    assert.deepEqual(eventOf(messages[0]).payload.endpoints, [{ endpointId: "t_lost" }, { endpointId: "t_lost:fan" }]);
  });

  it("is everything after a resync, within the limit of endpoints", () => {
    const things = Array.from({ length: 301 }, (_, index) => due({ ...lamp, thingId: `t_${1_000 + index}` }));
    const all = things.map((one) => ({ ...one, sinceMs: nowMs }));
    const messages = messagesFor({ things: all, isWhole: true });
    assert.equal(messages.length, 1 + 300);
    assert.equal((eventOf(messages[0]).payload.endpoints as readonly object[]).length, 300);
    assert.ok(!messages.some(({ type, thingIds }) => type === "ChangeReport" && thingIds.includes("t_1300")));
  });

  it("reports a measured value with all other properties in the context", () => {
    const times = { "temperature.celsius": changedMs + 10 };
    const warm = thing("sensor", temperature(20), {}, times);
    const [message] = messagesFor({ things: [due(warm, { sinceMs: changedMs + 10 })] });
    const { context } = message!.body as AlexaEvent;
    assert.equal(context!.properties.length, 1);
  });
});

function reply(state: CommandReceipt["state"], error: CommandReceipt["error"] = null): DueReply {
  return {
    reply: JSON.stringify({ correlationToken: "late", endpointId: "t_lamp" }),
    receipt: {
      id: "c1",
      thingId: "t_lamp",
      command: { trait: "onOff", command: "set", params: { on: true } },
      alertId: null,
      state,
      error,
      requestedMs: 0,
      sentMs: 0,
      settledMs: 0,
    },
    current: lamp,
  };
}

describe("the late outcome of a command", () => {
  it("is a response with the token of the directive and the whole state", () => {
    const [message] = messagesFor({ replies: [reply("confirmed")] });
    const { context, event } = message!.body as AlexaEvent;
    assert.equal(event.header.name, "Response");
    assert.equal(event.header.correlationToken, "late");
    assert.deepEqual(event.endpoint, { endpointId: "t_lamp" });
    assert.equal(context!.properties.length, 2);
    assert.deepEqual(message!.replies, [reply("confirmed").reply]);
  });

  it("is an error when the command was refused, or had no effect", () => {
    const typeOf = (one: DueReply) => eventOf(messagesFor({ replies: [one] })[0]).payload.type;
    assert.equal(typeOf(reply("rejected", { code: "busy", text: "busy" })), "ENDPOINT_BUSY");
    assert.equal(typeOf(reply("expired", { code: "noAnswer", text: "late" })), "ENDPOINT_UNREACHABLE");
    assert.equal(typeOf(reply("contradicted")), "INTERNAL_ERROR");
    assert.equal(typeOf({ ...reply("confirmed"), current: undefined }), "NO_SUCH_ENDPOINT");
  });
});
