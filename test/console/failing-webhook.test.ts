import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import { browserOfFile, skip } from "../browser/world.ts";
import { write } from "../events/made-home.ts";
import { eventually } from "../stories/world.ts";
import { administrationWorld } from "./administration-world.ts";
import { operatorTab } from "./operator-tab.ts";

const browser = browserOfFile();
const hour = 3_600_000;

describe("a webhook that fails", { skip }, () => {
  it("is found, its attempts are read, and what failed arrives once and in order when it is resent", {
    timeout: 60_000,
  }, async (t) => {
    const made = await administrationWorld(t);
    const { world, hook, lamp, run } = made;
    const webhook = await made.addWebhook();
    const deliveries = async (
      state?: string,
    ): Promise<readonly { readonly deliveryId: number; readonly tries: readonly object[] }[]> =>
      (await run("hook deliveries", { webhook, ...(state && { state }) })).deliveries;
    hook.behaviour.answer = () => ({ status: 503 });
    for (const count of [1, 2, 3]) await write(world, made.token, lamp, { count: `${count}` });
    await eventually(t.signal, async () => {
      const all = await deliveries();
      assert.deepEqual([all.length, all.at(-1)?.tries.length], [3, 1], "the others wait behind the first one");
    });
    const { retriedDelivery, retriedAnswer } = await run("hook show", { webhook });
    assert.deepEqual([retriedDelivery, retriedAnswer], [(await deliveries()).at(-1)?.deliveryId, "answered 503"]);
    const page = await (await (await made.owner()).get(`/console/webhooks/${webhook}`)).text();
    assert.match(page, new RegExp(`delivery=${retriedDelivery}">message ${retriedDelivery}</a>, last answered 503`));
    await operatorTab(browser(), { world }, await made.owner(), {}, async (tab) => {
      tab.setDefaultTimeout(15_000);
      await tab.goto("/console");
      await tab.getByRole("link", { name: "Webhooks", exact: true }).click();
      const row = tab.getByRole("table", { name: "Webhooks" }).locator("tbody tr").filter({ hasText: hook.url });
      await row.getByText("0 of 1 delivered, 1 attempt failed").waitFor();
      await row.getByRole("button", { name: `Try now: ${hook.url}` }).click();
      await row.getByText("0 of 1 delivered, 2 attempts failed").waitFor();
      await tab.goto(`/console/webhooks/${webhook}`);
      await tab.getByRole("button", { name: `Try now: message ${retriedDelivery}` }).click();
      await tab.getByRole("cell").filter({ hasText: "3, 3 failed" }).waitFor();
      assert.equal((await deliveries()).length, 3, "what waits is tried now, not added again");
      assert.deepEqual(
        hook.received.map(({ message }) => message.data.attributes.count),
        ["1", "1", "1"],
      );
    });
    await world.timePasses(25 * hour);
    world.service.parts.events.afterCommit(false);
    await eventually(t.signal, async () => assert.equal((await deliveries("failed")).length, 3));
    const refused = hook.received.length;

    await operatorTab(browser(), { world }, await made.owner(), {}, async (tab) => {
      tab.setDefaultTimeout(15_000);
      await tab.goto("/console");
      const attention = tab.locator("section, div, main").filter({ hasText: "Needs attention" }).first();
      await attention.getByText(/fails: answered 503/).waitFor();
      await tab.locator(`a[href^="/console/webhooks/${webhook}"]`).first().click();
      await tab.getByRole("heading", { name: hook.url }).waitFor();

      await tab.getByRole("table", { name: "Deliveries" }).getByRole("link").last().click();
      const attempts = tab.getByRole("table", { name: "Attempts" });
      await attempts.waitFor();
      const rows = await attempts.locator("tbody tr").allInnerTexts();
      assert.equal(rows.length, 4);
      for (const row of rows) assert.match(row, /\d+ ms(?:.|\n)*HTTP 503: answered 503/);
      assert.equal(await attempts.locator("time").count(), 4);
      assert.match(await requestOf(tab), /^POST (?:.|\n)*webhook-id: msg_(?:.|\n)*webhook-signature: /);
      assert.ok(!(await tab.content()).includes(hook.received[0]!.headers["webhook-signature"]!));
      const body = tab.locator("details pre").filter({ hasText: '"count"' });
      assert.equal(await body.isVisible(), false);
      await tab.getByText("Body", { exact: true }).click();
      await body.waitFor();

      hook.behaviour.answer = () => ({ status: 204 });
      await tab.getByRole("button", { name: `Try now: ${hook.url}` }).click();
      await tab.getByText("Done: hook resend-since.").waitFor();
      await eventually(t.signal, async () => assert.equal((await deliveries("delivered")).length, 3));
      await tab.goto(`/console/webhooks/${webhook}?state=delivered`);
      await tab.getByText("resend", { exact: true }).first().waitFor();
      await tab.goto("/console");
      await tab.getByText(/Nothing that this service knows of/).waitFor();
    });

    const arrived = hook.received.slice(refused);
    assert.deepEqual(
      arrived.map(({ message }) => message.data.attributes.count),
      ["1", "2", "3"],
    );
    const first = hook.received.slice(0, refused).map(({ headers }) => headers["webhook-id"]);
    assert.deepEqual(
      arrived.map(({ headers }) => headers["webhook-id"]),
      [...new Set(first)],
    );
  });
});

async function requestOf(tab: Page): Promise<string> {
  return (await tab.locator("pre").filter({ hasText: "webhook-id" }).first().textContent()) ?? "";
}
