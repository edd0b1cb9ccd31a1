import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { PassThrough } from "node:stream";
import { describe, it, type TestContext } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { IngestTurns } from "../../src/ecosystems/kit/ingest-turns.ts";
import { nestConnector } from "../../src/ecosystems/nest/connector.ts";
import { NestStream } from "../../src/ecosystems/nest/stream.ts";
import type { Home } from "../../src/home/home.ts";
import { JsonThread, type ReadLargeJson, readJsonHere } from "../../src/runtime/json/json-thread.ts";
import { manualRuntime } from "../federation/manual-runtime.ts";
import { frame, putFrame, startByteServer, streamHead } from "./byte-server.ts";
import { listen } from "./listening.ts";
import { makeAlarm, makeDocument, makeThermostat } from "./made-documents.ts";

const padding = "x".repeat(300_000);
const named = (name: string, parts: Record<string, unknown> = {}) =>
  makeDocument({
    devices: { thermostats: { t1: makeThermostat({ name }) }, smoke_co_alarms: { a1: makeAlarm() } },
    ...parts,
  });
const nameIn = (home: unknown) => {
  const sighting = (home as Home).thermostats.byId.get("t1");
  return sighting?.isRead ? sighting.object.name : undefined;
};

/** A stream with these frames, whose large puts are read when the test says so. */
async function streamOf(t: TestContext, frames: string, isEnded = false) {
  const asked: PromiseWithResolvers<void>[] = [];
  const hasAsked = Promise.withResolvers<void>();
  const readJson: ReadLargeJson = async (...job) => {
    const turn = Promise.withResolvers<void>();
    asked.push(turn);
    hasAsked.resolve();
    await turn.promise;
    return readJsonHere(...job);
  };
  const sockets: Socket[] = [];
  const server = await startByteServer(t, (socket) => {
    sockets.push(socket);
    socket.write(streamHead + frames);
    if (isEnded) socket.end();
  });
  const connector = nestConnector({ name: "nest", apiUrl: server.url, allowedHosts: [], readJson });
  return { ...listen(connector, "token"), asked, hasAsked: hasAsked.promise, socket: () => sockets[0]! };
}

describe("a put of a Nest stream that is too large for the event loop", () => {
  const large = (name: string) => putFrame(named(name, { padding }));

  it("ends the stream when it has far more values than an account", async (t) => {
    const devices = { thermostats: Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`t${at}`, {}])) };
    const server = await startByteServer(t, (socket) => socket.write(streamHead + putFrame(makeDocument({ devices }))));
    const { heard, ended } = listen(nestConnector({ name: "nest", apiUrl: server.url, allowedHosts: [] }), "token");
    assert.equal((await ended).reason, "malformed");
    assert.deepEqual(heard, []);
  });

  it("is read by the thread", async (t) => {
    const thread = new JsonThread(manualRuntime());
    t.after(() => thread.stop());
    const server = await startByteServer(t, (socket) => socket.write(streamHead + large("Hall")));
    const { read } = thread;
    const { heard, until, stop, ended } = listen(
      nestConnector({ name: "nest", apiUrl: server.url, allowedHosts: [], readJson: read }),
      "token",
    );
    await until(1);
    assert.deepEqual(heard.map(nameIn), ["Hall"]);
    stop();
    await ended;
  });

  it("is taken before later puts, and again before those behind the next large one", async (t) => {
    const frames = large("1") + putFrame(named("2")) + large("3") + putFrame(named("4"));
    const { heard, hasAsked, asked, until, stop, ended } = await streamOf(t, frames);
    await hasAsked;
    assert.deepEqual(heard, []);
    asked[0]!.resolve();
    await until(2);
    assert.deepEqual(heard.map(nameIn), ["1", "2"]);
    while (asked.length < 2) await nextTurn();
    asked[1]!.resolve();
    await until(4);
    assert.deepEqual(heard.map(nameIn), ["1", "2", "3", "4"]);
    stop();
    await ended;
  });

  it("is taken although the ecosystem ends the stream meanwhile", async (t) => {
    const { heard, hasAsked, asked, ended, socket } = await streamOf(t, large("1") + putFrame(named("2")), true);
    await hasAsked;
    if (!socket().writableFinished) await new Promise((resolve) => socket().once("finish", resolve));
    asked[0]!.resolve();
    assert.equal((await ended).reason, "closed");
    assert.deepEqual(heard.map(nameIn), ["1", "2"]);
  });

  it("is not taken when the stream was stopped meanwhile", async (t) => {
    const { heard, hasAsked, asked, stop, ended } = await streamOf(t, large("1") + putFrame(named("2")));
    await hasAsked;
    stop();
    assert.equal((await ended).reason, "stopped");
    asked[0]!.resolve();
    await nextTurn();
    assert.deepEqual(heard, []);
  });

  it("stops the reading of the socket when 64 KB wait behind it", async () => {
    const response = Object.assign(new PassThrough(), { headers: { "content-type": "text/event-stream" } });
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<unknown>();
    const names: unknown[] = [];
    const stream = new NestStream(
      response as unknown as IncomingMessage,
      { home: (home) => names.push(nameIn(home)), unchanged: () => {}, partial: () => {}, stored: async () => true },
      {
        watchdogMs: 60_000,
        firstAccountMs: 60_000,
        turns: new IngestTurns(),
        readLarge: () => {
          asked.resolve();
          return answered.promise;
        },
        onLimitReached: () => {},
      },
    );
    const ended = stream.run(new AbortController().signal);
    response.write(large("1"));
    await asked.promise;
    const pauses: boolean[] = [];
    for (const name of ["2", "3", "4"]) {
      response.write(putFrame(named(name, { padding: "x".repeat(30_000) })));
      await nextTurn();
      pauses.push(response.isPaused());
    }
    assert.deepEqual([pauses, names], [[false, false, true], []]);
    answered.resolve({ path: "/", data: named("1") });
    response.end();
    await ended;
    assert.deepEqual(names, ["1", "2", "3", "4"]);
  });

  const hostile: Readonly<Record<string, string>> = {
    "too many values": `[${"1,".repeat(500_000)}1]`,
    "too much depth": `["${padding}",${"[".repeat(32)}${"]".repeat(32)}]`,
    "too many bytes": `"${"x".repeat(2_200_000)}"`,
  };
  for (const [kind, filler] of Object.entries(hostile)) {
    it(`ends the stream as malformed with ${kind}`, async (t) => {
      const data = `{"path":"/","data":{},"filler":${filler}}`;
      const { ended, heard, hasAsked, asked } = await streamOf(t, frame("put", data));
      void hasAsked.then(() => asked[0]!.resolve());
      assert.equal((await ended).reason, "malformed");
      assert.deepEqual(heard, []);
    });
  }
});
