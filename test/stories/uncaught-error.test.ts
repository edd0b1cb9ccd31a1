import assert from "node:assert/strict";
import { describe, it } from "node:test";
import pg from "pg";
import { startChild } from "./child-service.ts";
import { killableDeployment } from "./killable-deployment.ts";
import { eventually, longSuiteOn } from "./world.ts";

const preload = new URL("../set-up/uncaught-error.ts", import.meta.url);

for (const database of longSuiteOn("sqlite").filter((one) => one !== "three nodes")) {
  describe(`an uncaught error on ${database}`, () => {
    it("pauses the link whose work caused it, and no other; the service keeps running", {
      timeout: 60_000,
    }, async (t) => {
      const house = await killableDeployment(t, database);
      const { simulator, client } = house;
      const [faulty, healthy] = [simulator.addAccount(), simulator.addAccount()];
      const [structureId] = Object.keys(simulator.document(faulty.accountId).structures as object);
      const ecosystem = { protocol: "nest", apiUrl: simulator.url };
      const environment = {
        ...house.environment,
        BREEZEWAY_ECOSYSTEMS: JSON.stringify({ nest: ecosystem, attic: ecosystem }),
        UNCAUGHT_TEXT: structureId!,
      };
      const child = await startChild("serve", environment, { preload });
      t.after(() => child.process.kill("SIGKILL"));
      house.baseUrl = child.baseUrl;
      await house.signIn();
      await client.federate("POST", faulty.token, "nest");
      await client.federate("POST", healthy.token, "attic");
      const isLive = async (name: string) => assert.equal((await client.linkStatus(name)).state, "live");
      await eventually(t.signal, () => isLive("nest"));
      await eventually(t.signal, () => isLive("attic"));
      // A link shows as live a moment before its blind interval is stored.
      const linked = [{ cause: "just linked" }];
      await eventually(t.signal, async () => {
        assert.partialDeepStrictEqual((await client.linkStatus("attic")).blindIntervals, linked);
      });

      child.process.kill("SIGUSR2");
      await eventually(t.signal, async () => {
        await simulator.playScene(faulty.accountId, { scene: "random", steps: 1 });
        const exposed = await (await fetch(`${child.baseUrl}/metrics`)).text();
        assert.match(exposed, /^breezeway_link_faults_total\{kind="uncaught"\} 2$/m);
      });
      await eventually(t.signal, async () => {
        const { state, blindIntervals } = await client.linkStatus("nest");
        assert.equal(state, "live");
        const { cause } = blindIntervals.at(-1);
        assert.match(cause, /^paused after an internal error; next try in 1 s \(error id [0-9a-f]{8}\)$/);
      });
      const healthyAfter = await client.linkStatus("attic");
      assert.equal(healthyAfter.state, "live");
      assert.equal(healthyAfter.blindIntervals.length, 1);
      child.process.kill("SIGTERM");
      assert.equal(await child.ended, 0);
    });

    it("that belongs to no link stops the node with code 1, and its links are handed back", {
      timeout: 60_000,
    }, async (t) => {
      const house = await killableDeployment(t, database);
      const { simulator, client, environment } = house;
      const child = await startChild("serve", environment, { preload });
      t.after(() => child.process.kill("SIGKILL"));
      house.baseUrl = child.baseUrl;
      await house.signIn();
      const { token } = simulator.addAccount();
      assert.equal((await client.federate("POST", token)).status, 200);
      await eventually(t.signal, async () => assert.equal((await client.linkStatus()).state, "live"));
      child.process.kill("SIGUSR1");
      assert.equal(await child.ended, 1);
      if (database === "postgres") {
        const sql = new pg.Client({ connectionString: environment.BREEZEWAY_DATABASE_URL! });
        await sql.connect();
        t.after(() => sql.end());
        assert.deepEqual((await sql.query("SELECT owner FROM links")).rows, [{ owner: null }]);
      }
      const next = await startChild("serve", environment);
      t.after(() => next.process.kill("SIGKILL"));
      house.baseUrl = next.baseUrl;
      await eventually(t.signal, async () => assert.equal((await client.linkStatus()).state, "live"));
    });
  });
}
