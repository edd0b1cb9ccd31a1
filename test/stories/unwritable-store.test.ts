import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import type { DeviceId } from "../../src/model/ids.ts";
import { startLogging } from "../../src/runtime/process/log.ts";
import { type Service, startService } from "../../src/service/service.ts";
import { canMount, smallDisk } from "../set-up/small-disk.ts";
import { breezeway } from "./child-service.ts";
import { type UnwritableStore, unwritableStores } from "./unwritable-stores.ts";
import { clientOfUser, type V3Client } from "./v3-client.ts";
import { eventually, person, storyConfig } from "./world.ts";

const unusedAddress = "http://127.0.0.1:9";
/** Enough writes to use up the free space that a full store still has. */
const writesUntilFull = 500;

for (const [name, { prepare, missing }] of Object.entries(unwritableStores)) {
  describe(`a service on ${name}`, { skip: missing ?? false }, () => {
    it("refuses writes with 503, is not ready, answers reads, and recovers automatically", {
      timeout: 120_000,
    }, async (t) => {
      const store = await prepare();
      const { service, v3, deviceId } = await serviceOn(t, store);
      assert.equal(await write(v3, deviceId, "before"), 200);
      assert.deepEqual(await health(service), { ready: 200, up: 1, reason: "" });

      await store.stopWrites();
      const statuses = await writeUntilRefused(v3, deviceId);
      await eventually(t.signal, async () => {
        const { reason, ...shown } = await health(service);
        assert.deepEqual(shown, { ready: 503, up: 0 });
        assert.match(reason, store.reason);
      });
      const { status, body } = await v3.call(`/devices/${deviceId}?attribute=kept`);
      assert.equal(status, 200, JSON.stringify(body));
      assert.equal(body.attributes.kept.value, "before");

      if (store.refusesStart) {
        const started = await serve({ BREEZEWAY_DATA: store.folder, BREEZEWAY_DATABASE_URL: store.databaseUrl! });
        assert.equal(started.code, 6, started.stderr);
        assert.match(started.stderr, store.reason);
      }

      await store.allowWrites();
      await eventually(t.signal, async () => {
        assert.deepEqual(await health(service), { ready: 200, up: 1, reason: "" });
      });
      await eventually(t.signal, async () => assert.equal(await write(v3, deviceId, "after"), 200));
      assert.ok(!statuses.includes(500), "a write was answered with 500");
    });
  });
}

describe("a service on SQLite whose disk has a few free bytes", {
  skip: canMount() ? false : "this machine can't mount a small disk",
}, () => {
  it("stays not ready although small writes succeed, until a commit of normal size fits", {
    timeout: 60_000,
  }, async (t) => {
    const disk = await smallDisk(16);
    const store = { folder: join(disk.path, "data"), remove: () => disk.unmount() };
    const { service, v3, deviceId } = await serviceOn(t, store);
    disk.fill();
    await writeUntilRefused(v3, deviceId);
    disk.fill(128 * 1_024);
    assert.equal(await write(v3, deviceId, "small"), 200);
    // The first check after a failed write probes at once.
    assert.equal((await health(service)).ready, 503);
    disk.empty();
    await eventually(t.signal, async () => assert.equal((await health(service)).ready, 200));
  });

  it("reports it and exits when it is started while the disk is full", { timeout: 60_000 }, async (t) => {
    const disk = await smallDisk(16);
    t.after(() => disk.unmount());
    disk.fill();
    const { code, stderr } = await serve({ BREEZEWAY_DATA: join(disk.path, "data") });
    assert.equal(code, 6, stderr);
    assert.match(stderr, /disk is full|no space left/i);
  });
});

type Place = Pick<UnwritableStore, "folder" | "databaseUrl" | "remove">;

async function serviceOn(test: TestContext, { folder, databaseUrl, remove }: Place) {
  const service = await startService(storyConfig(folder, unusedAddress, databaseUrl), startLogging("silent"));
  test.after(() => service.stop().finally(remove));
  await service.parts.identity.addTenant({ name: "Story" });
  const userId = await service.parts.identity.addUser({ tenant: "Story", ...person, isAdmin: false });
  const lamp = { user: String(userId), name: "Lamp", type: "Lamp" };
  const { deviceId } = (await service.parts.administration.run("device add", lamp)) as { deviceId: DeviceId };
  return { service, deviceId, v3: await clientOfUser(() => service, "Story", person) };
}

function serve(environment: Record<string, string>) {
  return breezeway(["serve"], { environment: { ...environment, BREEZEWAY_PORT: "0" } });
}

async function write(v3: V3Client, deviceId: DeviceId, value: string, name = "kept"): Promise<number> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ [name]: value });
  const answer = await v3.call(`/devices/${deviceId}`, { method: "PUT", headers, body });
  if (answer.status === 503) assert.equal(answer.body.error, "store_unavailable");
  return answer.status;
}

/** Writes until the store refuses one, and returns all statuses. */
async function writeUntilRefused(v3: V3Client, deviceId: DeviceId): Promise<number[]> {
  const statuses: number[] = [];
  while (statuses.at(-1) !== 503) {
    assert.ok(statuses.length < writesUntilFull, "the store never refused a write");
    statuses.push(await write(v3, deviceId, randomBytes(6_000).toString("base64"), `filler${statuses.length % 20}`));
  }
  return statuses;
}

async function health({ baseUrl }: Service) {
  const [ready, metrics] = await Promise.all([fetch(`${baseUrl}/readyz`), fetch(`${baseUrl}/metrics`)]);
  const body = (await ready.json()) as { checks: { store: { reason?: string } } };
  const [, up] = /^breezeway_store_up (\d)$/m.exec(await metrics.text()) ?? [];
  return { ready: ready.status, up: Number(up), reason: body.checks.store.reason ?? "" };
}
