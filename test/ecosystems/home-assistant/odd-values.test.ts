import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EntityStates } from "../../../src/ecosystems/home-assistant/entity-states.ts";
import { entityEvent } from "../../../src/ecosystems/home-assistant/live-home.ts";
import { project } from "../../../src/runtime/json/projection.ts";
import { finished } from "../immediate-turns.ts";
import { writtenSession } from "./written-session.ts";

/** JSON that a conversion to text would fail at. */
const noText = { toString: "no function", valueOf: "no function" };

describe("values of an instance that are no texts", () => {
  it("are no error code and no message, and the session goes on", async () => {
    const { session, socket } = await writtenSession();
    const answer = session.call("get_config");
    const { id } = socket.sent.at(-1) as { readonly id: number };
    const error = { code: noText, message: noText };
    socket.emit("message", JSON.stringify({ id, type: "result", success: false, error }), false);
    assert.deepEqual(await answer, { state: "failed", code: "", message: "" });
    const next = session.call("get_config");
    const answered = { id: id + 1, type: "result", success: true, result: 1 };
    socket.emit("message", JSON.stringify(answered), false);
    assert.equal((await next).state, "succeeded");
  });

  it("are no state: the entity's state is unknown", () => {
    const states = new EntityStates();
    states.begin(new Map([["light.a", { id: "a" }]]));
    finished(states.apply({ a: { "light.a": { s: "on", a: {} } } }));
    finished(states.apply({ a: { "light.a": { s: noText, a: {} } } }));
    const { lastState, isFresh } = states.view("light.a");
    assert.deepEqual([lastState?.state, isFresh], ["on", false]);
  });
});

describe("a large event, of which a thread hands over what is read", () => {
  it("brings no values that the event loop would only drop", () => {
    const many = Array.from({ length: 1_000 }, (_, at) => [at]);
    const members = Object.fromEntries(many.map((list, at) => [`m${at}`, list]));
    const odd = { s: many, c: members, a: { ...members, brightness: members, hvac_modes: many, fan_modes: members } };
    const handedOver = project(
      { a: { "light.a": odd }, c: { "light.a": { "+": odd, "-": { a: many } } } },
      entityEvent,
    );
    const nothing = { c: {}, a: { hvac_modes: [] } };
    assert.deepEqual(handedOver, { a: { "light.a": nothing }, c: { "light.a": { "+": nothing, "-": { a: [] } } } });
  });

  it("brings all that is read of an honest one", () => {
    const attributes = { brightness: 5, friendly_name: "Lamp", hvac_modes: ["off", "heat"], temperature: null };
    const added = { s: "on", a: attributes, c: "context" };
    const changed = { "+": { s: "off", a: { brightness: 6 }, c: { id: "call" } }, "-": { a: ["friendly_name"] } };
    const event = { a: { "light.a": added, "light.b": added }, c: { "light.a": changed }, r: ["light.b"] };
    assert.deepEqual(project(event, entityEvent), event);
  });

  it("is answered with the context of a call", async () => {
    const { session, socket } = await writtenSession();
    const answer = session.call("call_service");
    const { id } = socket.sent.at(-1) as { readonly id: number };
    const result = { context: { id: "call", user_id: null }, filler: "x".repeat(300_000) };
    socket.emit("message", JSON.stringify({ id, type: "result", success: true, result }), false);
    assert.deepEqual(await answer, { state: "succeeded", id, result: { context: { id: "call" } } });
  });
});
