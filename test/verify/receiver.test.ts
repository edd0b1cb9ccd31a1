import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { describe, it } from "node:test";
import { startReceiver } from "../../verify/client/receiver.ts";

describe("the receiver of verify", () => {
  it("goes on when a request breaks off in its body", async (t) => {
    const errors: unknown[] = [];
    const onError = (error: unknown) => errors.push(error);
    process.on("unhandledRejection", onError);
    t.after(() => process.off("unhandledRejection", onError));
    const receiver = await startReceiver();
    const { port } = new URL(receiver.url);
    const socket = connect(Number(port), "127.0.0.1");
    socket.write("POST /half HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n");
    // The request has arrived: its answer to Expect shows that.
    await once(socket, "data");
    socket.write("1");
    socket.destroy();
    const answer = await fetch(receiver.url, { method: "POST", body: "whole" });
    assert.equal(answer.status, 200);
    await receiver.stop();
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(errors, []);
    assert.deepEqual(
      receiver.received.map(({ body }) => body),
      ["whole"],
    );
  });
});
