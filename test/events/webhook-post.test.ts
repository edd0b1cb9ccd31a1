import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { postWith } from "../../src/events/webhooks/post.ts";

describe("a receiver that answers and never ends its body", () => {
  it("loses its socket as soon as its status is read", { timeout: 30_000 }, async (t) => {
    const { url, sockets } = await endlessReceiver(t);
    const post = postWith({ resolve: async () => [], allowsPrivate: true, userAgent: "test" });
    for (let i = 0; i < 10; i++) {
      assert.deepEqual(await post(url, {}, "{}", t.signal), { status: 200, text: null });
    }
    assert.equal(sockets.length, 10);
    await Promise.all(sockets.map((socket) => socket.closed || once(socket, "close")));
  });
});

/** Sends the head of an answer and a part of its body, and never ends it. */
async function endlessReceiver(t: TestContext) {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => undefined);
    socket.once("data", () => {
      socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n");
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, sockets };
}
