import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Silence, type StreamState, StreamStates } from "../../sdk/src/stream-state.ts";

const event = { event: "attribute", data: '{"value":"old"}' };
const heartbeat = { event: "heartbeat", data: '{"time":5,"everySeconds":2}' };
const catchingUp = { event: "heartbeat", data: '{"time":1,"everySeconds":2,"catchingUp":true}' };

describe("a stream that catches up, in the SDK", () => {
  it("is stale until a heartbeat says that it is current", () => {
    const told: StreamState["state"][] = [];
    const states = new StreamStates(({ state }) => told.push(state));
    states.received([catchingUp, event]);
    states.received([event]);
    assert.deepEqual(told, ["stale"]);
    states.received([event, heartbeat]);
    assert.deepEqual(told, ["stale", "live"]);
    states.received([event]);
    states.received([catchingUp]);
    assert.deepEqual(told, ["stale", "live", "stale"]);
    states.lost(undefined);
    states.received([event]);
    assert.deepEqual(told, ["stale", "live", "stale", "live"], "the next connection begins anew");
  });

  it("is a connection that is alive", () => {
    const silence = new Silence(undefined);
    silence.waited(15_000);
    silence.received(catchingUp.event, catchingUp.data);
    assert.deepEqual([silence.leftMs, silence.limitMs], [4_000, 4_000]);
  });
});
