import assert from "node:assert/strict";
import type { EventEmitter } from "node:events";
import { describe, it } from "node:test";
import { EcosystemUnreachable } from "../../../src/model/errors.ts";
import { type Listening, listen } from "../listening.ts";
import { AnsweringInstance, type Message, smokeEvent } from "./answering-instance.ts";
import { writtenSession } from "./written-session.ts";

// An instance answers twice when it fails after it has accepted a subscription: success, then an error.
const failure = ({ id }: Pick<Message, "id">) => ({
  id,
  type: "result",
  success: false,
  error: { code: "unknown_error", message: "Unknown error" },
});

const isOfStates = ({ type }: Message) => type === "subscribe_entities";

/** A test that fails would wait for ever. */
const soon = { timeout: 20_000 };

describe("an instance that fails after it has accepted a subscription", () => {
  it("ends a read and a stream, which is opened again", soon, async () => {
    const instance = new AnsweringInstance((message) => (isOfStates(message) ? [failure(message)] : []));
    const { connector, access } = instance;
    await assert.rejects(connector.read(access, unending()), EcosystemUnreachable);
    const { reason, detail } = await listen(connector, access).ended;
    assert.deepEqual([reason, detail], ["refused", "the instance ended a subscription"]);
  });

  it("ends a stream that reads its home again: it would miss alarms and look alive", soon, async () => {
    let subscriptions = 0;
    const instance = new AnsweringInstance((message) => {
      if (!isOfStates(message)) return [];
      subscriptions += 1;
      return [subscriptions === 1 ? smokeEvent(message.id, "off") : failure(message)];
    });
    const stream = await followed(instance);
    const registry = instance.idOf("subscribe_events", ({ event_type }) => event_type === "entity_registry_updated");
    instance.send({ id: registry, type: "event", event: {} });
    await instance.runtime.advance(200);
    assert.equal((await stream.ended).reason, "refused");
    assert.equal(subscriptions, 2);
  });

  it("ends a stream whose subscription had sent states before", soon, async () => {
    const instance = new AnsweringInstance((message) => (isOfStates(message) ? [smokeEvent(message.id, "off")] : []));
    const stream = await followed(instance);
    instance.send(failure({ id: instance.idOf("subscribe_entities") }));
    assert.equal((await stream.ended).reason, "refused");
  });

  it("leaves the session open when it was asked for one entity", soon, async () => {
    const { session, socket } = await writtenSession();
    const event = session.firstEvent("subscribe_entities", {}, true, unending());
    const { id } = socket.sent.at(-1) as Message;
    write(socket, { id, type: "result", success: true, result: null });
    write(socket, failure({ id }));
    assert.equal(await event, undefined);
    const answer = session.call("get_config");
    write(socket, { id: socket.sent.at(-1)!.id, type: "result", success: true, result: {} });
    assert.equal((await answer).state, "succeeded");
  });
});

describe("a message of an unknown type", () => {
  it("is no answer: the call waits for its own", soon, async () => {
    const { session, socket } = await writtenSession();
    const answer = session.call("get_states", {}, { large: true });
    const { id } = socket.sent.at(-1)!;
    write(socket, { id, type: "news" });
    write(socket, { id, type: "result", success: true, result: [] });
    assert.equal((await answer).state, "succeeded");
  });
});

async function followed({ connector, access }: AnsweringInstance): Promise<Listening> {
  const stream = listen(connector, access);
  await stream.until(1);
  return stream;
}

function write(socket: EventEmitter, message: object): void {
  socket.emit("message", JSON.stringify(message), false);
}

function unending(): AbortSignal {
  return new AbortController().signal;
}
