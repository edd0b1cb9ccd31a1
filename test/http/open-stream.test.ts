import assert from "node:assert/strict";
import { getEventListeners, once } from "node:events";
import type { IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { describe, it, type TestContext } from "node:test";
import type { StreamWriter } from "../../src/http/answer/open-stream.ts";
import { appOn } from "../../src/http/app.ts";
import { closeSignalOf } from "../../src/http/connection/close-signal.ts";
import { Exchanges } from "../../src/http/open-exchanges.ts";
import { addRoutes, type Route } from "../../src/http/routes.ts";
import { defaultHttpLimits } from "../../src/http/server.ts";
import { followEvents } from "../../src/outlets/v3/event-descriptions.ts";
import { collecting } from "../platform/made-platform.ts";
import { closed } from "../set-up/closed-socket.ts";
import { receivedBy } from "./fast-path-and-fastify.ts";

describe("an open-ended answer", () => {
  it("sends writes at once, and ends when the route ends it", { timeout: 30_000 }, async (t) => {
    const { url, writers } = await streaming(t);
    const answer = await fetch(url, { headers: { authorization: "Bearer x" } });
    assert.equal(answer.headers.get("transfer-encoding"), null);
    assert.equal(answer.headers.get("x-mark"), "here");
    assert.match(answer.headers.get("x-request-id") ?? "", /^[0-9a-f-]{36}$/);
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    for (const text of ["one", "two", "ü"]) {
      writers[0]!.write(Buffer.from(text));
      assert.equal((await reader.read()).value, text);
    }
    writers[0]!.write(Buffer.from("last words"));
    writers[0]!.end();
    writers[0]!.write(Buffer.from("too late"));
    assert.deepEqual(await reader.read(), { done: false, value: "last words" });
    assert.equal((await reader.read()).done, true);
  });

  it("is closed when its client disconnects", { timeout: 30_000 }, async (t) => {
    const { url, writers } = await streaming(t);
    const leaving = new AbortController();
    await fetch(url, { headers: { authorization: "Bearer x" }, signal: leaving.signal });
    const closed = new Promise((resolve) => writers[0]!.closed.addEventListener("abort", resolve));
    leaving.abort();
    await closed;
  });

  it("ends when the server ends its streams, also if it begins later", { timeout: 30_000 }, async (t) => {
    const { url, exchanges } = await streaming(t);
    const ask = () => fetch(url, { headers: { authorization: "Bearer x" } });
    const early = await ask();
    exchanges.endStreams();
    const late = await ask();
    assert.deepEqual([await early.text(), await late.text()], ["", ""]);
    await exchanges.finished();
  });
});

describe("open-ended answers to requests that a client has sent without waiting", () => {
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer x\r\n\r\n`;

  it("begin only when every earlier request is answered", { timeout: 30_000 }, async (t) => {
    const { open, writers, held } = await streaming(t);
    const socket = await open();
    const received = receivedBy(socket);
    socket.write(get("/held") + get("/stream"));
    while (held.length === 0) await turns(1);
    await turns();
    assert.equal(writers.length, 0);
    held[0]!();
    while (writers.length === 0) await turns(1);
    writers[0]!.write(Buffer.from("first"));
    while (!received.text().endsWith("first")) await once(socket, "data");
    socket.destroy();
  });

  it("never begin behind another one, and are over when that one ends", { timeout: 30_000 }, async (t) => {
    const { open, writers, asked, exchanges } = await streaming(t);
    const socket = await open();
    const received = receivedBy(socket);
    socket.write(get("/stream").repeat(12));
    while (writers.length === 0) await turns(1);
    // A request that arrives later is not carried out either.
    socket.write(get("/held"));
    await turns();
    assert.deepEqual([writers.length, asked.length], [1, 1]);
    writers[0]!.write(Buffer.from("only"));
    writers[0]!.end();
    await closed(socket);
    assert.equal(received.text().match(/HTTP\/1\.1/g)?.length, 1);
    await exchanges.finished();
    assert.deepEqual([writers.length, asked.length], [1, 1]);
  });

  it("leave nothing behind on the connection when they are refused", { timeout: 30_000 }, async (t) => {
    const { open, requests, held } = await streaming(t);
    const socket = await open();
    const received = receivedBy(socket);
    for (let round = 1; round <= 5; round++) {
      socket.write(get("/held") + "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n".repeat(7));
      while (requests.length < 8 * round || held.length < round) await turns(1);
      await turns(5);
      held[round - 1]!();
      while (answersIn(received.text(), "401") < 7 * round) await once(socket, "data");
    }
    assert.ok(getEventListeners(closeSignalOf(requests[0]!.socket), "abort").length < 7);
    socket.destroy();
  });

  it("keep a later request, whose body arrives after they have begun, from being carried out", {
    timeout: 30_000,
  }, async (t) => {
    const { open, writers, asked, held, requests } = await streaming(t);
    const socket = await open();
    const received = receivedBy(socket);
    const put = "PUT /held HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer x\r\nContent-Type: application/json\r\n";
    socket.write(`${get("/held")}${get("/stream")}${put}Content-Length: 10\r\n\r\n{"a":`);
    while (requests.length < 3 || held.length === 0) await turns(1);
    held[0]!();
    while (writers.length === 0) await turns(1);
    writers[0]!.write(Buffer.from("begun"));
    while (!received.text().endsWith("begun")) await once(socket, "data");
    socket.write(`1234}${get("/held")}`);
    await turns();
    assert.deepEqual(asked, ["held", "stream"]);
    // The stream goes on.
    writers[0]!.write(Buffer.from("more"));
    while (!received.text().endsWith("more")) await once(socket, "data");
    socket.destroy();
  });

  it("are over when the client disconnects", { timeout: 30_000 }, async (t) => {
    const { open, writers, held, exchanges } = await streaming(t);
    const socket = await open();
    socket.write(get("/held") + get("/stream"));
    while (held.length === 0) await turns(1);
    await turns();
    socket.destroy();
    await exchanges.finished();
    held[0]!();
    await turns();
    assert.equal(writers.length, 0);
  });
});

const answersIn = (text: string, status: string) => text.split(`HTTP/1.1 ${status}`).length - 1;

/** Enough turns for the server to handle all requests that have arrived. */
async function turns(count = 50): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
}

async function streaming(t: TestContext) {
  const report = collecting([]);
  const exchanges = new Exchanges(report);
  const app = appOn({ exchanges, onLimitReached: () => undefined, trustedProxies: [], ...defaultHttpLimits });
  const writers: StreamWriter[] = [];
  const asked: string[] = [];
  /** Each answers a request for /held. */
  const held: (() => void)[] = [];
  const route: Route = {
    methods: ["GET"],
    isStream: true,
    path: "/stream",
    access: "bearer",
    scopes: ["devices:read"],
    errors: "standard",
    description: followEvents,
    answer: async () => {
      asked.push("stream");
      return { status: 200, headers: { "x-mark": "here" }, stream: (writer) => void writers.push(writer) };
    },
  };
  const heldRoute: Route = {
    methods: ["GET", "PUT"],
    path: "/held",
    access: "bearer",
    scopes: ["devices:read"],
    errors: "standard",
    description: followEvents,
    async answer() {
      asked.push("held");
      await new Promise<void>((resolve) => held.push(resolve));
      return { status: 200, headers: {}, body: "" };
    },
  };
  const nobody = () => Promise.reject(new Error("nobody"));
  const byAccessToken = async () => ({ kind: "user", userId: 1, tenantId: 1, scopes: null }) as never;
  addRoutes(app, [route, heldRoute], { bySecToken: nobody, byClientSecret: nobody, byAccessToken }, exchanges);
  await app.listen({ host: "127.0.0.1", port: 0 });
  t.after(async () => {
    app.server.closeAllConnections();
    await app.close();
  });
  const requests: IncomingMessage[] = [];
  app.server.on("request", (request) => requests.push(request));
  const { port } = app.server.address() as AddressInfo;
  const open = async () => {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    return socket;
  };
  return { requests, url: `http://127.0.0.1:${port}/stream`, writers, asked, held, exchanges, open };
}
