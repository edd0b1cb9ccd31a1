import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import type { DeviceId } from "../../src/model/ids.ts";
import { addDevice } from "../../src/provisioning/operator-devices.ts";
import { processRuntime } from "../../src/runtime/process/process-runtime.ts";
import { startService } from "../../src/service/service.ts";
import { silent } from "../contracts/store/home.ts";
import { cheapPasswords } from "../set-up/cheap-passwords.ts";
import { type Deployment, databaseFor, deployments, longSuiteOn, runDeployment } from "../set-up/deployment.ts";
import { rounds } from "../set-up/extent.ts";
import { clientOfTenant, clientOfUser, type ShownAttribute, type V3Client } from "./v3-client.ts";
import { person, storyConfig } from "./world.ts";

const writers = 8;
const writesEach = rounds({ all: 60, few: 20 });
const hourMs = 3_600_000;

for (const database of longSuiteOn("three nodes", deployments)) {
  describe(`a client that polls with since on ${database}`, () => {
    it("gets every change of 8 writers over HTTP, also when the clock jumps, and gets no time twice", async (t) => {
      const { writing, reading, deviceId, jumpBack } = await house(t, database);
      const acknowledged = new Map<string, string | null>();
      let written = 0;
      const write = async (writer: number) => {
        for (let i = 0; i < writesEach; i++) {
          // Three kinds of names: written once, so that no later write hides it; written by all; written and erased in turn.
          const own = {
            [`${writer} ${i}`]: i,
            latest: `${writer} ${i}`,
            [`fleeting ${writer}`]: i % 2 === 0 ? i : null,
          };
          await writing[writer % writing.length]!.write(deviceId, own);
          acknowledged.set(`${writer} ${i}`, String(i));
          acknowledged.set(`fleeting ${writer}`, i % 2 === 0 ? String(i) : null);
          if (++written === (writers * writesEach) / 2) jumpBack();
        }
      };
      const poller = new Poller(reading, deviceId);
      const all = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer))).finally(() =>
        poller.stop(),
      );
      await Promise.all([all, poller.run()]);

      for (const [name, value] of acknowledged)
        assert.equal(poller.known.get(name)?.value, value, `${name} was missed`);
      const present = Object.entries(await reading.attributes(deviceId));
      assert.deepEqual(new Map([...poller.known].filter(([, { value }]) => value !== null)), new Map(present));
      const times = [...poller.known].filter(([name]) => /^\d/.test(name)).map(([, { updateTime }]) => updateTime);
      assert.equal(times.length, writers * writesEach);
      assert.equal(new Set(times).size, times.length, "two updates had one time");
      t.diagnostic(`${written} updates, ${poller.polls} polls, ${poller.answers} of them with news`);
      assert.ok(poller.answers > 1);
    });
  });
}

/** A service whose clock can jump. On PostgreSQL there are two nodes, and the reader uses the one that gets no writes. */
async function house(t: TestContext, database: Deployment) {
  const folder = mkdtempSync(join(tmpdir(), "breezeway-since-"));
  const databaseUrl = await databaseFor(database);
  const config = storyConfig(folder, "http://127.0.0.1:9", databaseUrl);
  const real = processRuntime(silent);
  let skewMs = 0;
  const runtime = { ...real, nowMs: () => real.nowMs() + skewMs };
  const deployment = await runDeployment(t, database, config, (nodeConfig) =>
    startService(nodeConfig, silent, runtime, cheapPasswords),
  );
  const { service } = deployment;
  const second = database === "postgres" ? await startService(config, silent, runtime, cheapPasswords) : undefined;
  t.after(async () => {
    await second?.stop();
    await deployment.end();
    rmSync(folder, { recursive: true, force: true });
  });
  const { identity, store } = service.parts;
  await identity.addTenant({ name: "Story" });
  const userId = await identity.addUser({ tenant: "Story", ...person, isAdmin: false });
  const deviceId = await addDevice(store, { userId, name: "Hall", typeName: "Lamp" });
  const ada = await clientOfUser(() => service, "Story", person);
  const tenant = await clientOfTenant(() => service, "Story");
  return {
    writing: [ada, tenant],
    reading: second ? ada.at(second.baseUrl) : ada,
    deviceId,
    jumpBack: () => {
      skewMs -= hourMs;
    },
  };
}

/** A client that polls from the largest time that it has seen. */
class Poller {
  readonly known = new Map<string, ShownAttribute>();
  polls = 0;
  answers = 0;
  readonly #client: V3Client;
  readonly #deviceId: DeviceId;
  #since = 0;
  #isStopped = false;

  constructor(client: V3Client, deviceId: DeviceId) {
    this.#client = client;
    this.#deviceId = deviceId;
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** The last poll begins after the last write was acknowledged. */
  async run(): Promise<void> {
    while (!this.#isStopped) await this.#poll();
    await this.#poll();
  }

  async #poll(): Promise<void> {
    const news = Object.entries(await this.#client.attributes(this.#deviceId, { since: String(this.#since) }));
    for (const [name, attribute] of news) {
      assert.ok(attribute.updateTime > this.#since, "a change was reported twice");
      this.known.set(name, attribute);
    }
    this.#since = Math.max(this.#since, ...news.map(([, { updateTime }]) => updateTime));
    this.polls += 1;
    if (news.length > 0) this.answers += 1;
  }
}
