import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { openFileLimit } from "../../src/http/connection/open-files.ts";
import { folderOf } from "../cli/made-folder.ts";
import { hasOpenssl, makeCertificate } from "../set-up/certificate.ts";
import { madeServer } from "./made-server.ts";

type Change = NonNullable<Parameters<typeof madeServer>[1]>;

async function limited(t: TestContext, limits: Change["limits"] & {}, change: Change = {}) {
  const reached: string[] = [];
  const { server } = await madeServer(t, { ...change, limits, onLimitReached: (limit) => reached.push(limit) });
  const open = (localAddress: string): Socket => {
    const socket = connect({ port: server.port, host: "127.0.0.1", localAddress });
    socket.on("error", () => undefined);
    t.after(() => socket.destroy());
    return socket;
  };
  /** Whether the server answers on a new connection. */
  const isAnswered = async (localAddress = "127.0.0.1") => {
    const socket = open(localAddress);
    socket.write("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n");
    // A refused connection may be reset, which is no error here.
    return new Promise<boolean>((resolve) => {
      socket.once("data", () => resolve(true)).once("close", () => resolve(false));
    });
  };
  return { reached, open, isAnswered };
}

describe("connections of one address", () => {
  it("beyond the limit are closed at once, and those of others are not", async (t) => {
    const { reached, isAnswered } = await limited(t, { connectionsPerSource: 2 });
    assert.deepEqual([await isAnswered(), await isAnswered(), await isAnswered()], [true, true, false]);
    assert.deepEqual(reached, ["connectionsPerSource"]);
    assert.equal(await isAnswered("127.0.0.2"), true);
    assert.equal(await isAnswered(), false);
  });

  it("count only while they are open", async (t) => {
    const { reached, open, isAnswered } = await limited(t, { connectionsPerSource: 1 });
    for (let round = 0; round < 3; round++) {
      const socket = open("127.0.0.1");
      socket.write("GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
      socket.resume();
      // The server has closed its end before the client sees that.
      await once(socket, "close");
    }
    assert.deepEqual(reached, []);
    assert.equal(await isAnswered(), true);
    assert.equal(await isAnswered(), false);
  });

  it("are not counted for a trusted proxy", async (t) => {
    for (const proxy of ["127.0.0.2", "127.0.0.2/31"]) {
      const { reached, isAnswered } = await limited(t, { connectionsPerSource: 1 }, { trustedProxies: [proxy] });
      for (let count = 0; count < 5; count++) assert.equal(await isAnswered("127.0.0.2"), true);
      assert.deepEqual(reached, []);
      assert.deepEqual([await isAnswered(), await isAnswered()], [true, false]);
    }
  });

  it("are closed before the TLS handshake", {
    skip: hasOpenssl ? false : "openssl makes the certificate",
  }, async (t) => {
    const { reached, open } = await limited(
      t,
      { connectionsPerSource: 1 },
      { certificate: makeCertificate(folderOf(t)) },
    );
    const first = open("127.0.0.1");
    await once(first, "connect");
    const second = open("127.0.0.1").resume();
    await once(second, "close");
    assert.deepEqual(reached, ["connectionsPerSource"]);
    assert.equal(first.closed, false);
  });
});

describe("connections of all addresses", () => {
  it("beyond the limit are closed at once, and no address may have more than half of them", async (t) => {
    const { reached, isAnswered } = await limited(t, { connections: 4 });
    assert.deepEqual([await isAnswered(), await isAnswered(), await isAnswered()], [true, true, false]);
    assert.deepEqual([await isAnswered("127.0.0.2"), await isAnswered("127.0.0.3")], [true, true]);
    assert.equal(await isAnswered("127.0.0.4"), false);
    assert.deepEqual(reached, ["connectionsPerSource", "connections"]);
  });

  it("leave open files for the store: the limit of the process is known", () => {
    const limit = openFileLimit();
    assert.ok(limit === undefined || limit >= 100);
  });
});
