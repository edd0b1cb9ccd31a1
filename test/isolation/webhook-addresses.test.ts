import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { consolePages } from "../../src/outlets/console/pages.ts";
import { addressOf, fixtureOf } from "../operators/call-fixture.ts";
import { operatorWorld } from "../operators/operator-world.ts";
import { eventually } from "../stories/world.ts";

const canary = "CANARY-OF-ADDRESS";
const hasCanary = new RegExp(canary, "i");

describe("the address of a webhook", () => {
  it("has neither query nor user for a viewer, in any answer of /admin/v1 and on any page", async (t) => {
    const world = await operatorWorld(t);
    const { run, service, logged } = world;
    const ada = await world.owner();
    const vera = await world.invited("vera", { role: "viewer" });
    const fixture = await fixtureOf(world, `http://127.0.0.1:9/path?token=${canary}`);
    const { store } = service.parts;
    // Addresses with a user and a fragment are refused now.
    await store.transaction(async (tx) => {
      const [row] = await tx.webhooks.listed({ afterId: "", limit: 1 });
      const url = `http://${canary}:${canary}@127.0.0.1:9/older?${canary}#${canary}`;
      await tx.webhooks.add({ ...row!, id: "wh_older", url, sealedUrl: null });
    });
    const { webhooks } = await run("hook list");
    for (const { webhookId } of webhooks) await run("hook test", { webhook: webhookId });
    await eventually(t.signal, async () => {
      const { webhooks: tried } = await run("hook list");
      assert.deepEqual(
        tried.map(({ state }: { state: string }) => state),
        ["retrying", "retrying"],
      );
    });
    await run("hook pause", { webhook: "wh_older" });

    const { calls } = service.parts.administration;
    const answers = new Map<string, string>();
    for (const [act, makeSent] of fixture) {
      const call = calls.find((one) => one.act === act)!;
      if (call.method !== "GET" || act.startsWith("outlet ")) continue;
      const { path } = addressOf(call, await makeSent());
      answers.set(act, await (await vera.ask("GET", path)).text());
    }
    const { webhookId } = webhooks.find((one: { webhookId: string }) => one.webhookId !== "wh_older");
    const [{ deliveryId }] = (await run("hook deliveries", { webhook: webhookId })).deliveries;
    const { users } = await run("user list");
    const { clients } = await run("client list");
    const { entries } = await run("audit list");
    assert.ok(entries.length > 0);
    const values: Readonly<Record<string, string>> = {
      ...{
        webhook: webhookId,
        user: String(users[0].userId),
        client: clients[0].client_id,
        ecosystem: "nest",
        id: "Acme",
      },
      ...{ device: "1", alert: "1", operator: "vera" },
    };
    const paths = consolePages.map(({ path }) => path.replace(/:(\w+)/g, (_, name) => values[name] ?? "none"));
    const more = [
      ...["/audit.csv", "/webhooks/wh_older", "/search?q=wh_older", `/search?q=${webhookId}`, "/webhooks?parts=list"],
      ...[`/webhooks/${webhookId}?delivery=${deliveryId}`, `/webhooks/${webhookId}?parts=webhook`],
    ];
    for (const path of [...paths, ...more]) answers.set(path, await (await vera.get(`/console${path}`)).text());

    for (const [where, text] of answers) assert.doesNotMatch(text, hasCanary, where);
    for (const where of ["hook list", "hook show", "attention", "", "/webhooks", `/search?q=${webhookId}`]) {
      assert.match(answers.get(where)!, /http:\/\/127\.0\.0\.1:9\/(?:path|older)/, where);
    }
    assert.match(answers.get("/webhooks/wh_older")!, /http:\/\/127\.0\.0\.1:9\/older/);
    assert.match((await ada.call("GET", `/webhooks/${webhookId}`)).body.url, hasCanary, "an owner sees all of it");
    assert.match(await (await ada.get(`/console/webhooks/${webhookId}`)).text(), hasCanary);
    assert.doesNotMatch(await (await fetch(`${service.baseUrl}/metrics`)).text(), hasCanary);
    assert.doesNotMatch(logged.join("\n"), hasCanary);
  });
});
