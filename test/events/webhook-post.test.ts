import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { postWith } from "../../src/events/webhooks/post.ts";
import { closed } from "../set-up/closed-socket.ts";

describe("a receiver that answers and never ends its body", () => {
  it("loses its socket as soon as its status is read", { timeout: 30_000 }, async (t) => {
    const { url, sockets } = await endlessReceiver(t);
    const post = postWith({ resolve: async () => [], allowsPrivate: true, userAgent: "test" });
    for (let i = 0; i < 10; i++) {
      assert.deepEqual(await post(url, {}, "{}", t.signal), { status: 200, text: null });
    }
    assert.equal(sockets.length, 10);
    await Promise.all(sockets.map((socket) => closed(socket)));
  });
});

describe("a receiver that switches protocols, or closes the connection without an answer", () => {
  // Without an end, such an attempt would hold its slot until the service stops, and the service could not stop.
  it("ends the attempt as a failed one", { timeout: 30_000 }, async (t) => {
    const switching = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n";
    const { url, sockets } = await receiverThat(t, (socket) => socket.write(switching));
    const post = postWith({ resolve: async () => [], allowsPrivate: true, userAgent: "test" });
    assert.deepEqual(await post(url, {}, "{}", t.signal), { status: 101, text: "answered 101" });
    await Promise.all(sockets.map((socket) => closed(socket)));
    const { url: mute } = await receiverThat(t, (socket) => socket.end());
    assert.deepEqual(await post(mute, {}, "{}", t.signal), { status: null, text: "the connection failed" });
  });
});

/** Sends the head of an answer and a part of its body, and never ends it. */
function endlessReceiver(t: TestContext) {
  return receiverThat(t, (socket) => {
    socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n");
  });
}

/** Answers each request as `answer` does. */
async function receiverThat(t: TestContext, answer: (socket: Socket) => void) {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => undefined);
    socket.once("data", () => answer(socket));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, sockets };
}
