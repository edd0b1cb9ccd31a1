import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { linkWorld } from "../link-sessions/link-world.ts";
import { formOf } from "../oauth/scripted-browser.ts";
import { startCommand } from "./long-running-command.ts";
import { typed } from "./typed.ts";

describe("breezeway link page", () => {
  it("prints the address of a page, waits, and tells which device was linked", async (t) => {
    const { world, environment, page } = await madePages(t);
    const lampId = await world.addDevice(world.userId, "Lamp");
    const { child, next } = startCommand(t, ["event", "watch", "--link-sessions", "--tenant", "Acme"], environment);
    // The first event shows that the command listens.
    let isListening = false;
    const first = next().then(() => {
      isListening = true;
    });
    for (let turn = 0; !isListening; turn++) {
      const { code, err } = await typed(["device", "set", String(lampId), `power=${turn}`], { environment });
      assert.equal(code, 0, err);
    }
    await first;
    const { address, outcome } = await page(["--user", String(world.userId)], environment);
    const done = await world.visitor().link(address, world.accounts.maple);
    assert.match(done.body, /Maple Street: 2 thermostats, 3 alarms/);
    const { code, json } = await outcome;
    assert.deepEqual([code, json.status], [0, "linked"]);
    let event = await next();
    while (event.type !== "linkSession") event = await next();
    assert.deepEqual([event.linkSessionId, event.status, event.deviceId], [json.id, "linked", json.deviceId]);
    child.kill("SIGINT");
    const again = await typed(["link", "page", "--user", String(world.userId)], { environment });
    assert.notEqual(again.code, 0);
    assert.match(again.err, /already connected/);
  });

  it("tells that the owner declined, and ends with a failure", async (t) => {
    const { world, environment, page } = await madePages(t);
    const { address, outcome } = await page(["--user", String(world.userId)], environment, 100);
    const visitor = world.visitor();
    const signIn = await visitor.open(address);
    assert.match(signIn.body, />Acme<\/bdi> asks to connect your home\./);
    const connect = await visitor.signIn(signIn);
    assert.doesNotMatch(signIn.body + connect.body, /Command line/);
    await visitor.browser.submit(formOf(connect), { decision: "cancel" });
    const { code, out } = await outcome;
    assert.equal(code, 1);
    assert.match(out, /The account's owner declined\. Nothing was connected\./);
    const other = await world.visitor().open(address);
    assert.match(other.body, /Ask <bdi[^>]*>Acme<\/bdi> for a new link/);
  });
});

/** A service whose ecosystem has link pages, and commands on its machine. */
async function madePages(t: TestContext) {
  const world = await linkWorld(t);
  const environment = { BREEZEWAY_DATA: world.folder, NO_COLOR: "1" };
  /** Begins the command. Resolves with the page's address, while the command waits. */
  const page = async (args: readonly string[], within: Record<string, string>, columns?: number) => {
    const printed = Promise.withResolvers<string>();
    const onError = (text: string) => {
      const [address] = /http\S+\/link\/sessions\/\S+/.exec(text) ?? [];
      if (address) printed.resolve(address);
    };
    const context = { environment: within, onError, ...(columns !== undefined && { columns }) };
    const outcome = typed(["link", "page", ...args], context);
    outcome.then(({ err }) => printed.reject(new Error(`no address: ${err}`)), printed.reject);
    return { address: await printed.promise, outcome };
  };
  return { world, environment, page };
}
