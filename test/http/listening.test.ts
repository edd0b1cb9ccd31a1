import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { describe, it } from "node:test";
import { fastify } from "fastify";
import { Listening } from "../../src/http/connection/listening.ts";

describe("a burst of connections", () => {
  it("is accepted several in each turn of the event loop", { skip: process.platform !== "linux" }, async (t) => {
    const app = fastify();
    const listening = await Listening.start(app, { host: "127.0.0.1", port: 0 });
    t.after(() => app.close());
    const { port } = app.server.address() as { port: number };
    let turn = 0;
    const turns = new Set<number>();
    let accepted = 0;
    const all = Promise.withResolvers<void>();
    app.server.on("connection", () => {
      turns.add(turn);
      if (++accepted === 160) all.resolve();
    });
    const clients = Array.from({ length: 160 }, () => connect(port, "127.0.0.1"));
    const countTurns = () => {
      turn += 1;
      if (accepted < 160) setImmediate(countTurns);
    };
    setImmediate(countTurns);
    await all.promise;
    // The kernel spreads them randomly: 10 on each of 16 sockets on average.
    assert.ok(turns.size < 80, `accepted in ${turns.size} turns`);

    const stopped = listening.stop();
    for (const client of clients) client.destroy();
    await stopped;
    const late = connect(port, "127.0.0.1");
    const [error] = await once(late, "error");
    assert.equal((error as NodeJS.ErrnoException).code, "ECONNREFUSED");
  });
});
