import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { describe, it, type TestContext } from "node:test";
import pg from "pg";
import type { DeviceId, UserId } from "../../src/model/ids.ts";
import { openPostgres } from "../../src/store/postgres/store.ts";
import type { OpenStore } from "../../src/store/seam.ts";
import { sharedCluster, startCluster } from "../set-up/postgres.ts";

describe("a PostgreSQL that crashes", () => {
  it("adds no entry before a position that was issued", { timeout: 120_000 }, async (t) => {
    const cluster = await startCluster();
    t.after(() => cluster.stop());
    const url = await cluster.createDatabase();
    const store = await openStore(t, url);
    for (let round = 1; round <= 3; round++) {
      await append(store, round);
      await useUpIds(url, 50);
      const { end, epoch } = await store.read(async (tx) => ({
        end: await tx.log.end(),
        epoch: await tx.logEpoch.current(),
      }));
      await cluster.crash();
      await eventually(t.signal, () => append(store, 100 + round));
      const later = await store.read((tx) => tx.log.tail(end, 10));
      assert.deepEqual(
        later.map(({ timeMs }) => timeMs),
        [100 + round],
      );
      assert.deepEqual(await store.read((tx) => tx.logEpoch.current()), epoch);
    }
  });
});

describe("a PostgreSQL that sends FATAL together with ReadyForQuery", () => {
  it("does not end the process, and is used again", { timeout: 60_000 }, async (t) => {
    const url = await (await sharedCluster()).createDatabase();
    await (await openStore(t, url)).close();
    const proxy = await fatalAfterReady(t, url);
    const store = await openStore(t, proxy.url);
    proxy.isFatal = true;
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => append(store, 1)));
    assert.ok(outcomes.some(({ status }) => status === "rejected"));
    assert.ok(proxy.ended > 0);
    proxy.isFatal = false;
    await eventually(t.signal, () => append(store, 2));
  });
});

async function openStore(t: TestContext, url: string): Promise<OpenStore> {
  const store = await openPostgres({ url });
  t.after(() => store.close());
  return store;
}

function append(store: OpenStore, timeMs: number): Promise<void> {
  const entry = { userId: 1 as UserId, deviceId: 1 as DeviceId, kind: "device" as const, timeMs, body: "{}" };
  return store.transaction((tx) => tx.log.append(entry));
}

/** Rolls back transactions that have an id: after a crash the server reissues these ids. */
async function useUpIds(url: string, count: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  for (let i = 0; i < count; i++) await client.query("BEGIN; SELECT pg_current_xact_id(); ROLLBACK");
  await client.end();
}

async function eventually(signal: AbortSignal, act: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (signal.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** ErrorResponse: FATAL 57P01. */
const fatal = message("E", "SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0");
const readyForQuery = message("Z", "I");

/** A proxy that appends a FATAL to the first ReadyForQuery of each connection while `isFatal`. */
async function fatalAfterReady(t: TestContext, url: string) {
  const { hostname, port } = new URL(url);
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const socket of [near, far]) socket.on("error", () => undefined);
    near.on("close", () => far.destroy()).pipe(far);
    far.on("close", () => near.destroy());
    far.on("data", (bytes: Buffer) => {
      if (!proxy.isFatal || !bytes.subarray(-readyForQuery.length).equals(readyForQuery)) near.write(bytes);
      else {
        proxy.ended += 1;
        near.end(Buffer.concat([bytes, fatal]));
        far.destroy();
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const behind = new URL(url);
  behind.port = String((server.address() as AddressInfo).port);
  const proxy = { url: behind.href, isFatal: false, ended: 0 };
  return proxy;
}

function message(kind: string, text: string): Buffer {
  const bytes = Buffer.alloc(5 + Buffer.byteLength(text));
  bytes.write(kind, 0);
  bytes.writeInt32BE(4 + Buffer.byteLength(text), 1);
  bytes.write(text, 5);
  return bytes;
}
