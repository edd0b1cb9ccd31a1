import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { startHomeAssistant } from "../../../simulator/home-assistant/simulator.ts";
import type { Connector } from "../../../src/ecosystems/connector.ts";
import { homeAssistantConnector } from "../../../src/ecosystems/home-assistant/connector.ts";
import { withRenewal } from "../../../src/federation/renewing-connector.ts";
import { thermostatKey } from "../../../src/home/reported-things.ts";
import { within } from "../../../src/runtime/runtime.ts";
import { flushPromises, manualRuntime } from "../../federation/manual-runtime.ts";
import { listen } from "../listening.ts";

// Without its limit a command would wait for ever.
const soon = { timeout: 20_000 };
const unanswered = { state: "unanswered", detail: "no answer in time" };

describe("a command whose service call the instance doesn't answer", () => {
  it("is unanswered after 30 seconds, and the stream goes on", soon, async (t) => {
    const { simulator, connector, access, runtime, act, ignored } = await unanswering(t);
    const stream = listen(connector, access);
    t.after(() => stream.stop());
    await stream.until(1);
    const outcome = act();
    await ignored;
    await runtime.advance(30_000);
    assert.deepEqual(await outcome, unanswered);
    simulator.instance.change("person.ada", "not_home");
    await stream.until(2);
  });

  it("is accepted when the call was answered, and the question for its entity was not", soon, async (t) => {
    const { simulator, connector, access, runtime, act, ignores } = await unanswering(t);
    const stream = listen(connector, access);
    t.after(() => stream.stop());
    await stream.until(1);
    simulator.faults.ignoresCalls = true;
    const ignored = ignores("subscribe_entities");
    const outcome = act();
    await ignored;
    await runtime.advance(2_000);
    assert.equal((await outcome).state, "accepted");
  });

  it("is accepted when the time of the command ends during the question for its entity", soon, async (t) => {
    const { simulator, connector, access, runtime, act, ignores } = await unanswering(t);
    const stream = listen(connector, access);
    t.after(() => stream.stop());
    await stream.until(1);
    simulator.faults.ignoresCalls = true;
    const ignored = ignores("subscribe_entities");
    const renewing = withRenewal(connector, { token: access, isRefused: () => false } as never, runtime);
    const outcome = within(runtime, 1_000, new AbortController().signal, (inTime) => act(renewing, inTime));
    await ignored;
    await runtime.advance(1_000);
    assert.equal((await outcome).state, "accepted");
  });

  it("ends the session that was opened for it", soon, async (t) => {
    const { simulator, runtime, act, ignored } = await unanswering(t);
    const outcome = act();
    await ignored;
    assert.equal(simulator.connections.size, 1);
    await runtime.advance(30_000);
    assert.deepEqual(await outcome, unanswered);
    while (simulator.connections.size > 0) await flushPromises();
  });
});

describe("commands to an instance without a stream", () => {
  it("share one session, which ends with the last of them", soon, async (t) => {
    const { simulator, runtime, act } = await unanswering(t);
    let sent = 0;
    simulator.faults.ignoresCommand = (type) => {
      if (type === "call_service") sent += 1;
      return type === "call_service";
    };
    const gone = new AbortController();
    const outcomes = [act(undefined, gone.signal), act(), act()];
    while (sent < outcomes.length) await flushPromises();
    assert.equal(simulator.connections.size, 1);
    gone.abort();
    assert.deepEqual(await outcomes[0], unanswered);
    assert.equal(simulator.connections.size, 1);
    await runtime.advance(30_000);
    assert.deepEqual(await Promise.all(outcomes), [unanswered, unanswered, unanswered]);
    while (simulator.connections.size > 0) await flushPromises();
  });

  it("get a new session when the one before has ended", soon, async (t) => {
    const { simulator, act } = await unanswering(t);
    simulator.faults.ignoresCommand = () => false;
    for (let command = 0; command < 2; command++) {
      assert.equal((await act()).state, "accepted");
      while (simulator.connections.size > 0) await flushPromises();
    }
  });
});

async function unanswering(t: TestContext) {
  const simulator = await startHomeAssistant();
  t.after(() => simulator.stop());
  const runtime = manualRuntime();
  const connector = homeAssistantConnector({ name: "home", allowPrivateNetworks: true, timers: runtime });
  const access = `${simulator.url} ${simulator.tokens.addLongLived()}`;
  const home = await connector.read(access, new AbortController().signal);
  while (simulator.connections.size > 0) await flushPromises();
  const [id] = home.thermostats.byId.keys();
  const step = { trait: "fanTimer", set: { active: true } } as const;
  const ignores = (ignoredType: string) =>
    new Promise<void>((resolve) => {
      simulator.faults.ignoresCommand = (type) => {
        if (type === ignoredType) resolve();
        return type === ignoredType;
      };
    });
  const ignored = ignores("call_service");
  const act = (by: Pick<Connector, "act"> = connector, signal = new AbortController().signal) =>
    by.act(access, { key: thermostatKey(id!), step }, signal);
  return { simulator, connector, access, runtime, act, ignored, ignores };
}
