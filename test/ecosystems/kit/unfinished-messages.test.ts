import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { describe, it } from "node:test";
import { jsonCaller } from "../../../src/ecosystems/kit/json-call.ts";
import { UnfinishedMessages } from "../../../src/ecosystems/kit/unfinished-messages.ts";
import { readJsonHere } from "../../../src/runtime/json/json-thread.ts";

const kilobyte = 1024;

describe("unfinished messages", () => {
  function tracked(limitBytes: number) {
    const dropped: string[] = [];
    const reached: string[] = [];
    const unfinished = new UnfinishedMessages((limit) => reached.push(limit), limitBytes);
    const drops: Record<string, () => void> = {};
    const set = (name: string, bytes: number) => {
      drops[name] ??= () => dropped.push(name);
      unfinished.set(drops[name], bytes);
    };
    return { dropped, reached, set };
  }

  it("are dropped in the order in which they became large, one for each time that the limit is exceeded", () => {
    const { dropped, reached, set } = tracked(300 * kilobyte);
    set("small", 60 * kilobyte);
    set("b", 100 * kilobyte);
    set("a", 70 * kilobyte);
    set("b", 110 * kilobyte);
    set("small", 65 * kilobyte);
    assert.deepEqual(dropped, []);
    set("c", 100 * kilobyte);
    assert.deepEqual(dropped, ["b"]);
    set("c", 200 * kilobyte);
    assert.deepEqual(dropped, ["b", "a"]);
    set("c", 230 * kilobyte);
    set("c", 240 * kilobyte);
    assert.deepEqual(dropped, ["b", "a", "small"]);
    assert.deepEqual(reached, Array(3).fill("unfinishedMessageBytes"));
  });

  it("of up to 64 KB are not counted, and complete ones no longer", () => {
    const { dropped, set } = tracked(100 * kilobyte);
    for (let i = 0; i < 10; i++) set(`small ${i}`, 64 * kilobyte);
    for (let i = 0; i < 10; i++) {
      set(`large ${i}`, 90 * kilobyte);
      set(`large ${i}`, 0);
    }
    assert.deepEqual(dropped, []);
    set("a", 90 * kilobyte);
    set("a", 0);
    set("b", 90 * kilobyte);
    set("a", 90 * kilobyte);
    assert.deepEqual(dropped, ["b"], "the next message of a sender is the newest again");
  });
});

describe("answers that never end", () => {
  it("are bounded together: the one that became large first counts as broken off", async (t) => {
    const server = createServer((_request, response) => void response.writeHead(200).write("x".repeat(1_000_000)));
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    assert.ok(typeof address === "object" && address);
    const reached: string[] = [];
    const call = jsonCaller(readJsonHere, new UnfinishedMessages((limit) => reached.push(limit), 1_500_000));
    const ended: string[] = [];
    const leaving = new AbortController();
    const calls = ["a", "b"].map(async (name) => {
      const url = `http://127.0.0.1:${address.port}`;
      const answer = await call({ method: "GET", url, list: true }, leaving.signal);
      if (!answer.isAnswered) ended.push(answer.detail);
      return name;
    });
    await Promise.race(calls);
    assert.deepEqual([ended, reached], [["the answer broke off or was too large"], ["unfinishedMessageBytes"]]);
    leaving.abort();
    await Promise.all(calls);
  });
});
