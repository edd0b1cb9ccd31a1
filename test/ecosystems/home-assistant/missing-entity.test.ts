import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { describe, it, type TestContext } from "node:test";
import { isMissing } from "../../../src/ecosystems/home-assistant/missing-entity.ts";
import { flushPromises } from "../../federation/manual-runtime.ts";
import { writtenSession } from "./written-session.ts";

// Without an end of the question a test would wait for ever.
describe("the question whether an instance has an entity", { timeout: 20_000 }, () => {
  for (const [what, entities, expected] of [
    ["has it", { "light.a": { s: "on" } }, false],
    ["has it not", {}, true],
  ] as const) {
    it(`is answered by an instance that ${what}`, async (t) => {
      const { question, receive, assertForgotten } = await asked(t);
      receive({ type: "result", success: true, result: null });
      receive({ type: "event", event: { a: entities } });
      assert.equal(await question, expected);
      assertForgotten();
    });
  }

  it("is given up when the signal aborts before the instance has answered", async (t) => {
    const { question, stop, assertForgotten } = await asked(t);
    stop.abort();
    assert.equal(await question, false);
    assertForgotten();
  });

  it("is given up when the signal aborts, and the instance has sent no event", async (t) => {
    const { question, receive, stop, assertForgotten } = await asked(t);
    receive({ type: "result", success: true, result: null });
    await flushPromises();
    stop.abort();
    assert.equal(await question, false);
    assertForgotten();
  });

  it("is given up when the instance refuses the subscription", async (t) => {
    const { question, receive, assertForgotten } = await asked(t);
    receive({ type: "result", success: false, error: { code: "unauthorized" } });
    assert.equal(await question, false);
    assertForgotten({ isUnsubscribed: false });
  });

  it("is given up when the session ends before the event", async (t) => {
    const { question, receive, session, assertForgotten } = await asked(t);
    receive({ type: "result", success: true, result: null });
    await flushPromises();
    session.finish("closed", "the instance ended the connection");
    assert.equal(await question, false);
    assertForgotten({ isUnsubscribed: false });
    assert.equal(await isMissing(session, "light.a", new AbortController().signal), false);
  });
});

/** A session that has sent the question. */
async function asked(t: TestContext) {
  const { session, socket } = await writtenSession();
  const stop = new AbortController();
  // Each reaction to the end of a session stays in memory as long as the session.
  const reactions = t.mock.method(session.ended, "then").mock;
  const question = isMissing(session, "light.a", stop.signal);
  const { id } = socket.sent.find(({ type }) => type === "subscribe_entities")!;
  return {
    session,
    question,
    stop,
    receive: (message: object) => void socket.emit("message", JSON.stringify({ id, ...message }), false),
    /** Nothing of the question is left: no reaction, no listener, no subscription at the instance. */
    assertForgotten({ isUnsubscribed = true } = {}): void {
      assert.equal(reactions.callCount(), 0);
      assert.deepEqual(getEventListeners(stop.signal, "abort"), []);
      const ended = socket.sent.filter(({ type }) => type === "unsubscribe_events");
      assert.deepEqual(
        ended.map(({ subscription }) => subscription),
        isUnsubscribed ? [id] : [],
      );
    },
  };
}
