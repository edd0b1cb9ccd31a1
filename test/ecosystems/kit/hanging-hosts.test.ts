import assert from "node:assert/strict";
import { getEventListeners, once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { WebSocketServer } from "ws";
import { postForm } from "../../../src/ecosystems/home-assistant/form-post.ts";
import { probeInstance } from "../../../src/ecosystems/home-assistant/instance-probe.ts";
import { codeFlowConsent } from "../../../src/ecosystems/kit/code-flow-consent.ts";
import { jsonCaller } from "../../../src/ecosystems/kit/json-call.ts";
import { revokeToken } from "../../../src/ecosystems/nest/revocation.ts";
import { postWith } from "../../../src/events/webhooks/post.ts";
import { readJsonHere } from "../../../src/runtime/json/json-thread.ts";
import { flushPromises } from "../../federation/manual-runtime.ts";

const rules = { resolve: async () => [], allowsPrivate: true };
const flow = { authUrl: "http://127.0.0.1/", clientId: "c", clientSecret: "s" };
const answer = { code: "c", redirectUri: "http://127.0.0.1/", codeVerifier: "v" };

/** Each outgoing call that a caller can cause, by its way to the network. */
const calls: Readonly<Record<string, (url: string, signal: AbortSignal) => Promise<unknown>>> = {
  "a look whether an instance answers": (url, signal) => probeInstance(new URL(url), rules, signal),
  "a form for an instance": (url, signal) =>
    postForm({ url: new URL(url), path: "/auth/token", form: {} }, rules, signal),
  "an exchange of a code": (url, signal) => codeFlowConsent({ ...flow, tokenUrl: url }).exchange(answer, signal),
  "a call with JSON": (url, signal) => jsonCaller(readJsonHere)({ method: "POST", url, body: {} }, signal),
  "a revocation": (url, signal) => revokeToken(new URL(url), "c.token", signal),
  "a webhook": (url, signal) => postWith({ ...rules, userAgent: "test" })(url, {}, "{}", signal),
};

/** What a host sends before it falls silent. */
const hosts: readonly (readonly [name: string, scheme: "http" | "https", words: string])[] = [
  ["says nothing", "http", ""],
  ["says nothing of TLS", "https", ""],
  ["breaks off in the head", "http", "HTTP/1.1 200 OK\r\nX-Part: "],
  ["sends informational answers alone", "http", "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(50)],
  ["sends a body without an end", "http", "HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n{"],
];

for (const [host, scheme, words] of hosts) {
  describe(`a host that takes the connection and ${host}`, { timeout: 20_000 }, () => {
    for (const [name, call] of Object.entries(calls)) {
      it(`holds neither socket nor listener of ${name} after the time limit`, async (t) => {
        const { port, open, heard } = await silentHost(t, words);
        const limit = new AbortController();
        const ended = call(`${scheme}://127.0.0.1:${port}/`, limit.signal);
        await heard;
        await flushPromises();
        limit.abort();
        await ended;
        while (open.size > 0) await flushPromises();
        assert.equal(getEventListeners(limit.signal, "abort").length, 0);
      });
    }
  });
}

describe("interim answers without end", () => {
  it("end the call", async (t) => {
    const { port, open } = await silentHost(t, "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(50));
    for (const [name, call] of Object.entries(calls)) {
      t.diagnostic(name);
      await call(`http://127.0.0.1:${port}/`, t.signal);
    }
    while (open.size > 0) await flushPromises();
  });

  it("are no hindrance when they are few", async (t) => {
    const words = `${"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(3)}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}`;
    const { port } = await silentHost(t, words);
    const url = `http://127.0.0.1:${port}/`;
    assert.deepEqual(await calls["a webhook"]!(url, t.signal), { status: 200, text: null });
    const read = await jsonCaller(readJsonHere)({ method: "POST", url, body: {} }, t.signal);
    assert.equal(read.isAnswered && read.status, 200);
  });
});

describe("the head of an answer", () => {
  it("of over 16 KB ends the call", async (t) => {
    const { port, open } = await silentHost(t, `HTTP/1.1 200 OK\r\nX-Long: ${"x".repeat(17_000)}`);
    for (const call of Object.values(calls)) {
      await call(`http://127.0.0.1:${port}/`, t.signal);
      while (open.size > 0) await flushPromises();
    }
  });
});

describe("the first message of an instance", () => {
  it("of over 4 KB is not read", async (t) => {
    const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    t.after(() => server.close());
    await once(server, "listening");
    let padding = "";
    server.on("connection", (socket) => socket.send(JSON.stringify({ type: "auth_required", padding })));
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    assert.equal(await probeInstance(url, rules, t.signal), undefined);
    padding = "x".repeat(5_000);
    assert.equal(await probeInstance(url, rules, t.signal), "foreign");
  });
});

async function silentHost(t: TestContext, words: string) {
  const open = new Set<Socket>();
  const { promise: heard, resolve } = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on("error", () => undefined).on("close", () => open.delete(socket));
    socket.once("data", () => socket.write(words, () => resolve()));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, open, heard };
}
