import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { browserOfFile, skip } from "../browser/world.ts";
import { madeReport } from "../verify/made-report.ts";
import { pageText } from "./administration-world.ts";
import { consoleWorld } from "./console-world.ts";
import { operatorTab } from "./operator-tab.ts";

const browser = browserOfFile();

describe("verification in the console", { skip }, () => {
  it("is started by a click, runs in the background, and leaves a report and nothing else", async (t) => {
    const made = await consoleWorld(t, { allowsPrivateWebhooks: true });
    const owner = await made.owner();
    const before = (await made.run("tenant list")).tenants;
    await operatorTab(browser(), { world: made.house.service }, owner, {}, async (tab) => {
      await tab.goto("/console/system");
      await tab.getByText("not verified yet").waitFor();
      await tab.getByRole("link", { name: "Verify", exact: true }).click();
      await tab.getByRole("dialog").getByRole("button", { name: "Verify" }).click();
      await tab.getByText("Done: verification start.").waitFor();
      // The page reads its parts again by itself.
      await tab.getByText(/grade [AB]/).waitFor();
      await tab.locator("#part-verifications a").first().click();
      await tab.getByRole("heading", { name: /grade [AB]/ }).waitFor();
      assert.equal(await tab.getByText("failed", { exact: true }).count(), 0);
      await tab.getByText("The service is alive").waitFor();
    });
    assert.deepEqual((await made.run("tenant list")).tenants, before);
    const [verification] = (await made.run("verification list")).verifications;
    assert.deepEqual([verification.by, verification.state, verification.counts.fail], ["olga", "ended", 0]);
    const { entries } = await made.run("audit list", { act: "admin", limit: "500" });
    assert.ok(
      entries.some(
        ({ operator, detail }: { operator: string; detail: Record<string, unknown> }) =>
          operator === "olga" && detail.verification === verification.verificationId,
      ),
    );
  });

  it("tells what to do about failed rows, and lets a viewer read but not start it", async (t) => {
    const made = await consoleWorld(t);
    const { verificationId } = await made.run("verification keep", { report: madeReport() });
    const viewer = await made.invited("vera", { role: "viewer" });
    const system = await pageText(viewer, "/system");
    assert.match(system, /grade F/);
    assert.ok(!system.includes("do=verify"));
    const page = await pageText(viewer, `/verifications/${verificationId}`);
    assert.match(page, /What to do.*failed: The service is alive\..*At fault: the service\. .*Repair it\./s);
    for (const word of ["passed", "warning", "failed", "not run"]) assert.ok(page.includes(word), word);
    const refused = await viewer.send("/console/do", { act: "verification start", to: "/console" });
    assert.equal(refused.status, 403);
    assert.equal((await made.run("verification list")).verifications.length, 1);
  });
});
