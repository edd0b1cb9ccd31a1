import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type AlexaBody, lateAnswer } from "../../../src/assistants/alexa/gateway.ts";
import { type AlexaEvent, withScope } from "../../../src/assistants/alexa/messages.ts";
import { reportMessages } from "../../../src/assistants/alexa/reports.ts";
import type { AssistantMessage, DueReply, DueReport, DueThing } from "../../../src/assistants/assistant.ts";
import type { CurrentThing } from "../../../src/assistants/current-thing.ts";
import { remainingReport } from "../../../src/assistants/reporter/due-report.ts";
import type { CommandReceipt } from "../../../src/devices/command-receipts.ts";
import { checked } from "./checked.ts";
import { changedMs, fan, onOff, smoke, temperature, thermostat, thing } from "./things.ts";

const nowMs = changedMs + 5_000;

function due(current: CurrentThing | undefined, wants: Partial<DueThing> = {}): DueThing {
  const base = { thingId: current?.thingId ?? "t_lost", current, sinceMs: changedMs };
  return { ...base, wantsState: true, wantsSync: false, isUrgent: false, rises: [], ...wants };
}

function messagesFor(report: Partial<DueReport>, alarms: "none" | "contact" = "none"): readonly AssistantMessage[] {
  let count = 0;
  const newMessageId = () => `m-${++count}`;
  const whole = { agentUserId: "u", things: [], replies: [], failed: null, ...report };
  const messages = reportMessages(whole, { alarms, nowMs, newMessageId });
  for (const message of messages) for (const event of eventsIn(message)) checked(withScope(event, "token"));
  return messages;
}

/** `type thingIds state sync` of each message. */
function shown(messages: readonly AssistantMessage[]): readonly string[] {
  return messages.map(({ type, thingIds, tells }) => `${type} ${thingIds} ${tells.state} ${tells.sync}`);
}

function eventsIn(message: AssistantMessage | undefined): readonly AlexaEvent[] {
  return (message!.body as AlexaBody).events;
}

/** The event of a message with one. */
function eventOf(message: AssistantMessage | undefined): AlexaEvent["event"] {
  const events = eventsIn(message);
  assert.equal(events.length, 1);
  return events[0]!.event;
}

function endpointIds(message: AssistantMessage | undefined): readonly (string | undefined)[] {
  return eventsIn(message).map(({ event }) => event.endpoint?.endpointId);
}

const lamp = thing("light", onOff(true), { thingId: "t_lamp" });
const alarm = thing("alarm", smoke("alarm"), { thingId: "t_alarm" });
const rise = { trait: "smoke", state: "alarm", timeMs: changedMs } as const;
const heater = thing("thermostat", { thermostat: thermostat(), ...fan("on") }, { thingId: "t_heater" });

describe("what Alexa is told", () => {
  it("is the changed state, one event for each endpoint", () => {
    const messages = messagesFor({ things: [due(lamp), due(heater)] });
    assert.deepEqual(shown(messages), ["ChangeReport t_lamp,t_heater true false"]);
    assert.deepEqual(endpointIds(messages[0]), ["t_lamp", "t_heater", "t_heater:fan"]);
  });

  it("is that an alarm can't be reached as soon as its state is unknown", () => {
    const later = changedMs + 1_000;
    const unknown = thing("alarm", smoke("unknown"), { thingId: "t_alarm" }, { "smoke.state": later });
    const [message] = messagesFor({ things: [due(unknown, { sinceMs: later, isUrgent: true })] }, "contact");
    const { change } = eventOf(message).payload as { change: { properties: { name: string; value: unknown }[] } };
    assert.deepEqual(
      change.properties.map(({ name, value }) => [name, value]),
      [["connectivity", { value: "UNREACHABLE" }]],
    );
    const known = thing("alarm", smoke("alarm"), { thingId: "t_alarm" }, { "smoke.state": later });
    const [again] = messagesFor({ things: [due(known, { sinceMs: later, isUrgent: true })] }, "contact");
    const { change: told } = eventOf(again).payload as { change: { properties: { name: string }[] } };
    assert.deepEqual(
      told.properties.map(({ name }) => name),
      ["detectionState"],
    );
  });

  it("is nothing when no property of Alexa changed", () => {
    assert.deepEqual(messagesFor({ things: [due(lamp, { sinceMs: changedMs + 1 })] }), []);
    assert.deepEqual(messagesFor({ things: [due(alarm, { rises: [rise], isUrgent: true, wantsSync: true })] }), []);
  });

  it("is the changed endpoint alone, of a thing with two", () => {
    const times = { "fan.mode": changedMs + 10 };
    const changed = thing("thermostat", { thermostat: thermostat(), ...fan("on") }, {}, times);
    const messages = messagesFor({ things: [due(changed, { sinceMs: changedMs + 10 })] });
    assert.deepEqual(messages.map(endpointIds), [[`${changed.thingId}:fan`]]);
  });

  const gone = thing("switch", onOff(true), { thingId: "t_gone", goneMs: changedMs });
  const listed = [due(lamp, { wantsSync: true }), due(gone, { wantsSync: true, wantsState: false })];

  it("begins with alarms, then outcomes of commands, then endpoints before their states", () => {
    const things = [...listed, due(alarm, { rises: [rise], isUrgent: true })];
    assert.deepEqual(shown(messagesFor({ things, replies: [reply("confirmed")] }, "contact")), [
      "ChangeReport t_alarm true false",
      "Response t_lamp false false",
      "DeleteReport t_gone true true",
      "AddOrUpdateReport t_lamp false true",
      "ChangeReport t_lamp true false",
    ]);
  });

  it("is the removal of other endpoints before a new alarm is added, and after the state of a known one", () => {
    const known = { ...alarm, thingId: "t_known" };
    const things = [...listed, due(alarm, { isUrgent: true, wantsSync: true }), due(known, { isUrgent: true })];
    assert.deepEqual(shown(messagesFor({ things, replies: [reply("confirmed")] }, "contact")), [
      "ChangeReport t_known true false",
      "DeleteReport t_gone true true",
      "AddOrUpdateReport t_alarm false true",
      "ChangeReport t_alarm true false",
      "Response t_lamp false false",
      "AddOrUpdateReport t_lamp false true",
      "ChangeReport t_lamp true false",
    ]);
  });

  it("is the state of an alarm that Alexa may have, before the list of devices, and once", () => {
    const sounding = due(alarm, { rises: [rise], isUrgent: true, wantsSync: true, sinceMs: 0 });
    const things = [...listed, sounding];
    const messages = messagesFor({ things }, "contact");
    assert.deepEqual(shown(messages), [
      "ChangeReport t_alarm false false",
      "DeleteReport t_gone true true",
      "DeleteReport t_alarm false false",
      "AddOrUpdateReport t_alarm false true",
      "ChangeReport t_alarm true false",
      "AddOrUpdateReport t_lamp false true",
      "ChangeReport t_lamp true false",
    ]);
    const whole = { agentUserId: "u", things, replies: [], failed: null };
    const left = remainingReport(whole, messages[0]!);
    assert.deepEqual(shown(messagesFor(left, "contact")), shown(messages).slice(1));
  });

  it("is an alarm that sounds, also when its link has turned stale before it was told", () => {
    const sounding = { ...alarm, isStale: true, goneMs: null };
    const [message] = messagesFor({ things: [due(sounding, { rises: [rise], isUrgent: true })] }, "contact");
    const { properties } = eventOf(message!).payload.change as { readonly properties: readonly { value: unknown }[] };
    assert.ok(properties.some(({ value }) => value === "DETECTED"));
  });

  it("is also the speed of a fan that goes off, if the fan tells no speed", () => {
    const stopped = thing(
      "fan",
      { ...onOff(false), ...fan(null, null) },
      { settable: { fan: ["percent"] } },
      {
        "onOff.on": changedMs + 10,
      },
    );
    const [message] = messagesFor({ things: [due(stopped, { sinceMs: changedMs + 10 })] });
    const { properties } = eventOf(message!).payload.change as { readonly properties: readonly { name: string }[] };
    assert.deepEqual(
      properties.map(({ name }) => name),
      ["powerState", "rangeValue"],
    );
  });

  it("is in smaller messages after Alexa has not answered in time, and alarms that sound are alone", () => {
    const lamps = Array.from({ length: 30 }, (_, index) => due({ ...lamp, thingId: `t_${index}` }));
    const urgent = { ...alarm, thingId: "t_eased" };
    const things = [due(urgent, { isUrgent: true }), due(alarm, { isUrgent: true, rises: [rise] }), ...lamps];
    const sizes = (failed: DueReport["failed"]) =>
      messagesFor({ things, failed }, "contact").map(({ thingIds }) => thingIds.length);
    assert.deepEqual(sizes(null), [1, 1, 25, 5]);
    assert.deepEqual(sizes({ attempts: 3, problem: "answered 503" }), [1, 1, 25, 5]);
    assert.deepEqual(sizes({ attempts: 1, problem: lateAnswer }), [1, 1, 4, 4, 4, 4, 4, 4, 4, 2]);
    assert.deepEqual(new Set(sizes({ attempts: 2, problem: lateAnswer })), new Set([1]));
    assert.deepEqual(messagesFor({ things }, "contact")[0]!.thingIds, ["t_alarm"]);
  });

  it("is that a thing is offline as soon as it is gone, and its removal later", () => {
    const gone = { ...heater, goneMs: changedMs + 10 };
    const [first] = messagesFor({ things: [due(gone, { sinceMs: changedMs + 10 })] });
    for (const { event } of eventsIn(first)) {
      const { properties } = event.payload.change as { readonly properties: readonly { value: object }[] };
      assert.deepEqual(
        properties.map(({ value }) => value),
        [{ value: "UNREACHABLE" }],
      );
    }
    const [removal] = messagesFor({ things: [due(gone, { wantsState: false, wantsSync: true })] });
    assert.deepEqual(eventOf(removal).payload.endpoints, [{ endpointId: "t_heater" }, { endpointId: "t_heater:fan" }]);
  });

  it("is the removal of all endpoints that a thing may have had, when nothing is known of it", () => {
    const messages = messagesFor({ things: [due(undefined, { wantsSync: true })] });
    assert.deepEqual(shown(messages), ["DeleteReport t_lost true true"]);
    assert.deepEqual(eventOf(messages[0]).payload.endpoints, [{ endpointId: "t_lost" }, { endpointId: "t_lost:fan" }]);
  });

  it("is the whole state of a thing that was added or changed", () => {
    const messages = messagesFor({ things: [due(lamp, { wantsSync: true, sinceMs: nowMs })] });
    const { properties } = eventOf(messages[1]).payload.change as { readonly properties: readonly object[] };
    assert.equal(properties.length, 2);
  });

  it("adds endpoints in the order in which they are offered", () => {
    const things = [lamp, heater, alarm].map((one) => due(one, { wantsSync: true, wantsState: false }));
    const added = messagesFor({ things }, "contact").map((one) => eventOf(one).payload.endpoints);
    const ids = (added as { readonly endpointId: string }[][]).map((some) => some.map(({ endpointId }) => endpointId));
    assert.deepEqual(ids, [["t_alarm"], ["t_heater", "t_heater:fan", "t_lamp"]]);
  });

  it("is a whole home in a few messages, within the limit of endpoints", () => {
    const things = Array.from({ length: 301 }, (_, index) =>
      due({ ...lamp, thingId: `t_${1_000 + index}` }, { sinceMs: 0, wantsSync: true }),
    );
    const all = messagesFor({ things, omitted: new Set(["t_1300"]) });
    const removed = all.filter(({ type }) => type === "DeleteReport").map((one) => eventOf(one).payload.endpoints);
    assert.ok(removed.every((endpoints) => (endpoints as readonly object[]).length <= 300));
    const [added, ...messages] = all.slice(removed.length);
    assert.equal((eventOf(added).payload.endpoints as readonly object[]).length, 300);
    assert.equal(messages.length, 12);
    const told = messages.flatMap(endpointIds);
    assert.equal(told.length, 300);
    assert.ok(!told.includes("t_1300"));
  });

  it("is nothing of endpoints beyond the limit, but that they are no longer offered", () => {
    const omitted = new Set(["t_lamp", "t_heater:fan"]);
    const things = [due(lamp), due(heater)];
    assert.deepEqual(messagesFor({ things, omitted }).map(endpointIds), [["t_heater"]]);
    const renamed = things.map((one) => ({ ...one, wantsSync: true }));
    assert.deepEqual(shown(messagesFor({ things: renamed, omitted })), [
      "AddOrUpdateReport t_heater false true",
      "ChangeReport t_heater true false",
    ]);
    const withdrawn = renamed.map((one) => ({ ...one, sinceMs: 0 }));
    const messages = messagesFor({ things: withdrawn, omitted });
    assert.deepEqual(shown(messages), [
      "DeleteReport t_lamp true true",
      "DeleteReport t_heater false false",
      "AddOrUpdateReport t_heater false true",
      "ChangeReport t_heater true false",
    ]);
    const deleted = messages.slice(0, 2).map((one) => eventOf(one).payload.endpoints);
    assert.deepEqual(deleted, [
      [{ endpointId: "t_lamp" }, { endpointId: "t_lamp:fan" }],
      [{ endpointId: "t_heater:fan" }],
    ]);
    assert.deepEqual(messages[1]!.withdrawn, ["t_heater:fan"]);
    const left = [withdrawn[1]!];
    assert.deepEqual(shown(messagesFor({ things: left, omitted, withdrawn: new Set(["t_heater:fan"]) })), [
      "AddOrUpdateReport t_heater false true",
      "ChangeReport t_heater true false",
    ]);
    const gone = [due({ ...lamp, goneMs: changedMs }, { wantsSync: true }), due(undefined, { wantsSync: true })];
    assert.deepEqual(messagesFor({ things: gone, omitted: new Set(["t_lamp", "t_lost"]) }), []);
  });

  it("reports a measured value with all other properties in the context", () => {
    const times = { "temperature.celsius": changedMs + 10 };
    const warm = thing("sensor", temperature(20), {}, times);
    const [message] = messagesFor({ things: [due(warm, { sinceMs: changedMs + 10 })] });
    const { context } = eventsIn(message)[0]!;
    assert.equal(context!.properties.length, 1);
  });
});

function reply(state: CommandReceipt["state"], error: CommandReceipt["error"] = null): DueReply {
  return {
    thingId: "t_lamp",
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
  it("is an error when nobody knows it, with another reason when the thing is gone", () => {
    const unknown = { ...reply("accepted"), receipt: undefined };
    const messages = messagesFor({ replies: [unknown, { ...unknown, current: undefined }] });
    const events = messages.flatMap(eventsIn).map(({ event }) => event);
    assert.deepEqual(
      events.map(({ header, payload }) => [header.name, header.correlationToken, payload.type]),
      [
        ["ErrorResponse", "late", "ENDPOINT_UNREACHABLE"],
        ["ErrorResponse", "late", "NO_SUCH_ENDPOINT"],
      ],
    );
    assert.deepEqual(messages[0]?.thingIds, ["t_lamp"]);
  });

  it("is a response with the token of the directive and the whole state", () => {
    const [message] = messagesFor({ replies: [reply("confirmed")] });
    const { context, event } = eventsIn(message)[0]!;
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
