import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import type { Socket } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { crc32 } from "node:zlib";
import type { StreamEnd } from "../../src/ecosystems/connector.ts";
import { type NestOptions, nestConnector } from "../../src/ecosystems/nest/connector.ts";
import { readSnapshot } from "../../src/ecosystems/nest/snapshot.ts";
import { closed } from "../set-up/closed-socket.ts";
import { answerOf, frame, putFrame, startByteServer, streamHead } from "./byte-server.ts";
import { listen } from "./listening.ts";
import { makeAlarm, makeDocument, makeStructure } from "./made-documents.ts";

const token = "c.TestToken123";
const put = putFrame(makeDocument());
const otherPut = putFrame(makeDocument({ structures: { s1: makeStructure({ away: "away" }) } }));

describe("a Nest stream", () => {
  it("requests events, with the token in the header only", async (t) => {
    const { server, ended } = await streamOf(t, streamHead);
    await ended;
    const [request = ""] = server.requests;
    assert.match(request, /^GET \/ HTTP\/1\.1\r\n/);
    assert.match(request, /^accept: text\/event-stream\r$/im);
    assert.match(request, /^authorization: Bearer c\.TestToken123\r$/im);
    assert.equal(server.requests.length, 1);
  });

  it("reports each account, and that one was repeated, once it has come twice", async (t) => {
    const bytes =
      frame("open", "null") + put + put + put + frame("keep-alive", "null") + otherPut + put + put + put + put;
    const { heard, ended } = await streamOf(t, streamHead + bytes);
    assert.equal((await ended).reason, "closed");
    const account = readSnapshot(makeDocument());
    const other = readSnapshot(makeDocument({ structures: { s1: makeStructure({ away: "away" }) } }));
    assert.deepEqual(heard, [account, account, "unchanged", other, account, account, "unchanged", "unchanged"]);
  });

  it("reports an account whose text has the same checksum as the last one", async (t) => {
    const [one, other] = ["plumless", "buckeroo"];
    assert.equal(crc32(one), crc32(other));
    const named = (name: string) => makeDocument({ structures: { s1: makeStructure({ name }) } });
    const bytes = [one, other, other, one].map((name) => putFrame(named(name))).join("");
    const { heard, ended } = await streamOf(t, streamHead + bytes);
    await ended;
    const [first, second] = [one, other].map((name) => readSnapshot(named(name)));
    assert.deepEqual(heard, [first, second, "unchanged", first]);
  });

  it("reports an incomplete account each time, because the missing object may have changed", async (t) => {
    const document = makeDocument({ devices: { thermostats: { t1: {} }, smoke_co_alarms: {} } });
    const incomplete = putFrame(document);
    const { heard, ended } = await streamOf(t, streamHead + incomplete + incomplete + incomplete + put + put + put);
    await ended;
    const account = readSnapshot(document);
    const whole = readSnapshot(makeDocument());
    assert.ok(account.oddities.incomplete > 0);
    assert.deepEqual(heard, [account, account, account, whole, whole, "unchanged"]);
  });

  it("compares only with accounts of this connection", async (t) => {
    const { server, heard, ended, connector } = await streamOf(t, streamHead + put);
    await ended;
    const again = listen(connector, token);
    await again.ended;
    assert.deepEqual([heard.length, again.heard.length, server.requests.length], [1, 1, 2]);
    assert.notEqual(again.heard[0], "unchanged");
  });

  it("reads the alarm beside an object that can't be read", async (t) => {
    const alarm = makeAlarm({ smoke_alarm_state: "emergency" });
    const devices = { thermostats: { t1: [[["odd"]]] }, smoke_co_alarms: { a1: alarm } };
    const { heard, ended } = await streamOf(t, streamHead + putFrame(makeDocument({ devices })));
    await ended;
    const [account] = heard;
    assert.ok(typeof account === "object");
    const sighting = account.alarms.byId.get("a1");
    assert.equal(sighting?.isRead && sighting.object.traits.smoke?.state.word, "emergency");
  });

  it("is throttled when it sends too much, and is read completely", async (t) => {
    const padding = "x".repeat(1_500_000);
    const names = ["a", "b", "c", "d"].map((name) => name + padding);
    const puts = names.map((name) => putFrame(makeDocument({ structures: { s1: makeStructure({ name }) } })));
    const reached = new Set<string>();
    const { heard, ended } = await streamOf(t, streamHead + puts.join(""), {
      onLimitReached: (limit) => reached.add(limit),
    });
    assert.equal((await ended).reason, "closed");
    assert.equal(heard.length, names.length);
    assert.deepEqual([...reached], ["streamBytesPerSecond"]);
  });

  it("reports a put with another path than /, applies nothing of it and continues", async (t) => {
    const part = frame("put", JSON.stringify({ path: "/devices", data: makeDocument().devices }));
    const { heard, ended } = await streamOf(t, streamHead + put + part + put);
    assert.equal((await ended).reason, "closed");
    const account = readSnapshot(makeDocument());
    assert.deepEqual(heard, [account, "partial", account]);
  });

  it("treats a put without data as an unreadable account", async (t) => {
    const { heard, ended } = await streamOf(t, streamHead + putFrame(null));
    await ended;
    assert.deepEqual(heard, [readSnapshot(null)]);
  });

  it("ignores unknown events and fields", async (t) => {
    const bytes = `retry: 1\nid: 7\n: hello\n\n${frame("surprise", "{")}data: unnamed\n\n`;
    const { heard, ended } = await streamOf(t, streamHead + bytes + put);
    assert.equal((await ended).reason, "closed");
    assert.equal(heard.length, 1);
  });
});

describe("a Nest stream ends", () => {
  const depth = 10_000;
  const ends: [string, string | Buffer, StreamEnd["reason"]][] = [
    ["unauthorized after auth_revoked", streamHead + put + frame("auth_revoked", token), "unauthorized"],
    ["closed after cancel", streamHead + frame("cancel", "null"), "closed"],
    ["refused after an error", streamHead + frame("error", `{"message":"blocked ${token}"}`), "refused"],
    ["malformed after a patch", streamHead + frame("patch", '{"path":"/","data":{}}'), "malformed"],
    ["malformed by truncated JSON", streamHead + frame("put", `{"path":"/","data":{"x":"${token}`), "malformed"],
    ["malformed by a put without a path", streamHead + frame("put", '{"data":{}}'), "malformed"],
    ["malformed by a put that is null", streamHead + frame("put", "null"), "malformed"],
    ["malformed by NUL in JSON", streamHead + frame("put", '{"path":"/","data":{"a":"\0"}}'), "malformed"],
    [
      "malformed by great depth",
      streamHead + putFrame(0).replace("0", "[".repeat(depth) + "]".repeat(depth)),
      "malformed",
    ],
    ["malformed by 10 MB in an event", `${streamHead}data: ${"x".repeat(10_000_000)}\n\n`, "malformed"],
    ["malformed by another content type", answerOf(200, "{}", "Content-Type: application/json\r\n"), "malformed"],
    ["malformed without a content type", answerOf(200, put), "malformed"],
    ["unauthorized by 401", answerOf(401, `{"error":"${token}"}`), "unauthorized"],
    ["refused by 403", answerOf(403), "refused"],
    ["refused by 404", answerOf(404), "refused"],
    ["refused by 429", answerOf(429, "", "Retry-After: 60\r\n"), "refused"],
    ["refused by 500", answerOf(500), "refused"],
    ["refused by 503", answerOf(503), "refused"],
    ["unreachable by no answer", "", "unreachable"],
    ["unreachable by an answer that isn't HTTP", `hello ${token}\r\n\r\n`, "unreachable"],
    [
      "unreachable by a switch of protocols",
      "HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
      "unreachable",
    ],
    ["closed by an end in the middle of an event", streamHead + put.slice(0, -20), "closed"],
    [
      "closed by chunks that aren't",
      `${streamHead.replace("\r\n\r\n", "\r\nTransfer-Encoding: chunked\r\n\r\n")}zz\r\n`,
      "closed",
    ],
  ];
  for (const [how, bytes, reason] of ends) {
    it(`${how}, without the token in its detail`, async (t) => {
      const { ended } = await streamOf(t, bytes);
      const end = await ended;
      assert.equal(end.reason, reason);
      assert.doesNotMatch(end.detail, /TestToken/i);
    });
  }

  it("once: nothing after the end is reported", async (t) => {
    const { heard, ended } = await streamOf(
      t,
      streamHead + frame("cancel", "null") + put + frame("auth_revoked", token),
    );
    assert.equal((await ended).reason, "closed");
    assert.deepEqual(heard, []);
  });

  it("unreachable when nobody listens", async () => {
    const connector = nestConnector({ name: "nest", apiUrl: "http://127.0.0.1:1", allowedHosts: [] });
    assert.deepEqual(await listen(connector, token).ended, {
      reason: "unreachable",
      detail: "no answer (ECONNREFUSED)",
    });
  });

  it("unauthorized without a call when no header could hold the token", async (t) => {
    const server = await startByteServer(t, (socket) => socket.end(streamHead));
    const connector = nestConnector({ name: "nest", apiUrl: server.url, allowedHosts: [] });
    for (const odd of ["", "c.töken", "c.token\r\nX-Other: 1", "c. token"]) {
      assert.equal((await listen(connector, odd).ended).reason, "unauthorized");
    }
    assert.deepEqual(server.requests, []);
  });

  it("unreachable when the answer doesn't begin in time", async (t) => {
    const { ended } = await streamOf(t, undefined, { answerLimitMs: 50 });
    assert.equal((await ended).reason, "unreachable");
  });

  it("malformed when its listener fails, and no other stream ends", async (t) => {
    const { connector } = await streamOf(t, streamHead + put);
    const error = new RangeError(token);
    const fail = () => {
      throw error;
    };
    const end = await connector.follow(
      token,
      { home: fail, unchanged: fail, partial: fail, stored: fail },
      new AbortController().signal,
    );
    assert.deepEqual(end, { reason: "malformed", detail: "an event could not be taken (RangeError)", error });
  });
});

describe("a silent Nest stream", () => {
  it("ends as silent, and its socket is gone", async (t) => {
    const sockets: Socket[] = [];
    const server = await startByteServer(t, (socket) => {
      sockets.push(socket);
      socket.write(streamHead + put);
    });
    const stream = listen(nestConnector({ name: "nest", apiUrl: server.url, allowedHosts: [], watchdogMs: 50 }), token);
    assert.equal((await stream.ended).reason, "silent");
    assert.equal(stream.heard.length, 1);
    await closed(sockets[0]!);
  });

  it("reports how long nothing was received, however late that was noticed", async (t) => {
    let nowMs = 1_000;
    t.mock.method(performance, "now", () => nowMs);
    const server = await startByteServer(t, (socket) => socket.write(streamHead + put));
    const stream = listen(nestConnector({ name: "nest", apiUrl: server.url, allowedHosts: [], watchdogMs: 50 }), token);
    await stream.until(1);
    // The process is suspended while the watchdog becomes due.
    nowMs += 90_000;
    assert.equal((await stream.ended).unheardMs, 90_000);
  });

  it("ends as silent, too, when it is kept alive and does not begin with the account", {
    timeout: 20_000,
  }, async (t) => {
    const sockets: Socket[] = [];
    const server = await startByteServer(t, (socket) => {
      sockets.push(socket);
      socket.write(streamHead);
      const timer = setInterval(() => socket.write(frame("keep-alive", "null")), 20);
      socket.once("close", () => clearInterval(timer));
    });
    const limits = { watchdogMs: 5_000, firstAccountMs: 100 };
    const stream = listen(nestConnector({ name: "nest", apiUrl: server.url, allowedHosts: [], ...limits }), token);
    assert.equal((await stream.ended).reason, "silent");
    assert.deepEqual(stream.heard, []);
    await closed(sockets[0]!);
  });

  it("stays open for as long as it likes when it has begun with the account", async (t) => {
    const server = await startByteServer(t, (socket) => {
      socket.write(streamHead + put);
      setTimeout(() => socket.end(otherPut), 300);
    });
    const limits = { watchdogMs: 5_000, firstAccountMs: 100 };
    const stream = listen(nestConnector({ name: "nest", apiUrl: server.url, allowedHosts: [], ...limits }), token);
    assert.equal((await stream.ended).reason, "closed");
    assert.equal(stream.heard.length, 2);
  });

  it("is kept alive by any byte, whole event or not", async (t) => {
    const server = await startByteServer(t, (socket) => {
      socket.write(streamHead);
      const bytes = [...`: ${"x".repeat(10)}\n${frame("keep-alive", "")}`];
      const timer = setInterval(() => {
        const byte = bytes.shift();
        if (byte !== undefined) return socket.write(byte);
        clearInterval(timer);
        return socket.end(put);
      }, 25);
      socket.once("close", () => clearInterval(timer));
    });
    const stream = listen(
      nestConnector({ name: "nest", apiUrl: server.url, allowedHosts: [], watchdogMs: 700 }),
      token,
    );
    assert.equal((await stream.ended).reason, "closed");
    assert.equal(stream.heard.length, 1);
  });
});

describe("a Nest stream that is stopped", () => {
  it("ends at once, and leaves nothing on the signal nor on the wire", async (t) => {
    const sockets: Socket[] = [];
    const server = await startByteServer(t, (socket) => {
      sockets.push(socket);
      socket.write(streamHead + put);
    });
    const connector = nestConnector({ name: "nest", apiUrl: server.url, allowedHosts: [] });
    const controller = new AbortController();
    const end = await new Promise<StreamEnd>((resolve) => {
      const listener = {
        home: () => controller.abort(),
        unchanged: () => {},
        partial: () => {},
        stored: async () => true,
      };
      connector.follow(token, listener, controller.signal).then(resolve);
    });
    assert.equal(end.reason, "stopped");
    assert.deepEqual(getEventListeners(controller.signal, "abort"), []);
    await closed(sockets[0]!);
  });

  it("leaves nothing on the signal when it ends otherwise", async (t) => {
    for (const bytes of [streamHead + put, answerOf(500), ""]) {
      const { connector } = await streamOf(t, bytes);
      const { signal } = new AbortController();
      await connector.follow(
        token,
        { home: () => {}, unchanged: () => {}, partial: () => {}, stored: async () => true },
        signal,
      );
      assert.deepEqual(getEventListeners(signal, "abort"), []);
    }
  });

  it("ends while the answer is awaited, and before anything is requested", async (t) => {
    const server = await startByteServer(t, () => controller.abort());
    const connector = nestConnector({ name: "nest", apiUrl: server.url, allowedHosts: [] });
    const controller = new AbortController();
    const listener = { home: () => {}, unchanged: () => {}, partial: () => {}, stored: async () => true };
    assert.equal((await connector.follow(token, listener, controller.signal)).reason, "stopped");
    assert.equal((await connector.follow(token, listener, controller.signal)).reason, "stopped");
    assert.equal(server.requests.length, 1);
  });
});

/** A stream from a server that sends these bytes and closes, or sends nothing. */
async function streamOf(
  t: TestContext,
  bytes: string | Buffer | undefined,
  limits: Pick<NestOptions, "answerLimitMs" | "onLimitReached"> = {},
) {
  const server = await startByteServer(t, (socket) => void (bytes === undefined || socket.end(bytes)));
  const connector = nestConnector({ name: "nest", apiUrl: server.url, allowedHosts: [], ...limits });
  const { heard, ended } = listen(connector, token);
  return { server, connector, heard, ended };
}
