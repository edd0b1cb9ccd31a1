import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { Breezeway, type HomeEvent, NotFound, NotSignedIn, type ResyncEvent } from "../../sdk/src/index.ts";
import { ServerSentReader } from "../../sdk/src/sse.ts";
import { sdkWorld, thrownBy } from "./sdk-world.ts";

describe("events()", () => {
  it("yields typed events of a home, and ends without an error when it is aborted", async (t) => {
    const { byAccessToken, linked, simulator, accountId } = await sdkWorld(t);
    const controller = new AbortController();
    const events = byAccessToken.events({ signal: controller.signal, heartbeats: true });
    assert.equal((await events.next()).value?.type, "heartbeat");
    const received: HomeEvent[] = [];
    const following = (async () => {
      for await (const event of events) {
        received.push(event);
        const isLast = event.type === "attribute" && event.name.endsWith(".a.away") && event.value === "away";
        if (isLast) controller.abort();
      }
    })();
    const deviceId = await linked();
    await byAccessToken.runFan(deviceId, "d.structures[1].d.thermostats[1]");
    await simulator.playScene(accountId, { scene: "leave" });
    await following;
    const types = new Set(received.map(({ type }) => type));
    for (const type of ["attribute", "command", "device", "link"] as const) assert.ok(types.has(type), type);
    assert.ok(
      received.every((event) => event.type === "heartbeat" || ("deviceId" in event && event.deviceId === deviceId)),
    );
    assert.equal(new Set(received.map(({ id }) => id)).size, received.length);
  });

  it("are filtered by device and attribute, and resume after an id", async (t) => {
    const { byAccessToken, addLamp } = await sdkWorld(t);
    const [one, other] = [await addLamp("one"), await addLamp("other")];
    const begin = byAccessToken.events({ heartbeats: true });
    const { value: first } = await begin.next();
    await begin.return();
    for (const power of ["on", "off"]) {
      await byAccessToken.setDeviceAttributes(other, { power });
      await byAccessToken.setDeviceAttributes(one, { power, level: 3 });
    }
    const narrowed = { lastEventId: first!.id, deviceIds: [one], attributes: ["power"] };
    const received: unknown[] = [];
    for await (const event of byAccessToken.events(narrowed)) {
      assert.ok(event.type === "attribute");
      received.push([event.deviceId, event.name, event.value, event.cause.by]);
      if (received.length === 2) break;
    }
    assert.deepEqual(received, [
      [one, "power", "on", "client"],
      [one, "power", "off", "client"],
    ]);
    assert.ok((await thrownBy(byAccessToken.events({ deviceIds: [999] }).next())) instanceof NotFound);
  });

  it("yields a resync when it cannot resume", async (t) => {
    const { byAccessToken } = await sdkWorld(t);
    const events = byAccessToken.events({ lastEventId: "nobody's" });
    const { value } = await events.next();
    assert.deepEqual([value?.type, (value as ResyncEvent).reason], ["resync", "unknown_id"]);
    await events.return();
  });

  it("continues with a new token when the old one expires, and throws when the access has ended", async (t) => {
    const { byAccessToken, addLamp, store, oauth } = await sdkWorld(t);
    const lamp = await addLamp();
    // The keeper's token is refused; the SDK renews it without an error.
    store.tokens = { ...store.tokens!, accessToken: "bwa_nobodys" };
    const events = byAccessToken.events({ heartbeats: true });
    assert.equal((await events.next()).value?.type, "heartbeat");
    assert.equal(store.saved, 1);
    const next = events.next();
    await byAccessToken.setDeviceAttribute(lamp, "power", "on");
    assert.equal((await next).value?.type, "attribute");
    const last = events.next();
    await oauth.revoke(store.tokens!.accessToken);
    assert.ok((await thrownBy(last)) instanceof NotSignedIn);
  });
});

describe("a stream that fails", () => {
  it("is resumed after its last complete event: broken, ended, silent, or refused for a while", async (t) => {
    const lastIds: (string | undefined)[] = [];
    const steps: ((response: ServerResponse) => void)[] = [
      (response) => {
        begin(response).write('retry: 10\n\nid: 1\nevent: attribute\ndata: {"value":"a"}\n\nid: 2\nevent: attr');
        setImmediate(() => response.destroy());
      },
      (response) => response.writeHead(503, { "retry-after": "0" }).end('{"error":"store_unavailable"}'),
      (response) =>
        begin(response).end('id: 2\nevent: later-kind\ndata: ?\n\nid: 3\nevent: attribute\ndata: {"value":"b"}\n\n'),
      (response) => void begin(response).write(": nothing more\n\n"),
      (response) => void begin(response).write('id: 4\nevent: attribute\ndata: {"value":"c"}\n\n'),
    ];
    const url = await eventServer(t, (response, lastId) => {
      lastIds.push(lastId);
      steps.shift()?.(response);
    });
    const lost: string[] = [];
    const received: unknown[] = [];
    const client = new Breezeway({ baseUrl: url, accessToken: "t" });
    const onDisconnected = (reason: unknown) => void lost.push(reason instanceof Error ? reason.name : "ended");
    for await (const event of client.events({ onDisconnected, silenceMs: 50 })) {
      assert.ok(event.type === "attribute");
      received.push(event.value);
      if (received.length === 3) break;
    }
    assert.deepEqual(received, ["a", "b", "c"]);
    assert.deepEqual(lastIds, [undefined, "1", "1", "3", "3"]);
    assert.deepEqual(lost, ["Unreachable", "Unavailable", "ended", "Unreachable"]);
  });

  it("closes its connection when the loop ends", async (t) => {
    const closed = Promise.withResolvers<void>();
    const url = await eventServer(t, (response) => {
      response.once("close", () => closed.resolve());
      begin(response).write('id: 1\nevent: attribute\ndata: {"value":"a"}\n\n');
    });
    for await (const _ of new Breezeway({ baseUrl: url, accessToken: "t" }).events()) break;
    await closed.promise;
  });

  it("yields nothing after an abort, not even received events", async (t) => {
    const one = "event: attribute\ndata: {}\n\n";
    const url = await eventServer(t, (response) => void begin(response).write(one.repeat(3)));
    const stop = new AbortController();
    let received = 0;
    for await (const _ of new Breezeway({ baseUrl: url, accessToken: "t" }).events({ signal: stop.signal })) {
      received += 1;
      stop.abort();
    }
    assert.equal(received, 1);
  });

  it("ends with an error when it is malformed", async (t) => {
    const url = await eventServer(t, (response) => void begin(response).write("event: attribute\ndata: {\n\n"));
    const events = new Breezeway({ baseUrl: url, accessToken: "t" }).events();
    await assert.rejects(events.next(), { code: "unexpected_answer" });
    const page = await eventServer(t, (response) => void response.end("<p>Please log in to the hotel's network"));
    const none = new Breezeway({ baseUrl: page, accessToken: "t" }).events();
    await assert.rejects(none.next(), { code: "unexpected_answer", status: 200 });
  });

  function begin(response: ServerResponse): ServerResponse {
    return response.writeHead(200, { "content-type": "text/event-stream" });
  }

  async function eventServer(t: TestContext, answer: (response: ServerResponse, lastId: string | undefined) => void) {
    const server = createServer(({ headers }, response) =>
      answer(response, headers["last-event-id"] as string | undefined),
    );
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
});

describe("Server-Sent Events", () => {
  const stream =
    "\r\n: hello\nretry: 20\r\rid: 1\revent: x\r\ndata: a\ndata:\ndata:  b:c\r\n\r\nid\ndata\n\nevent: y\n\nid: \0\nid: é🏮\ndata: 2\n\ndata: half";

  it("are parsed the same for any split of the stream", () => {
    const whole = new ServerSentReader().read(stream);
    assert.equal(whole.retryMs, 20);
    assert.deepEqual(whole.messages, [
      { event: "x", data: "a\n\n b:c", id: "1" },
      { event: "message", data: "", id: "" },
      { event: "message", data: "2", id: "é🏮" },
    ]);
    for (let at = 0; at <= stream.length; at++) {
      const reader = new ServerSentReader();
      const messages = [stream.slice(0, at), stream.slice(at)].flatMap((piece) => reader.read(piece).messages);
      assert.deepEqual(messages, whole.messages, `cut at ${at}`);
    }
    const reader = new ServerSentReader();
    assert.deepEqual(
      [...stream].flatMap((piece) => reader.read(piece).messages),
      whole.messages,
    );
  });

  it("have a limit on memory, for long lines and for many empty ones", () => {
    for (const piece of [`data: ${"x".repeat(100_000)}\n`, "data:\n".repeat(100_000)]) {
      const reader = new ServerSentReader();
      assert.throws(() => {
        for (let i = 0; i < 100; i++) reader.read(piece);
      }, /longer than any/);
    }
  });
});

/** A house with a lamp whose service can be killed, and an authorised client. */
