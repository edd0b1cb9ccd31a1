import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { describe, it } from "node:test";
import type pg from "pg";
import { ConnectionQueue } from "../../src/store/postgres/connection-queue.ts";

/** A pool with one connection. */
function onePool() {
  const pool = Object.assign(new EventEmitter(), { options: { max: 1 }, connect: async () => ({}) });
  return { pool: pool as unknown as pg.Pool, release: () => pool.emit("release") };
}

describe("callers who wait for a connection", () => {
  it("get it in their order, those that are only `soon` after the others", async () => {
    const { pool, release } = onePool();
    const queue = new ConnectionQueue(pool);
    const order: string[] = [];
    const wait = (name: string, soon: boolean) => queue.connect({ soon }).then(() => order.push(name));
    await wait("first", true);
    const waiting = [wait("soon", true), wait("soon too", true), wait("urgent", false), wait("urgent too", false)];
    assert.equal(queue.waitingCount, 4);
    for (const _ of waiting) {
      release();
      await new Promise(setImmediate);
    }
    await Promise.all(waiting);
    assert.deepEqual(order, ["first", "urgent", "urgent too", "soon", "soon too"]);
    release();
    await queue.connect();
  });

  it("also get it when they are only `soon` and others always wait", async () => {
    const { pool, release } = onePool();
    const queue = new ConnectionQueue(pool);
    const order: string[] = [];
    const wait = (name: string, soon: boolean) => queue.connect({ soon }).then(() => order.push(name));
    await queue.connect();
    const names = ["1", "2", "3", "4", "5", "6", "7"];
    const waiting = [
      ...["soon", "soon too"].map((name) => wait(name, true)),
      ...names.map((name) => wait(name, false)),
    ];
    for (const _ of waiting) {
      release();
      await new Promise(setImmediate);
    }
    await Promise.all(waiting);
    assert.deepEqual(order, ["1", "2", "3", "soon", "4", "5", "6", "soon too", "7"]);
  });

  it("get it by tenants in turn, and within a tenant by holders in turn", async () => {
    const { pool, release } = onePool();
    let owner: { tenant: string; holder: string } | undefined;
    const queue = new ConnectionQueue(pool, 60_000, () => owner);
    const order: string[] = [];
    await queue.connect();
    const names = ["a1", "a1", "a1", "a2", "b1", "b1", "c1"];
    const waiting = names.map((name) => {
      owner = { tenant: name[0]!, holder: name };
      return queue.connect().then(() => order.push(name));
    });
    for (const _ of waiting) {
      release();
      await new Promise(setImmediate);
    }
    await Promise.all(waiting);
    assert.deepEqual(order, ["a1", "b1", "c1", "a2", "b1", "a1", "a1"]);
    assert.equal(queue.waitingCount, 0);
  });

  it("all fail when no connection can be made", async () => {
    const { pool, release } = onePool();
    const queue = new ConnectionQueue(pool, 60_000);
    await queue.connect();
    const waiting = [queue.connect(), queue.connect({ soon: true }), queue.connect({ soon: true })];
    const refused = Promise.all(waiting.map((one) => assert.rejects(one, /refused/)));
    pool.connect = (async () => Promise.reject(new Error("refused"))) as never;
    release();
    await refused;
  });
});
