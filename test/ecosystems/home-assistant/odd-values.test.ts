import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EntityStates } from "../../../src/ecosystems/home-assistant/entity-states.ts";
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
