import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type WebSocket, WebSocketServer } from "ws";
import { homeAssistantConnector } from "../../../src/ecosystems/home-assistant/connector.ts";
import { Session } from "../../../src/ecosystems/home-assistant/session.ts";
import { errorDetail, type InstanceSocket, openSocket } from "../../../src/ecosystems/home-assistant/socket.ts";
import { UnfinishedMessages } from "../../../src/ecosystems/kit/unfinished-messages.ts";
import { limits } from "../../../src/model/limits.ts";
import { readJsonHere } from "../../../src/runtime/json/json-thread.ts";
import { manualRuntime } from "../../federation/manual-runtime.ts";
import { immediateTurns } from "../immediate-turns.ts";
import { listen } from "../listening.ts";

const rules = { resolve: async () => [], allowsPrivate: true };
const megabyte = 1024 * 1024;
const dropped = "its message was dropped unfinished: this node receives too many large messages at once";

describe("an instance that sends pings", () => {
  it("gets a pong for the first and the newest of many that came at once", async (t) => {
    const { socket, instance } = await connected(t);
    const pongs: string[] = [];
    const answered = new Promise<void>((resolve) => {
      instance.on("pong", (data) => {
        pongs.push(String(data));
        if (String(data) === "999") resolve();
      });
    });
    socket.limitMessages(16 * megabyte);
    socket.resume();
    connectionOf(instance).write(Buffer.concat(Array.from({ length: 1_000 }, (_, i) => controlFrame(ping, String(i)))));
    await answered;
    assert.equal(pongs[0], "0");
    assert.ok(pongs.length < 50, `${pongs.length} pongs`);
  });

  it("leaves one pong unsent when it reads nothing", async (t) => {
    const { socket, instance } = await connected(t);
    let pongs = 0;
    const { pong } = socket;
    socket.pong = (...details: unknown[]) => {
      pongs += 1;
      Reflect.apply(pong, socket, details);
    };
    instance.pause();
    // More than the system takes: all that follows waits in the process.
    socket.send("x".repeat(64 * megabyte));
    socket.limitMessages(16 * megabyte);
    socket.resume();
    for (let i = 0; i < 1_000; i++) instance.ping(String(i));
    instance.send("{}");
    await once(socket, "message");
    assert.equal(pongs, 1);
  });

  for (const [name, opcode] of [
    ["pings", 0x89],
    ["pongs that nobody asked for", 0x8a],
  ] as const) {
    it(`is disconnected after thousands of ${name} without a message`, async (t) => {
      const { socket, instance } = await connected(t);
      socket.limitMessages(2 * megabyte);
      const ended = once(socket, "error");
      socket.resume();
      const frames = Buffer.concat(Array.from({ length: 6_000 }, () => controlFrame(opcode, "")));
      connectionOf(instance).write(frames);
      const [error] = await ended;
      assert.match(error.message, /more than it may/);
    });
  }
});

describe("an instance that sends small parts", () => {
  it("is disconnected when single bytes take the memory of a whole message", async (t) => {
    const { socket, instance } = await connected(t);
    socket.limitMessages(megabyte / 2);
    const closed = new Promise((resolve) => socket.once("close", () => resolve("closed")));
    socket.resume();
    const connection = connectionOf(instance).setNoDelay();
    // The head of a text of 60,000 bytes.
    connection.write(Buffer.from([0x81, 126, 0xea, 0x60]));
    let isClosed = false;
    void closed.then(() => {
      isClosed = true;
    });
    for (let i = 0; i < 50_000 && !isClosed; i++) {
      connection.write("x");
      await nextTurn();
    }
    assert.ok(isClosed, "50,000 chunks were kept");
  });

  it("is disconnected when a message has too many fragments", async (t) => {
    const { socket, instance } = await connected(t);
    socket.limitMessages(2 * megabyte);
    const ended = once(socket, "error");
    socket.resume();
    instance.send("{}", { fin: false });
    connectionOf(instance).write(Buffer.alloc(2 * 4_096));
    const [error] = await ended;
    assert.match(error.message, /Too many message fragments/);
  });

  it("pays for frames that reach no listener, and not twice for its messages", async (t) => {
    const { socket, instance } = await connected(t);
    let nowMs = 0;
    t.mock.method(performance, "now", () => nowMs);
    socket.on("pong", () => {
      nowMs += 3;
    });
    socket.on("message", () => {
      nowMs += 1_000;
    });
    const received = once(socket, "message");
    socket.resume();
    connectionOf(instance).write(Buffer.concat([controlFrame(0x8a, ""), text("{}"), controlFrame(0x8a, "")]));
    await received;
    await nextTurn();
    assert.deepEqual([socket.takeCostMs(), socket.takeCostMs()], [6, 0]);
  });
});

describe("unfinished messages of several instances", () => {
  it("are bounded together: the one that became large first is dropped, and a home that is read goes on", async (t) => {
    const reached: string[] = [];
    const unfinished = new UnfinishedMessages((limit) => reached.push(limit), 3.5 * megabyte);
    const ended: (readonly [name: string, detail: string])[] = [];
    const openOne = async (name: string) => {
      const { socket, instance } = await connected(t, unfinished);
      socket.limitMessages(16 * megabyte);
      socket.on("error", (error) => ended.push([name, errorDetail(error)]));
      socket.resume();
      return { socket, instance };
    };
    const begin = async (name: string, megabytes: number) => {
      const { socket, instance } = await openOne(name);
      instance.send("x".repeat(megabytes * megabyte), { fin: false });
      // A ping may come within a message: it arrives after the part.
      instance.ping();
      await once(socket, "ping");
      return socket;
    };
    await begin("first", 1);
    const second = await begin("second", 1);
    const home = await openOne("home");
    home.instance.send("y".repeat(2 * megabyte));
    const [data] = await once(home.socket, "message");
    assert.equal(data.length, 2 * megabyte);
    assert.deepEqual([ended, reached], [[["first", dropped]], ["unfinishedMessageBytes"]]);
    await begin("third", 2);
    assert.equal(reached.length, 1, "a complete message takes no room");
    second.terminate();
    await once(second, "close");
    await begin("fourth", 1);
    assert.equal(reached.length, 1, "the message of a closed connection takes no room");
  });

  it("end the stream of a link with a reason that says so", async (t) => {
    const { url, instances } = await server(t, (instance) => {
      instance.send('{"type":"auth_required"}');
      instance.once("message", () => {
        instance.send('{"type":"auth_ok"}');
        instance.once("message", () => instance.send("x".repeat(megabyte), { fin: false }));
      });
    });
    const unfinished = new UnfinishedMessages(undefined, megabyte / 2);
    const connector = homeAssistantConnector({ name: "home", allowPrivateNetworks: true, unfinished });
    const { reason, detail } = await listen(connector, `${url.href} token`).ended;
    assert.deepEqual({ reason, detail }, { reason: "malformed", detail: dropped });
    assert.equal(instances.length, 1);
  });
});

describe("an instance that does not read", () => {
  it("ends the session when a megabyte of calls waits, and says why", async (t) => {
    const { url } = await server(t, (instance) => {
      instance.send('{"type":"auth_required"}');
      instance.once("message", () => {
        instance.send('{"type":"auth_ok"}');
        instance.pause();
      });
    });
    let socket: InstanceSocket | undefined;
    const parts = {
      openSocket: async () => {
        const opened = await openSocket(url, rules, t.signal);
        if (!("end" in opened)) socket = opened;
        return opened;
      },
      timers: manualRuntime(),
      turns: immediateTurns,
      readLarge: readJsonHere,
      onLimitReached: () => undefined,
      watchdogMs: 70_000,
      pingMs: 30_000,
    };
    const session = await Session.open({ url, token: "token", consentKey: "key" }, parts, t.signal);
    assert.ok(session instanceof Session);
    let hasEnded = false;
    void session.ended.then(() => {
      hasEnded = true;
    });
    const callBytes = 200_000;
    let calls = 0;
    for (; calls < 500 && !hasEnded; calls++) {
      void session.call("call_service", { text: "x".repeat(callBytes) });
      assert.ok(socket!.bufferedAmount < limits.unsentCallBytes + callBytes + 1_000, `after ${calls} calls`);
      await nextTurn();
    }
    assert.ok(hasEnded, "100 MB were kept or sent");
    const { reason, detail } = await session.ended;
    assert.deepEqual({ reason, detail }, { reason: "silent", detail: "the instance does not read its messages" });
  });

  it("gets the token once, however often it asks", async (t) => {
    const { url, instances } = await server(t, (instance) => {
      for (let i = 0; i < 1_000; i++) instance.send('{"type":"auth_required"}');
    });
    const connector = homeAssistantConnector({ name: "home", allowPrivateNetworks: true });
    const ended = listen(connector, `${url.href} token`).ended;
    let messages = 0;
    while (instances.length === 0) await nextTurn();
    instances[0]!.on("message", () => {
      messages += 1;
    });
    await once(instances[0]!, "close");
    assert.deepEqual([(await ended).detail, messages], ["the instance does not speak the protocol", 1]);
  });
});

describe("an instance that answers before its answer", () => {
  it("is disconnected at the first interim answer", async (t) => {
    const server = createServer((connection: Socket) => {
      connection.on("error", () => undefined);
      connection.once("data", () => connection.write("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"));
    }).listen(0, "127.0.0.1");
    t.after(() => server.close());
    await once(server, "listening");
    const address = server.address();
    assert.ok(typeof address === "object" && address);
    const opened = await openSocket(new URL(`http://127.0.0.1:${address.port}`), rules, t.signal);
    assert.deepEqual("end" in opened && opened.end, { reason: "unreachable", detail: "no connection" });
  });
});

const ping = 0x89;

function controlFrame(opcode: number, payload: string): Buffer {
  return Buffer.concat([Buffer.from([opcode, payload.length]), Buffer.from(payload)]);
}

function text(payload: string): Buffer {
  return controlFrame(0x81, payload);
}

/** The connection below a WebSocket, for frames that the library does not send. */
function connectionOf(instance: WebSocket): Socket {
  return (instance as unknown as { readonly _socket: Socket })._socket;
}

async function server(t: TestContext, onConnection: (instance: WebSocket) => void = () => undefined) {
  const instances: WebSocket[] = [];
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  t.after(() => {
    for (const instance of instances) instance.terminate();
    server.close();
  });
  server.on("connection", (instance) => {
    instance.on("error", () => undefined);
    instances.push(instance);
    onConnection(instance);
  });
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address);
  return { url: new URL(`http://127.0.0.1:${address.port}`), instances };
}

/** Both ends of a WebSocket. */
async function connected(t: TestContext, unfinished?: UnfinishedMessages) {
  const { url, instances } = await server(t);
  const socket = await openSocket(url, rules, t.signal, unfinished && { unfinished });
  assert.ok(!("end" in socket));
  t.after(() => socket.terminate());
  while (instances.length === 0) await nextTurn();
  return { socket, instance: instances[0]! };
}
