import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { startHomeAssistant } from "../../../simulator/home-assistant/simulator.ts";
import { homeAssistantConnector } from "../../../src/ecosystems/home-assistant/connector.ts";
import { limits } from "../../../src/model/limits.ts";
import { LeakyBucket } from "../../../src/runtime/leaky-bucket.ts";
import { manualRuntime } from "../../federation/manual-runtime.ts";
import { listen } from "../listening.ts";
import { writtenSession } from "./written-session.ts";

const megabyte = 1024 * 1024;

describe("a session with an instance that withholds answers", () => {
  // Without its limit the stream would go on for ever.
  const soon = { timeout: 20_000 };
  const late = { reason: "silent", detail: "the instance did not answer in time" };

  it("ends when a search for entities is not answered in time", soon, async (t) => {
    const { stream, runtime, ignored } = await followed(t, "get_states");
    await runtime.advance(searchMs);
    await ignored;
    await runtime.advance(30_000);
    const { reason, detail } = await stream.ended;
    assert.deepEqual({ reason, detail }, late);
  });

  for (const type of ["config/entity_registry/list", "subscribe_entities"]) {
    it(`ends when ${type} is not answered in time after a registry has changed`, soon, async (t) => {
      const { stream, runtime, ignored, simulator } = await followed(t, type);
      simulator.instance.updateEntity("switch.kettle", { name: "Kettle" });
      // The instance announces the registry before the state.
      simulator.instance.change("switch.kettle", "on");
      await stream.until(2);
      await runtime.advance(200);
      await ignored;
      await runtime.advance(30_000);
      const { reason, detail } = await stream.ended;
      assert.deepEqual({ reason, detail }, late);
    });
  }

  it("limits the bytes while an answer that may be large is awaited, beyond those of a whole home", async () => {
    const { session, socket, runtime, reached } = await writtenSession();
    session.observer = { ...session.observer, cpuShare: new LeakyBucket({ perSecond: 1_000, atOnce: 1_000_000 }) };
    void session.call("get_states", {}, { large: true });
    const event = JSON.stringify({ id: 99, type: "event", event: "x".repeat(15 * megabyte) });
    for (let i = 0; i < 6; i++) socket.emit("message", event, false);
    await nextTurn();
    assert.deepEqual([reached, socket.isPaused], [[], false]);
    socket.emit("message", event, false);
    await nextTurn();
    assert.deepEqual([reached, socket.isPaused], [["streamBytesPerSecond"], true]);
    await runtime.advance(10_000);
    assert.equal(socket.isPaused, false);
    socket.emit("message", event, false);
    assert.equal(reached.length, 2);
  });

  it("limits single events and bytes as before when a large answer has come", async () => {
    const { session, socket, reached } = await writtenSession();
    const answer = session.call("get_states", {}, { large: true });
    const result = "x".repeat(15 * megabyte);
    socket.emit("message", JSON.stringify({ id: 2, type: "result", success: true, result }), false);
    assert.equal((await answer).state, "succeeded");
    const event = (megabytes: number) =>
      socket.emit("message", JSON.stringify({ id: 99, type: "event", event: "x".repeat(megabytes * megabyte) }), false);
    event(1);
    event(1);
    assert.deepEqual(reached, []);
    event(1.5);
    event(1.5);
    assert.deepEqual(reached, ["streamBytesPerSecond"]);
    event(2);
    assert.equal((await session.ended).reason, "malformed");
  });

  it("pays for the frames of its socket with its share of CPU", async () => {
    const { socket, reached } = await writtenSession();
    Object.assign(socket, { takeCostMs: () => limits.linkCpuMsAtOnce + 1 });
    socket.emit("message", JSON.stringify({ id: 99, type: "event", event: {} }), false);
    assert.deepEqual([reached, socket.isPaused], [["linkCpuMsPerSecond"], true]);
  });

  it("ends with too many calls that wait for an answer, and all of them are lost", async () => {
    const { session } = await writtenSession();
    const answers: Promise<{ readonly state: string }>[] = [];
    const endedAt = { count: 0 };
    void session.ended.then(() => {
      endedAt.count = answers.length;
    });
    for (let i = 0; i < 5_000 && endedAt.count === 0; i++) {
      answers.push(session.call("call_service"));
      await Promise.resolve();
    }
    assert.ok(endedAt.count > 4_000 && endedAt.count < 4_200, String(endedAt.count));
    assert.equal((await session.ended).reason, "silent");
    const states = await Promise.all(answers);
    assert.ok(states.every(({ state }) => state === "lost"));
  });
});

const searchMs = 1_000;

/** A home that is followed, whose instance ignores this command from now on. */
async function followed(t: TestContext, type: string) {
  const simulator = await startHomeAssistant();
  t.after(() => simulator.stop());
  const runtime = manualRuntime();
  const connector = homeAssistantConnector({
    name: "home",
    allowPrivateNetworks: true,
    searchMs: type === "get_states" ? searchMs : 600_000,
    timers: runtime,
  });
  const stream = listen(connector, `${simulator.url} ${simulator.tokens.addLongLived()}`);
  t.after(() => stream.stop());
  await stream.until(1);
  const ignored = new Promise<void>((resolve) => {
    simulator.faults.ignoresCommand = (one) => {
      if (one === type) resolve();
      return one === type;
    };
  });
  return { simulator, runtime, stream, ignored };
}
