import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import dns from "node:dns";
import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { OwnerQueues } from "../../src/events/owner-queues.ts";
import type { OwnerId } from "../../src/model/ids.ts";
import { limits } from "../../src/model/limits.ts";
import { dnsLookup } from "../../src/runtime/network/dns-lookup.ts";

describe("a look-up of a receiver's name", () => {
  it("asks name servers for both families, by sockets of its own", { timeout: 30_000 }, async (t) => {
    const server = await nameServer(t, { "hooks.example": ["192.0.2.7"] });
    const blocking = t.mock.method(dns, "lookup");
    const resolve = dnsLookup({ resolvesLocalNames: false, servers: [server.address] });
    assert.deepEqual(await resolve("Hooks.example", t.signal), [{ address: "192.0.2.7", family: 4 }]);
    assert.deepEqual(server.asked.toSorted(), ["hooks.example A", "hooks.example AAAA"]);
    assert.deepEqual(await resolve("unknown.example", t.signal), []);
    assert.equal(blocking.mock.callCount(), 0);
  });

  it("ends when its client goes away while name servers are silent", { timeout: 30_000 }, async (t) => {
    const server = await nameServer(t, "silent");
    const gone = new AbortController();
    const resolve = dnsLookup({ resolvesLocalNames: false, servers: [server.address], timeoutMs: 600_000 });
    const cancel = t.mock.method(Resolver.prototype, "cancel");
    const looking = resolve("silent.example", gone.signal);
    await server.wasAsked;
    gone.abort();
    assert.deepEqual(await looking, []);
    assert.equal(cancel.mock.callCount(), 1);
  });

  it("ends at its time limit while name servers are silent", { timeout: 30_000 }, async (t) => {
    const server = await nameServer(t, "silent");
    const resolve = dnsLookup({ resolvesLocalNames: false, servers: [server.address], timeoutMs: 50 });
    assert.deepEqual(await resolve("silent.example", t.signal), []);
  });

  it("knows the hosts file and the search domains where private receivers are allowed, and only there", {
    timeout: 30_000,
  }, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "breezeway-names-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const [hostsFile, resolverFile] = [join(folder, "hosts"), join(folder, "resolv.conf")];
    writeFileSync(hostsFile, "10.0.0.5 receiver.lan Receiver # ours\n");
    writeFileSync(resolverFile, "nameserver 192.0.2.1\nsearch first.lan second.lan\n");
    const server = await nameServer(t, { "hall.second.lan": ["10.0.0.6"] });
    const files = { servers: [server.address], hostsFile, resolverFile };
    const local = dnsLookup({ resolvesLocalNames: true, ...files });
    assert.deepEqual(await local("receiver", t.signal), [{ address: "10.0.0.5", family: 4 }]);
    assert.deepEqual(await local("hall", t.signal), [{ address: "10.0.0.6", family: 4 }]);
    assert.equal((await local("localhost", t.signal))[0]?.address, "127.0.0.1");
    const open = dnsLookup({ resolvesLocalNames: false, ...files });
    for (const name of ["receiver", "hall", "localhost"]) assert.deepEqual(await open(name, t.signal), []);
  });
});

describe("the queue of one owner", () => {
  it("run one at a time, in order, apart from those of others", async () => {
    const lanes = new OwnerQueues("historiesWaiting", "Too many wait.");
    const [ada, bob] = [1 as OwnerId, 2 as OwnerId];
    const ends: (() => void)[] = [];
    const begun: string[] = [];
    const act = (name: string) => () => {
      begun.push(name);
      return new Promise<void>((resolve) => ends.push(resolve));
    };
    const first = lanes.run(ada, act("ada 1"));
    const second = lanes.run(ada, act("ada 2"));
    const others = lanes.run(bob, act("bob"));
    await Promise.resolve();
    assert.deepEqual(begun, ["ada 1", "bob"]);
    ends[0]!();
    await first;
    await Promise.resolve();
    assert.deepEqual(begun, ["ada 1", "bob", "ada 2"]);
    for (const end of ends) end();
    await Promise.all([second, others]);
    assert.equal(lanes.size, 0);
  });

  it("are refused when too many wait, and a failed one doesn't hold up the next", async () => {
    const lanes = new OwnerQueues("historiesWaiting", "Too many wait.");
    const ada = 1 as OwnerId;
    const { promise, reject } = Promise.withResolvers<string>();
    const first = lanes.run(ada, () => promise);
    const waiting = Array.from({ length: limits.historiesWaiting }, () => lanes.run(ada, async () => "done"));
    await assert.rejects(
      lanes.run(ada, async () => "done"),
      { code: "limit_reached", limit: "historiesWaiting" },
    );
    reject(new Error("no such name"));
    await assert.rejects(first, { message: "no such name" });
    assert.deepEqual(new Set(await Promise.all(waiting)), new Set(["done"]));
    assert.equal(lanes.size, 0);
  });
});

/** Answers from a table of IPv4 addresses, or not at all. */
async function nameServer(t: TestContext, names: Readonly<Record<string, readonly string[]>> | "silent") {
  const socket = createSocket("udp4");
  const asked: string[] = [];
  const wasAsked = Promise.withResolvers<void>();
  socket.on("message", (query, { port, address }) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = query[at]!; length > 0; length = query[at]!) {
      labels.push(query.toString("latin1", at + 1, at + 1 + length));
      at += length + 1;
    }
    const isV4 = query.readUInt16BE(at + 1) === 1;
    asked.push(`${labels.join(".")} ${isV4 ? "A" : "AAAA"}`);
    wasAsked.resolve();
    if (names === "silent") return;
    const known = names[labels.join(".")];
    const addresses = isV4 ? (known ?? []) : [];
    const question = query.subarray(12, at + 5);
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    head.writeUInt16BE(known ? 0x8180 : 0x8183, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(addresses.length, 6);
    const records = addresses.map((one) =>
      Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...one.split(".").map(Number)]),
    );
    socket.send(Buffer.concat([head, question, ...records]), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  t.after(() => socket.close());
  return { address: `127.0.0.1:${socket.address().port}`, asked, wasAsked: wasAsked.promise };
}
