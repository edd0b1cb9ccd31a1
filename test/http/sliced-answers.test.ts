import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { describe, it, type TestContext } from "node:test";
import type { Platform } from "../../src/outlets/platform/platform-routes.ts";
import { receivedBy } from "./fast-path-and-fastify.ts";
import { madeServer } from "./made-server.ts";

const ask = "GET /zdk/services/zamapi/list HTTP/1.1\r\nHost: a\r\n\r\n";

/** A server whose platform calls answer these slices. */
async function answering(t: TestContext, slices: () => AsyncGenerator<string>, limits: { silenceMs?: number } = {}) {
  const platform = { operations: new Map(), call: async () => ({ status: 200, slices: slices() }) };
  const { server } = await madeServer(t, { platform, limits });
  const open = async () => {
    const socket = connect(server.port, "127.0.0.1");
    await once(socket, "connect");
    t.after(() => socket.destroy());
    return socket;
  };
  return { open };
}

describe("an answer in slices", () => {
  it("arrives completely, and leaves its connection open", { timeout: 20_000 }, async (t) => {
    const { open } = await answering(t, async function* () {
      for (let at = 0; at < 50; at++) yield `<${at}ä>`;
    });
    const socket = await open();
    const received = receivedBy(socket);
    const ends = () => received.text().match(/\r\n0\r\n\r\n/g)?.length ?? 0;
    for (const count of [1, 2]) {
      socket.write(ask);
      while (ends() < count) await once(socket, "data");
    }
    const text = Buffer.from(received.text(), "latin1").toString();
    for (let at = 0; at < 50; at++) assert.equal(text.split(`<${at}ä>`).length, 3);
    assert.match(text, /content-type: text\/xml; charset=utf-8/);
  });

  it("lets other requests be answered between two slices", { timeout: 20_000 }, async (t) => {
    let isOtherAnswered = false;
    let made = 0;
    let askOther = () => {};
    const { open } = await answering(t, async function* () {
      askOther();
      // Small enough to be written without waiting for the client.
      while (!isOtherAnswered && made < 2_000) {
        made += 1;
        yield "x";
      }
    });
    const other = await open();
    other.once("data", () => {
      isOtherAnswered = true;
    });
    askOther = () => other.write("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n");
    const socket = await open();
    const received = receivedBy(socket);
    socket.write(ask);
    while (!received.text().endsWith("0\r\n\r\n")) await once(socket, "data");
    assert.ok(made < 2_000, "the other was answered only when all slices were made");
  });

  it("does not wait for all the answers that another caller has opened", { timeout: 20_000 }, async (t) => {
    const opened = 200;
    let made = 0;
    let madeMeanwhile = 0;
    let isDone = false;
    const ofMany = async function* () {
      for (; !isDone; made++) yield "x";
    };
    const ofOther = async function* () {
      const madeBefore = made;
      for (let at = 0; at < 20; at++) yield "x";
      madeMeanwhile = made - madeBefore;
    };
    const call: Platform["call"] = async (_operation, parameters) => {
      const userId = Number(parameters[0]?.[1]);
      return { status: 200, slices: userId === 1 ? ofMany() : ofOther(), caller: { tenantId: 1, userId } };
    };
    const { fetch } = await madeServer(t, { platform: { operations: new Map(), call } });
    const path = "/zdk/services/zamapi/list?user=";
    const many = await Promise.all(Array.from({ length: opened }, () => fetch(`${path}1`)));
    assert.equal(await (await fetch(`${path}2`)).text(), "x".repeat(20));
    isDone = true;
    await Promise.all(many.map((answer) => answer.text()));
    assert.ok(madeMeanwhile < 5 * opened, `${madeMeanwhile} slices of the other caller were made meanwhile`);
  });

  it("is made only as far as its client reads, and not to its end when the client disconnects", {
    timeout: 20_000,
  }, async (t) => {
    let made = 0;
    const ended = Promise.withResolvers<void>();
    const slice = "x".repeat(262_144);
    const { open } = await answering(t, async function* () {
      try {
        for (; made < 1_000; made++) yield slice;
      } finally {
        ended.resolve();
      }
    });
    const socket = await open();
    socket.pause();
    socket.write(ask);
    for (let before = -1; before !== made || made === 0; ) {
      before = made;
      for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
    }
    assert.ok(made < 500, `${made} slices were made for a client that takes none`);
    socket.destroy();
    await ended.promise;
    assert.ok(made < 1_000);
  });

  it("that its client never reads is abandoned", { timeout: 20_000 }, async (t) => {
    const ended = Promise.withResolvers<void>();
    const slices = async function* () {
      try {
        for (;;) yield "x".repeat(262_144);
      } finally {
        ended.resolve();
      }
    };
    const { open } = await answering(t, slices, { silenceMs: 100 });
    const socket = await open();
    socket.pause();
    socket.write(ask);
    await ended.promise;
  });

  it("that fails halfway is cut off, so that the client notices", { timeout: 20_000 }, async (t) => {
    const { open } = await answering(t, async function* () {
      yield "begun";
      throw new Error("the store failed");
    });
    const socket = await open();
    const received = receivedBy(socket);
    socket.write(ask);
    await once(socket, "close");
    assert.match(received.text(), /^HTTP\/1.1 200 /);
    assert.doesNotMatch(received.text(), /0\r\n\r\n$/);
  });
});
