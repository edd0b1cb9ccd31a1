import assert from "node:assert/strict";
import { chmodSync } from "node:fs";
import { describe, it } from "node:test";
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

    const well = await pageText(operator, "/system?check=1");
    assert.match(well, /Checked by node/);
    for (const words of ["data folder", "disk", "address", "key file", "database", "nest"]) {
      const row = well.split("<tr").find((one) => one.includes(`>${words}<`));
      assert.ok(row?.includes('class="state good"'), `${words}: ${row}`);
    }
    const [entry, ...more] = await audited();
    assert.deepEqual([entry.operator, more], ["olga", []]);

    const { status, body } = await operator.call("POST", "/self-check");
    const checks = body.checks as readonly Check[];
    assert.deepEqual([status, body.ok, checks.find(({ check }) => check === "data folder")?.state], [200, true, "ok"]);
    chmodSync(house.config.dataFolder, 0o755);
    await house.simulator.stop();
    const ill = await pageText(operator, "/system?check=1");
    assert.match(ill, /warning<\/span>.*other users can read.*chmod 700/s);
    assert.match(ill, /nest.*doesn(&#39;|')t answer/s);

    const viewer = await invited("vera", { role: "viewer" });
    const admin = await invited("max", { role: "tenantAdmin", tenant: ["Story"] });
    const shown = await pageText(viewer, "/system?check=1");
    assert.ok(!shown.includes("Check now") && !shown.includes("Checked by node"));
    for (const other of [viewer, admin]) {
      const refused = await other.call("POST", "/self-check");
      assert.deepEqual([refused.status, refused.body.error], [403, "operator_forbidden"]);
    }
  });

  it("is made by a running service alone", async (t) => {
    const { house } = await consoleWorld(t);
    await assert.rejects(
      house.service.parts.administration.run("self-check", {}),
      /Only a running service checks itself/,
    );
  });
});
