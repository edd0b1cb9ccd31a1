import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import fc from "fast-check";
import { InvalidToken } from "../../src/model/errors.ts";
import { folderOf } from "../cli/made-folder.ts";
import { hasOpenssl, makeCertificate } from "../set-up/certificate.ts";
import { closed } from "../set-up/closed-socket.ts";
import { rounds } from "../set-up/extent.ts";
import { anyRead } from "./any-read.ts";
import {
  answersTo,
  fastPathAndFastify,
  receivedBy,
  type ServerSettings,
  type TestServer,
  withoutRandomParts,
} from "./fast-path-and-fastify.ts";

const read = (id: number, token = "alice") =>
  `GET /v3/devices/${id} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`;

/** Alice's lamp, her linked account, an account whose link has just ended, and a device of bob. */
async function withDevices(t: Parameters<typeof fastPathAndFastify>[0], settings?: ServerSettings) {
  const servers = await fastPathAndFastify(t, settings);
  const { addDevice, alice, bob, mirror, freshness } = servers;
  const [own, linked, ended, foreign] = [
    await addDevice(alice),
    await addDevice(alice, "EcosystemAccount", 'Älice’s "home"'),
    await addDevice(alice, "EcosystemAccount"),
    await addDevice(bob),
  ];
  await mirror(alice, own, [{ key: "on", value: "true" }]);
  await mirror(alice, linked, [{ key: 0, value: "1" }]);
  freshness.set(linked, { isPresent: false, isStale: true, confirmedTimeMs: 7 });
  freshness.set(ended, undefined);
  return { ...servers, own, linked, ended, foreign };
}

/** The counted exchanges and log lines since the last call, without ids and times. */
function logAndCountsOf({ finished, reported }: TestServer) {
  const counted = finished.splice(0).map(({ tookMs, requestId, lines, ...rest }) => {
    assert.ok(tookMs >= 0);
    assert.match(requestId, /^[0-9a-f-]{36}$/);
    return { ...rest, sentences: lines.map(({ level, sentence }) => [level, sentence]) };
  });
  const logged = reported.splice(0).map(({ level, fields, sentence }) => {
    const { requestId, ms, error, ...rest } = fields as Record<string, unknown>;
    assert.match(String(requestId), /^[0-9a-f-]{36}$/);
    return { level, sentence, hasTime: typeof ms === "number", error: error && String(error), ...rest };
  });
  return { counted, logged };
}

const sentencesOf = (server: TestServer) => logAndCountsOf(server).logged.map(({ sentence }) => sentence);

describe("the fast path for device reads", () => {
  const all = { sent: 0, taken: 0 };
  for (const [name, settings, isDraining] of [
    ["by itself", {}, false],
    ["with origins that pages may call from", { corsOrigins: ["https://app.example"] }, false],
    ["behind a trusted proxy", { trustedProxies: ["127.0.0.0/8"] }, false],
    ["on a server that drains", {}, true],
  ] as const) {
    it(`answers, counts and logs as Fastify's route does, ${name}`, async (t) => {
      const { fastPath, fastify, ...lookUpStarted } = await withDevices(t, settings);
      if (isDraining) for (const { exchanges } of [fastPath, fastify]) exchanges.drain();
      const property = fc.asyncProperty(anyRead(lookUpStarted), fc.boolean(), async (request, isPipelined) => {
        all.sent += 1;
        const [fromFastPath, fromFastify] = await Promise.all([
          answersTo(fastPath, request, isPipelined),
          answersTo(fastify, request, isPipelined),
        ]);
        assert.equal(withoutRandomParts(fromFastPath), withoutRandomParts(fromFastify));
        await Promise.all([fastPath, fastify].map(({ exchanges }) => exchanges.finished()));
        assert.deepEqual(logAndCountsOf(fastPath), logAndCountsOf(fastify));
      });
      await fc.assert(property, { numRuns: rounds({ all: 150, few: 20 }) });
      all.taken += fastPath.taken.count;
    });
  }

  it("took more than a tenth of these requests", () => {
    assert.ok(all.taken > all.sent / 10, `${all.taken} of ${all.sent}`);
  });

  it("shows acknowledged writes and a changed freshness at once", async (t) => {
    const { fastPath, own, linked, put, freshness } = await withDevices(t);
    for (let round = 0; round < 20; round++) {
      await put("alice", own, { on: `round ${round}` });
      assert.match(await answersTo(fastPath, read(own)), new RegExp(`"value":"round ${round}"`));
      freshness.set(linked, { isPresent: true, isStale: false, confirmedTimeMs: round });
      assert.match(
        await answersTo(fastPath, read(linked)),
        new RegExp(`"presenceInfo":1,"stale":false,"confirmedTime":${round},`),
      );
      freshness.set(linked, { isPresent: false, isStale: true, confirmedTimeMs: round });
      assert.match(await answersTo(fastPath, read(linked)), /"presenceInfo":0,"stale":true/);
    }
    assert.equal(fastPath.taken.count, 60);
  });

  it("gives each of many requests its own id and log line", async (t) => {
    const { fastPath, own } = await withDevices(t);
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => answersTo(fastPath, read(own) + read(own), true)),
    );
    await fastPath.exchanges.finished();
    const ids = answers.flatMap((text) => [...text.matchAll(/x-request-id: (\S+)/g)].map(([, id]) => id));
    const logged = fastPath.reported.map(({ fields }) => (fields as { requestId: string }).requestId);
    assert.equal(new Set(ids).size, 150);
    assert.deepEqual(new Set(logged), new Set(ids));
  });

  it("refuses a token as soon as it is invalid", async (t) => {
    const { fastPath, own, tokens } = await withDevices(t);
    assert.match(await answersTo(fastPath, read(own)), /^HTTP\/1.1 200 /);
    tokens.verify = () => Promise.reject(new InvalidToken());
    assert.match(await answersTo(fastPath, read(own)), /^HTTP\/1.1 401 [\s\S]*invalid_token/);
    assert.equal(fastPath.taken.count, 2);
  });

  it("closes the connection with the answer when a drain begins during the token's look-up", async (t) => {
    const { fastPath, own, tokens } = await withDevices(t);
    const { lookUpStarted, answer } = holdLookUps(tokens);
    const socket = await fastPath.open();
    const received = receivedBy(socket);
    socket.write(read(own));
    await lookUpStarted;
    fastPath.exchanges.drain();
    let isFinished = false;
    const finished = fastPath.exchanges.finished().then(() => {
      isFinished = true;
    });
    await new Promise(setImmediate);
    assert.equal(isFinished, false, "the server waits for it");
    answer();
    await once(socket, "close");
    assert.match(received.text(), /^HTTP\/1.1 200 [\s\S]*connection: close\r\n[\s\S]*"attributes"/);
    await finished;
  });

  it("logs a request as abandoned when its client disconnects during the token's look-up", async (t) => {
    for (const server of ["fastPath", "fastify"] as const) {
      const { own, tokens, ...servers } = await withDevices(t);
      const { lookUpStarted, answer } = holdLookUps(tokens);
      const socket = await servers[server].open();
      socket.write(read(own));
      await lookUpStarted;
      socket.destroy();
      await servers[server].firstClosed;
      answer();
      await servers[server].exchanges.finished();
      assert.deepEqual(sentencesOf(servers[server]), ["request abandoned by its client"]);
    }
  });
});

describe("a client that reads its answer slowly", () => {
  const largeValue = "v".repeat(8_000);
  /** A large answer, short and without its random parts, so that answers can be compared quickly. */
  const comparable = (text: string) => withoutRandomParts(text.replaceAll(largeValue, "(large value)"));

  /** A device whose answer is larger than the socket buffers. */
  async function withLargeDevice(t: Parameters<typeof fastPathAndFastify>[0], settings?: ServerSettings) {
    const servers = await withDevices(t, settings);
    const changes = Array.from({ length: 1_500 }, (_, at) => ({ key: `k${at}`, value: largeValue }));
    await servers.fill(servers.alice, servers.own, changes);
    return servers;
  }

  it("gets its own complete answer while another client reads the same device, and is counted when it has received it", async (t) => {
    const { fastPath, own } = await withLargeDevice(t);
    const slow = await fastPath.open();
    slow.pause();
    slow.write(read(own) + read(own));
    const other = await answersTo(fastPath, read(own), true);
    assert.equal(fastPath.finished.filter(({ status }) => status === 200).length, 1, "only the other client's request");
    const received = receivedBy(slow);
    slow.resume();
    const whole = other.slice(0, other.indexOf("HTTP/1.1 404"));
    await new Promise<void>((resolve) => slow.on("data", () => received.length >= 2 * whole.length && resolve()));
    const [first, second] = received.text().split(/(?=HTTP\/1\.1 200)/);
    assert.equal(comparable(first!), comparable(whole));
    assert.equal(comparable(second!), comparable(whole));
    const idsSent = [first, second, other].map((text) => /x-request-id: (\S+)/.exec(text!)![1]);
    assert.equal(new Set(idsSent).size, 3);
    await fastPath.exchanges.finished();
    const answered = fastPath.reported.filter(({ fields }) => (fields as { status: number }).status === 200);
    assert.deepEqual(
      new Set(answered.map(({ fields }) => (fields as { requestId: string }).requestId)),
      new Set(idsSent),
    );
    slow.destroy();
  });

  it("and sends garbage after its request gets the complete answer, then a refusal of the garbage", async (t) => {
    const { fastPath, own } = await withLargeDevice(t);
    const slow = await fastPath.open();
    slow.pause();
    slow.write(read(own));
    await fastPath.firstTaken;
    slow.write("NONSENSE\r\n\r\n");
    const received = receivedBy(slow);
    slow.resume();
    await closed(slow);
    const [answer, refusal, ...more] = received.text().split(/(?=HTTP\/1\.1 \d)/);
    assert.match(answer!, /^HTTP\/1\.1 200 /);
    const head = answer!.indexOf("\r\n\r\n") + 4;
    assert.equal(answer!.length - head, Number(/content-length: (\d+)/.exec(answer!)![1]));
    assert.match(refusal!, /^HTTP\/1\.1 400 [\s\S]*connection: close[\s\S]*"error":"invalid_request"/);
    assert.deepEqual(more, []);
    assert.deepEqual(sentencesOf(fastPath), ["request answered", "request refused"]);
  });

  it("and disconnects has its request logged as abandoned", async (t) => {
    const { fastPath, own } = await withLargeDevice(t);
    const slow = await fastPath.open();
    slow.pause();
    slow.write(read(own));
    await fastPath.firstTaken;
    slow.destroy();
    await fastPath.exchanges.finished();
    assert.deepEqual(sentencesOf(fastPath), ["request abandoned by its client"]);
  });

  it("gets it complete over TLS too", { skip: hasOpenssl ? false : "openssl makes the certificate" }, async (t) => {
    const { cert, certFile, keyFile } = makeCertificate(folderOf(t));
    const tls = { cert: readFileSync(certFile), key: readFileSync(keyFile), ca: String(cert) };
    const { fastPath, fastify, own, linked } = await withLargeDevice(t, { tls });
    for (const request of [read(own), read(linked) + read(own) + read(linked)]) {
      const [fromFastPath, fromFastify] = await Promise.all([
        answersTo(fastPath, request, true),
        answersTo(fastify, request, true),
      ]);
      assert.equal(comparable(fromFastPath), comparable(fromFastify));
      assert.match(fromFastPath, /^strict-transport-security: max-age=31536000\r$/m);
    }
    assert.equal(fastPath.taken.count, 4);
  });
});

/** Holds token look-ups until the test calls `answer`. */
function holdLookUps(tokens: Awaited<ReturnType<typeof fastPathAndFastify>>["tokens"]) {
  const lookUpStarted = Promise.withResolvers<void>();
  const allowed = Promise.withResolvers<void>();
  const { verify } = tokens;
  tokens.verify = async (token) => {
    lookUpStarted.resolve();
    await allowed.promise;
    return verify(token);
  };
  return { lookUpStarted: lookUpStarted.promise, answer: () => allowed.resolve() };
}
