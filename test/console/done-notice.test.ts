import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { browserOfFile, skip } from "../browser/world.ts";
import { consoleWorld, password } from "./console-world.ts";
import { operatorTab } from "./operator-tab.ts";

const browser = browserOfFile();

describe("what a form has done", () => {
  it("is told by the page after it, once, and never after a refusal", async (t) => {
    const { house, owner } = await consoleWorld(t);
    const operator = await owner();
    const { tenantId } = await house.service.parts.identity.findUser(house.userId);
    const to = "/console/users?filter=a&done=user+add";
    const add = (name: string) =>
      operator.send("/console/do", { act: "user add", tenant: String(tenantId), name, password, to });
    const added = await add("grace");
    assert.equal(added.headers.get("location"), "/console/users?filter=a");
    const shown = async (path: string) => (await operator.get(path)).text();
    assert.doesNotMatch(await shown("/console/clients"), /Done:/, "another tab does not take it");
    assert.match(await shown("/console/users?filter=a"), /Done: user add\./);
    assert.doesNotMatch(await shown("/console/users?filter=a"), /Done:/, "a reload");
    assert.doesNotMatch(await shown(to), /Done:/, "an address");
    const refused = await add("grace");
    assert.equal(refused.status, 409);
    const page = await refused.text();
    assert.doesNotMatch(page, /Done:|done=/);
    const [, back] = /href="([^"]+)">Back/.exec(page)!;
    assert.equal(back, "/console/users?filter=a");
    assert.doesNotMatch(await shown(back!), /Done:/);
  });

  it("goes from an open page when its next form is sent", { skip }, async (t) => {
    const { house, owner } = await consoleWorld(t);
    const operator = await owner();
    const world = { world: { baseUrl: house.service.baseUrl } } as never;
    await operatorTab(browser(), world, operator, {}, async (tab) => {
      await tab.goto(`/console/homes/${house.userId}/nest`);
      await tab.context().addCookies([
        {
          name: `breezeway-console-done-${new URL(house.service.baseUrl).port}`,
          value: encodeURIComponent(`/console/homes/${house.userId}/nest home command`),
          url: house.service.baseUrl,
        },
      ]);
      await tab.reload();
      await tab.getByText("Done: home command.").waitFor();
      await house.simulator.playScene(house.accountId, { scene: "leave" });
      await tab.getByRole("button", { name: "Run fan" }).first().click();
      await tab.getByText("Done: home command.").waitFor({ state: "detached" });
      await tab.reload();
      assert.equal(await tab.getByText("Done:").count(), 0);
    });
  });
});
