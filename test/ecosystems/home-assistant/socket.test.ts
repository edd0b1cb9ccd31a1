import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it, type TestContext } from "node:test";
import { WebSocketServer } from "ws";
import { authenticate } from "../../../src/ecosystems/home-assistant/authentication.ts";
import { probeInstance } from "../../../src/ecosystems/home-assistant/instance-probe.ts";
import { type InstanceSocket, openSocket } from "../../../src/ecosystems/home-assistant/socket.ts";

const rules = { resolve: async () => [], allowsPrivate: true };
const kilobyte = 1024;
const megabyte = 1024 * kilobyte;

/** An instance that begins with these frames. `isEnd: false`: the rest of the message never comes. */
async function instanceSending(t: TestContext, ...frames: readonly { text: string; isEnd?: boolean }[]) {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  t.after(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  server.on("connection", (socket) => {
    socket.on("error", () => undefined);
    for (const { text, isEnd = true } of frames) socket.send(text, { fin: isEnd });
  });
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address);
  return new URL(`http://127.0.0.1:${address.port}`);
}

async function opened(url: URL, signal: AbortSignal): Promise<InstanceSocket> {
  const socket = await openSocket(url, rules, signal);
  assert.ok(!("end" in socket));
  return socket;
}

describe("the WebSocket of an instance", () => {
  it("reads 64 KB in all until the session is authenticated, although the message has not ended", async (t) => {
    const url = await instanceSending(t, { text: "x".repeat(70 * kilobyte), isEnd: false });
    const socket = await opened(url, t.signal);
    const end = await authenticate(socket, "token", t.signal);
    assert.deepEqual(end, { reason: "malformed", detail: "a message was too large or malformed" });
  });

  it("counts all messages before the authentication together", async (t) => {
    const required = JSON.stringify({ type: "auth_required", filler: "x".repeat(30 * kilobyte) });
    const socket = await opened(
      await instanceSending(t, { text: required }, { text: required }, { text: required }),
      t.signal,
    );
    const end = await authenticate(socket, "token", t.signal);
    assert.equal(end?.reason, "malformed");
  });

  it("ends a session before a message of more than the limit is complete", async (t) => {
    const part = { text: "x".repeat(megabyte), isEnd: false };
    const socket = await opened(await instanceSending(t, part, part, part), t.signal);
    socket.limitMessages(2 * megabyte);
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.on("message", () => assert.fail("a part is no message"));
    const [error] = await Promise.all([
      new Promise<Error>((resolve) => socket.once("error", resolve)),
      socket.resume(),
    ]);
    assert.match(error.message, /more than it may/);
    await closed;
  });

  it("reads any number of messages within the limit, and a larger one after the limit was raised", async (t) => {
    const small = { text: "x".repeat(megabyte) };
    const url = await instanceSending(t, small, small, small, { text: "y".repeat(3 * megabyte) });
    const socket = await opened(url, t.signal);
    socket.limitMessages(2 * megabyte);
    const lengths: number[] = [];
    const done = new Promise<void>((resolve, reject) => {
      socket.once("close", () => reject(new Error("the session ended")));
      socket.on("message", (data) => {
        lengths.push(String(data).length);
        if (lengths.length === 3) socket.limitMessages(4 * megabyte);
        if (lengths.length === 4) resolve();
      });
    });
    socket.resume();
    await done;
    assert.deepEqual(lengths, [megabyte, megabyte, megabyte, 3 * megabyte]);
    socket.terminate();
  });
});

describe("the probe of an instance", () => {
  const deep = "[".repeat(17) + "]".repeat(17);
  const hostile: Readonly<Record<string, string>> = {
    "too large": JSON.stringify({ type: "auth_required", filler: "x".repeat(70 * kilobyte) }),
    "too deep": `{"type":"auth_required","filler":${deep}}`,
    "too many values": `{"type":"auth_required","filler":[${"[],".repeat(3_000)}0]}`,
  };
  for (const [kind, text] of Object.entries(hostile)) {
    it(`takes a first message for that of a stranger: ${kind}`, async (t) => {
      assert.equal(await probeInstance(await instanceSending(t, { text }), rules, t.signal), "foreign");
    });
  }

  it("accepts an instance that asks for a token", async (t) => {
    const url = await instanceSending(t, { text: '{"type":"auth_required"}' });
    assert.equal(await probeInstance(url, rules, t.signal), undefined);
  });
});
