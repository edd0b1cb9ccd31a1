import assert from "node:assert/strict";
import { once } from "node:events";
import { chmodSync, renameSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { describe, it } from "node:test";
import { examineService, type RunningService } from "../../src/cli/machine-checks.ts";
import { pageText } from "./administration-world.ts";
import { consoleWorld } from "./console-world.ts";

interface Check {
  readonly check: string;
  readonly state: string;
  readonly words: string;
  readonly next?: string;
}

describe("the doctor of the System page", () => {
  it("runs when an owner asks for it, and tells each check with its fix; nobody else gets it", async (t) => {
    const { house, owner, invited, run } = await consoleWorld(t);
    const operator = await owner();
    const before = await pageText(operator, "/system");
    assert.match(before, /<h2>Doctor<\/h2>.*Check now/s);
    assert.ok(!before.includes("Checked by node"));
    const audited = async () =>
      (await run("audit list")).entries.filter(
        ({ detail }: { detail: { command?: string } }) => detail.command === "self-check",
      );
    assert.equal((await audited()).length, 0);

    assert.ok(!(await pageText(operator, "/system?check=1")).includes("Checked by node"));
    const checkNow = async () => {
      const answer = await operator.send("/console/do", { act: "self-check", to: "/console/system" });
      assert.equal(answer.status, 200);
      return answer.text();
    };
    const rowOf = (page: string, check: string) => page.split("<tr").find((one) => one.includes(`>${check}<`)) ?? "";
    const well = await checkNow();
    for (const check of ["data folder", "disk", "address", "key file", "database", "nest"]) {
      assert.match(rowOf(well, check), /<td>ok</, check);
    }
    const [entry, ...more] = await audited();
    assert.deepEqual([entry.operator, more], ["olga", []]);

    const { status, body } = await operator.call("POST", "/self-check");
    const checks = body.checks as readonly Check[];
    assert.deepEqual([status, body.ok, checks.find(({ check }) => check === "data folder")?.state], [200, true, "ok"]);
    chmodSync(house.config.dataFolder, 0o755);
    await house.simulator.stop();
    const ill = await checkNow();
    assert.match(rowOf(ill, "data folder"), /<td>warn<.*other users can read.*chmod 700/s);
    assert.match(rowOf(ill, "nest"), /<td>warn<.*doesn(&#39;|')t answer/s);

    const viewer = await invited("vera", { role: "viewer" });
    const admin = await invited("max", { role: "tenantAdmin", tenant: ["Story"] });
    const shown = await pageText(viewer, "/system?check=1");
    assert.ok(!shown.includes("Check now") && !shown.includes("Checked by node"));
    for (const other of [viewer, admin]) {
      const refused = await other.call("POST", "/self-check");
      assert.deepEqual([refused.status, refused.body.error], [403, "operator_forbidden"]);
    }
  });

  it("fails when the folder, the key and the store of the running service are gone", async (t) => {
    const { house, run } = await consoleWorld(t, { database: "sqlite" });
    const { dataFolder } = house.config;
    const checks = async () => {
      const examined = (await run("self-check")).checks as readonly Check[];
      const states = examined.map(({ check, state }) => [check, state]);
      return Object.fromEntries(states.filter(([check]) => /folder|key|database/.test(check!)));
    };
    assert.deepEqual(await checks(), { "data folder": "ok", "key file": "ok", database: "ok" });
    renameSync(dataFolder, `${dataFolder}-away`);
    const gone = await checks().finally(() => renameSync(`${dataFolder}-away`, dataFolder));
    assert.deepEqual(gone, { "data folder": "fail", "key file": "fail", database: "fail" });
    assert.ok(await run("status"));
  });

  it("does not take another program for the service, nor an error or the simulator for an ecosystem", async (t) => {
    const other = createServer((request, response) => {
      response.writeHead(request.url === "/livez" ? 200 : 503, { "content-type": "application/json" }).end("{}");
    });
    other.listen(0, "127.0.0.1");
    await once(other, "listening");
    t.after(() => other.close());
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const findings = await examineService({
      config: {
        dataFolder: tmpdir(),
        ecosystems: [{ name: "nest", apiUrl: url }],
      } as unknown as RunningService["config"],
      seen: { keyFile: tmpdir(), schemaVersion: 1, knownVersion: 1, clockOffsetMs: 0 },
      settings: [{ variable: "BREEZEWAY_ECOSYSTEMS", value: "", from: "default" }],
      baseUrl: url,
    });
    const of = (name: string) => findings.find(({ check }) => check === name)!;
    assert.deepEqual([of("address").state, of("address").words], ["fail", `${url} answers as another program`]);
    assert.match(of("ecosystems").words, /^Only the simulator's address is configured/);
    assert.deepEqual([of("nest").state, of("nest").words], ["warn", `${url} answers 503`]);
  });

  it("is made by a running service alone, once at a time: those who ask meanwhile get the same answer", async (t) => {
    const { house, run } = await consoleWorld(t);
    const [one, same] = await Promise.all([run("self-check"), run("self-check")]);
    assert.equal(one.checks, same.checks);
    assert.notEqual((await run("self-check")).checks, one.checks);
    await assert.rejects(
      house.service.parts.administration.run("self-check", {}),
      /Only a running service checks itself/,
    );
  });
});
