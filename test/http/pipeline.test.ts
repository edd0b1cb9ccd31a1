import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { connect as connectTls } from "node:tls";
import { limitPipelines, pipelineOf } from "../../src/http/connection/pipeline.ts";
import { folderOf } from "../cli/made-folder.ts";
import { hasOpenssl, makeCertificate } from "../set-up/certificate.ts";
import { fastPathAndFastify, receivedBy } from "./fast-path-and-fastify.ts";

const get = (path: number | string, version = "1.1") => `GET /${path} HTTP/${version}\r\nHost: a\r\n\r\n`;
const many = (count: number, one = (at: number) => get(at)) =>
  Array.from({ length: count }, (_, at) => one(at)).join("");
const limit = 8;

/** A server whose answers the test releases one by one; each has the requested path as its body. */
async function heldServer(t: TestContext, { isTls = false } = {}) {
  const waiting: { readonly request: IncomingMessage; readonly response: ServerResponse }[] = [];
  const paths: string[] = [];
  const reached: string[] = [];
  let onRequest = () => {};
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    waiting.push({ request, response });
    paths.push(request.url!.slice(1));
    onRequest();
  };
  const files = isTls ? makeCertificate(folderOf(t)) : undefined;
  const server: Server = files
    ? createTlsServer({ cert: readFileSync(files.certFile), key: readFileSync(files.keyFile) }, listener)
    : createServer(listener);
  limitPipelines(server, isTls, (name) => reached.push(name));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    server,
    waiting,
    paths,
    reached,
    open: async (): Promise<Socket> => {
      const socket = files
        ? connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false })
        : connect(port, "127.0.0.1");
      socket.on("error", () => undefined);
      await once(socket, files ? "secureConnect" : "connect");
      return socket;
    },
    /** Resolves when this many requests have been parsed since the start. */
    begun: (count: number) =>
      new Promise<void>((resolve) => {
        onRequest = () => paths.length >= count && resolve();
        onRequest();
      }),
    answerNext: () => {
      const { response } = waiting.shift()!;
      const body = response.req.url!.slice(1);
      response.writeHead(200, { "content-length": body.length }).end(body);
    },
  };
}

/** Enough turns for the server to read all arrived bytes, unless it has paused reading. */
async function turns(count = 50): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
}

/** The bodies of the answers, in order. */
const bodies = (text: string) => [...text.matchAll(/\r\n\r\n([^\r]*?)(?=HTTP\/1\.1|$)/g)].map(([, body]) => body);

describe("a client that sends requests without waiting for answers", () => {
  for (const [name, isTls, version, pieces] of [
    ["in one piece", false, "1.1", 1],
    ["in many pieces", false, "1.1", 1_000],
    ["with HTTP/1.0", false, "1.0", 1],
    ["over TLS", true, "1.1", 1],
    ["over TLS in many records", true, "1.1", 1_000],
  ] as const) {
    it(`has at most 8 of them parsed, and the others answered in order: ${name}`, {
      skip: isTls && !hasOpenssl ? "openssl makes the certificate" : false,
      timeout: 30_000,
    }, async (t) => {
      const { open, begun, paths, reached, answerNext, waiting } = await heldServer(t, { isTls });
      const socket = await open();
      const received = receivedBy(socket);
      const count = 1_000;
      const ask = (at: number) => get(at, version).replace("Host", "Connection: keep-alive\r\nHost");
      if (pieces === 1) socket.write(many(count, ask));
      else for (let at = 0; at < count; at++) socket.write(ask(at));
      await begun(limit);
      await turns();
      assert.equal(paths.length, limit);
      assert.deepEqual(reached, ["requestsPerConnection"]);
      answerNext();
      await begun(limit + 1);
      await turns();
      assert.equal(paths.length, limit + 1, "one answer lets one request in");
      for (let answered = 1; answered < count; answered++) {
        await begun(Math.min(count, answered + limit));
        assert.ok(waiting.length <= limit);
        answerNext();
      }
      while (bodies(received.text()).length < count) await once(socket, "data");
      const inOrder = Array.from({ length: count }, (_, at) => String(at));
      assert.deepEqual(paths, inOrder);
      assert.deepEqual(bodies(received.text()), inOrder);
      socket.destroy();
    });
  }

  it("gets its answers in order through the fast path, with at most 8 reads in progress", {
    timeout: 30_000,
  }, async (t) => {
    const { fastPath, tokens, alice, addDevice } = await fastPathAndFastify(t);
    const device = await addDevice(alice);
    const { verify } = tokens;
    const held: (() => void)[] = [];
    let lookUps = 0;
    const eighth = Promise.withResolvers<void>();
    let isOpen = false;
    tokens.verify = async (token) => {
      lookUps += 1;
      if (lookUps === limit) eighth.resolve();
      if (!isOpen) await new Promise<void>((resolve) => held.push(resolve));
      return verify(token);
    };
    const socket = await fastPath.open();
    const received = receivedBy(socket);
    const read = `GET /v3/devices/${device} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer alice\r\n\r\n`;
    socket.write(many(200, () => read));
    await eighth.promise;
    await turns();
    assert.equal(lookUps, limit);
    isOpen = true;
    for (const go of held) go();
    const answered = () => received.text().match(/HTTP\/1\.1 200/g)?.length ?? 0;
    while (answered() < 200) await once(socket, "data");
    assert.equal(fastPath.taken.count, 200);
    socket.destroy();
  });

  it("has one of them parsed in each turn of the event loop, so that other clients get their turns", async (t) => {
    const { server, open, begun } = await heldServer(t);
    let turn = 0;
    let isCounting = true;
    const count = () => {
      turn += 1;
      if (isCounting) setImmediate(count);
    };
    count();
    const turnsOfRequests: number[] = [];
    server.prependListener("request", () => turnsOfRequests.push(turn));
    server.on("request", (_request, response) => response.end());
    const socket = await open();
    socket.resume();
    socket.write(many(100));
    await begun(100);
    isCounting = false;
    assert.equal(new Set(turnsOfRequests).size, 100);
    socket.destroy();
  });

  it("and then ends its side has at most 8 of them parsed", { timeout: 20_000 }, async (t) => {
    const { open, begun, paths, waiting, answerNext } = await heldServer(t);
    const socket = await open();
    socket.resume();
    socket.end(many(20));
    await begun(limit);
    await turns();
    assert.equal(paths.length, limit);
    for (let answered = 1; answered <= 20 - limit; answered++) {
      answerNext();
      await begun(answered + limit);
      assert.ok(waiting.length <= limit);
    }
    await once(socket, "close");
    assert.equal(paths.length, 20);
  });
});

describe("requests behind an answer that does not end", () => {
  it("are not parsed, also when they arrived before it began", { timeout: 20_000 }, async (t) => {
    const { open, begun, paths, waiting } = await heldServer(t);
    const socket = await open();
    const received = receivedBy(socket);
    socket.write(many(20));
    await begun(limit);
    const { request, response } = waiting[0]!;
    response.writeHead(200, { connection: "close" }).write("begun");
    pipelineOf(request.socket)!.openStream(request);
    await turns();
    socket.write(many(20));
    await turns();
    assert.equal(paths.length, limit);
    // The connection is still read: its end is noticed.
    socket.end();
    await once(request.socket, "end");
    assert.match(received.text(), /begun/);
    socket.destroy();
  });

  it("are given up when their body is still arriving, and the connection is still read", {
    timeout: 20_000,
  }, async (t) => {
    const { open, begun, waiting } = await heldServer(t);
    const socket = await open();
    const received = receivedBy(socket);
    socket.write(`${get("stream")}POST /post HTTP/1.1\r\nHost: a\r\nContent-Length: 500000\r\n\r\n`);
    await begun(2);
    const [stream, post] = waiting as [(typeof waiting)[0], (typeof waiting)[0]];
    // Nobody reads the body, so that Node pauses the connection.
    socket.write("x".repeat(200_000));
    while (!post.request.socket.isPaused()) await turns(1);
    stream.response.writeHead(200, { connection: "close" }).write("begun");
    pipelineOf(post.request.socket)!.openStream(stream.request);
    await once(post.request, "close");
    socket.end("x".repeat(300_000) + get("later"));
    await once(post.request.socket, "end");
    assert.deepEqual([post.request.complete, waiting.length], [false, 2]);
    assert.match(received.text(), /begun/);
    socket.destroy();
  });

  it("do not begin within the body of the answered request, whose rest the parser still gets", {
    timeout: 20_000,
  }, async (t) => {
    const { open, begun, waiting } = await heldServer(t);
    const socket = await open();
    socket.write("POST /post HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n01234");
    await begun(1);
    const { request } = waiting[0]!;
    pipelineOf(request.socket)!.openStream(request);
    socket.write(`56789${get("later")}`);
    let arrived = "";
    request.setEncoding("latin1");
    for await (const piece of request) arrived += piece;
    assert.equal(arrived, "0123456789");
    await turns();
    assert.equal(waiting.length, 1);
    socket.destroy();
  });
});

describe("the body of a request behind other requests", () => {
  const blank = "\r\n\r\nGET /inside HTTP/1.1\r\n\r\n";
  for (const [name, body] of [
    ["of known length", `Content-Length: ${1_000 * blank.length}\r\n\r\n${blank.repeat(1_000)}`],
    [
      "in chunks",
      `Transfer-Encoding: chunked\r\n\r\n${`${blank.length.toString(16)}\r\n${blank}\r\n`.repeat(1_000)}0\r\n\r\n`,
    ],
  ] as const) {
    it(`arrives completely although 8 requests are unanswered: ${name}`, { timeout: 20_000 }, async (t) => {
      const { open, begun, paths, waiting, reached } = await heldServer(t);
      const socket = await open();
      const post = `POST /post HTTP/1.1\r\nHost: a\r\n${body}`;
      socket.write(many(limit - 1) + post + many(5));
      await begun(limit);
      const { request } = waiting.at(-1)!;
      let arrived = "";
      request.setEncoding("latin1");
      for await (const piece of request) arrived += piece;
      assert.equal(arrived, blank.repeat(1_000));
      await turns();
      assert.equal(paths.length, limit, "requests after the body wait");
      assert.deepEqual(reached, ["requestsPerConnection"]);
      socket.destroy();
    });
  }
});

describe("requests that arrive in two reads", () => {
  it("are parsed like requests in one read, wherever they are cut", { timeout: 30_000 }, async (t) => {
    const { open, begun, paths, answerNext, waiting } = await heldServer(t);
    const text = `${get("a")}POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n\n\r\n${get("c")}${get("d")}`;
    for (let cut = 1; cut < text.length; cut++) {
      const socket = await open();
      socket.setNoDelay(true);
      socket.resume();
      socket.write(text.slice(0, cut));
      await turns(2);
      socket.write(text.slice(cut));
      await begun(4);
      assert.deepEqual(paths.splice(0), ["a", "b", "c", "d"]);
      while (waiting.length > 0) answerNext();
      socket.destroy();
    }
  });
});
