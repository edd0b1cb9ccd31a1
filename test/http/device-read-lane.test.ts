import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import fc from "fast-check";
import { InvalidToken } from "../../src/model/errors.ts";
import { folderOf } from "../cli/made-folder.ts";
import { hasOpenssl, makeCertificate } from "../set-up/certificate.ts";
import { anyRead } from "./any-read.ts";
import { answersTo, receivedBy, twoWays, type Way, type WaysSettings, withoutRandomParts } from "./two-ways.ts";

const read = (id: number, token = "alice") =>
  `GET /v3/devices/${id} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`;

/** Alice's lamp, her linked account, one whose link has just ended, and what is bob's. */
async function withDevices(t: Parameters<typeof twoWays>[0], settings?: WaysSettings) {
  const ways = await twoWays(t, settings);
  const { addDevice, alice, bob, mirror, freshness } = ways;
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
  return { ...ways, own, linked, ended, foreign };
}

/** What was counted and told, without what is another each time. */
function toldBy({ finished, reported }: Way) {
  const counted = finished.splice(0).map(({ tookMs, ...rest }) => {
    assert.ok(tookMs >= 0);
    return rest;
  });
  const told = reported.splice(0).map(({ level, fields, sentence }) => {
    const { requestId, ms, error, ...rest } = fields as Record<string, unknown>;
    assert.match(String(requestId), /^[0-9a-f-]{36}$/);
    return { level, sentence, hasTime: typeof ms === "number", error: error && String(error), ...rest };
  });
  return { counted, told };
}

describe("the fast lane for device reads", () => {
  for (const [name, settings, isDraining] of [
    ["by itself", {}, false],
    ["with origins that pages may call from", { corsOrigins: ["https://app.example"] }, false],
    ["behind a proxy that is trusted", { trustedProxies: ["127.0.0.0/8"] }, false],
    ["on a server that drains", {}, true],
  ] as const) {
    it(`answers, counts and tells what the long way does, ${name}`, async (t) => {
      const { lane, longWay, ...asked } = await withDevices(t, settings);
      if (isDraining) for (const { exchanges } of [lane, longWay]) exchanges.drain();
      let sent = 0;
      const property = fc.asyncProperty(anyRead(asked), fc.boolean(), async (request, isPipelined) => {
        sent += 1;
        const [ours, theirs] = await Promise.all([
          answersTo(lane, request, isPipelined),
          answersTo(longWay, request, isPipelined),
        ]);
        assert.equal(withoutRandomParts(ours), withoutRandomParts(theirs));
        await Promise.all([lane, longWay].map(({ exchanges }) => exchanges.finished()));
        assert.deepEqual(toldBy(lane), toldBy(longWay));
      });
      await fc.assert(property, { numRuns: 150 });
      assert.ok(lane.taken.count > sent / 10, `only ${lane.taken.count} of ${sent} took it`);
    });
  }

  it("shows what was acknowledged, and how far it can be believed, from then on", async (t) => {
    const { lane, own, linked, put, freshness } = await withDevices(t);
    for (let round = 0; round < 20; round++) {
      await put("alice", own, { on: `round ${round}` });
      assert.match(await answersTo(lane, read(own)), new RegExp(`"value":"round ${round}"`));
      freshness.set(linked, { isPresent: true, isStale: false, confirmedTimeMs: round });
      assert.match(
        await answersTo(lane, read(linked)),
        new RegExp(`"presenceInfo":1,"stale":false,"confirmedTime":${round},`),
      );
      freshness.set(linked, { isPresent: false, isStale: true, confirmedTimeMs: round });
      assert.match(await answersTo(lane, read(linked)), /"presenceInfo":0,"stale":true/);
    }
    assert.equal(lane.taken.count, 60);
  });

  it("gives each of many readers an id and a line of their own", async (t) => {
    const { lane, own } = await withDevices(t);
    const answers = await Promise.all(Array.from({ length: 50 }, () => answersTo(lane, read(own) + read(own), true)));
    await lane.exchanges.finished();
    const ids = answers.flatMap((text) => [...text.matchAll(/x-request-id: (\S+)/g)].map(([, id]) => id));
    const logged = lane.reported.map(({ fields }) => (fields as { requestId: string }).requestId);
    assert.equal(new Set(ids).size, 150);
    assert.deepEqual(new Set(logged), new Set(ids));
  });

  it("is shut for a token from the moment in which it is no longer good", async (t) => {
    const { lane, own, tokens } = await withDevices(t);
    assert.match(await answersTo(lane, read(own)), /^HTTP\/1.1 200 /);
    tokens.verify = () => Promise.reject(new InvalidToken());
    assert.match(await answersTo(lane, read(own)), /^HTTP\/1.1 401 [\s\S]*invalid_token/);
    assert.equal(lane.taken.count, 2);
  });

  it("asks a client to come on another connection when the drain begins while it looks", async (t) => {
    const { lane, own, tokens } = await withDevices(t);
    const { asked, answer } = waiting(tokens);
    const socket = await lane.open();
    const received = receivedBy(socket);
    socket.write(read(own));
    await asked;
    lane.exchanges.drain();
    let isFinished = false;
    const finished = lane.exchanges.finished().then(() => {
      isFinished = true;
    });
    await new Promise(setImmediate);
    assert.equal(isFinished, false, "it is waited for");
    answer();
    await once(socket, "close");
    assert.match(received.text(), /^HTTP\/1.1 200 [\s\S]*connection: close\r\n[\s\S]*"attributes"/);
    await finished;
  });

  it("tells of a client that goes while it looks that it went", async (t) => {
    for (const way of ["lane", "longWay"] as const) {
      const { own, tokens, ...ways } = await withDevices(t);
      const { asked, answer } = waiting(tokens);
      const socket = await ways[way].open();
      socket.write(read(own));
      await asked;
      socket.destroy();
      await ways[way].firstClosed;
      answer();
      await ways[way].exchanges.finished();
      assert.deepEqual(
        toldBy(ways[way]).told.map(({ sentence }) => sentence),
        ["request abandoned by its client"],
      );
    }
  });
});

describe("a client that takes its answer slowly", () => {
  /** Larger than what the system holds for a connection. */
  async function withLargeDevice(t: Parameters<typeof twoWays>[0], settings?: WaysSettings) {
    const ways = await withDevices(t, settings);
    const changes = Array.from({ length: 1_500 }, (_, at) => ({ key: `k${at}`, value: "v".repeat(8_000) }));
    await ways.fill(ways.alice, ways.own, changes);
    return ways;
  }

  it("gets it whole and as its own, whoever reads the same meanwhile, and is counted once it has it", async (t) => {
    const { lane, own } = await withLargeDevice(t);
    const slow = await lane.open();
    slow.pause();
    slow.write(read(own) + read(own));
    const other = await answersTo(lane, read(own), true);
    assert.equal(lane.finished.filter(({ status }) => status === 200).length, 1, "the other's alone");
    const received = receivedBy(slow);
    slow.resume();
    const whole = other.slice(0, other.indexOf("HTTP/1.1 404"));
    await new Promise<void>((resolve) => slow.on("data", () => received.length >= 2 * whole.length && resolve()));
    const [first, second] = received.text().split(/(?=HTTP\/1\.1 200)/);
    assert.ok(withoutRandomParts(first!) === withoutRandomParts(whole));
    assert.ok(withoutRandomParts(second!) === withoutRandomParts(whole));
    const idsSent = [first, second, other].map((text) => /x-request-id: (\S+)/.exec(text!)![1]);
    assert.equal(new Set(idsSent).size, 3);
    await lane.exchanges.finished();
    const answered = lane.reported.filter(({ fields }) => (fields as { status: number }).status === 200);
    assert.deepEqual(
      new Set(answered.map(({ fields }) => (fields as { requestId: string }).requestId)),
      new Set(idsSent),
    );
    slow.destroy();
  });

  it("and sends nonsense behind its request gets the answer whole, then the refusal of the nonsense", async (t) => {
    const { lane, own } = await withLargeDevice(t);
    const slow = await lane.open();
    slow.pause();
    slow.write(read(own));
    await lane.firstTaken;
    slow.write("NONSENSE\r\n\r\n");
    const received = receivedBy(slow);
    slow.resume();
    await once(slow, "close");
    const [answer, refusal, ...more] = received.text().split(/(?=HTTP\/1\.1 \d)/);
    assert.match(answer!, /^HTTP\/1\.1 200 /);
    const head = answer!.indexOf("\r\n\r\n") + 4;
    assert.equal(answer!.length - head, Number(/content-length: (\d+)/.exec(answer!)![1]));
    assert.match(refusal!, /^HTTP\/1\.1 400 [\s\S]*connection: close[\s\S]*"error":"invalid_request"/);
    assert.deepEqual(more, []);
    assert.deepEqual(
      toldBy(lane).told.map(({ sentence }) => sentence),
      ["request answered", "request refused"],
    );
  });

  it("and goes is told to have gone", async (t) => {
    const { lane, own } = await withLargeDevice(t);
    const slow = await lane.open();
    slow.pause();
    slow.write(read(own));
    await lane.firstTaken;
    slow.destroy();
    await lane.exchanges.finished();
    assert.deepEqual(
      toldBy(lane).told.map(({ sentence }) => sentence),
      ["request abandoned by its client"],
    );
  });

  it("gets it whole over TLS too", { skip: hasOpenssl ? false : "openssl makes the certificate" }, async (t) => {
    const { cert, certFile, keyFile } = makeCertificate(folderOf(t));
    const tls = { cert: readFileSync(certFile), key: readFileSync(keyFile), ca: String(cert) };
    const { lane, longWay, own, linked } = await withLargeDevice(t, { tls });
    for (const request of [read(own), read(linked) + read(own) + read(linked)]) {
      const [ours, theirs] = await Promise.all([answersTo(lane, request, true), answersTo(longWay, request, true)]);
      assert.ok(withoutRandomParts(ours) === withoutRandomParts(theirs));
      assert.match(ours, /^strict-transport-security: max-age=31536000\r$/m);
    }
    assert.equal(lane.taken.count, 4);
  });
});

/** From now on a token is looked up when the test says so. */
function waiting(tokens: Awaited<ReturnType<typeof twoWays>>["tokens"]) {
  const asked = Promise.withResolvers<void>();
  const allowed = Promise.withResolvers<void>();
  const { verify } = tokens;
  tokens.verify = async (token) => {
    asked.resolve();
    await allowed.promise;
    return verify(token);
  };
  return { asked: asked.promise, answer: () => allowed.resolve() };
}
