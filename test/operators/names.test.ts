import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { PageContext } from "../../src/outlets/console/console-page.ts";
import { namesOf } from "../../src/outlets/console/kit/names.ts";
import { operatorWorld, password } from "./operator-world.ts";

describe("the names of users, clients and tenants", () => {
  async function world(t: Parameters<typeof operatorWorld>[0]) {
    const made = await operatorWorld(t);
    const owner = await made.owner();
    const { run } = made;
    const { tenantId: otherId } = await run("tenant add", { name: "Other" });
    const { tenantId } = await run("tenant show", { tenant: "Acme" });
    const { userId } = await run("user add", { tenant: "Acme", name: "eve", password });
    const redirect = { "redirect-uri": ["https://voice.example/back"] };
    const { client_id: clientId } = await run("client add", { tenant: "Acme", name: "Voice", ...redirect });
    return { ...made, ada: owner, tenantId, otherId, userId, clientId };
  }

  it("are found by their ids, and what does not exist or is not reached has none", async (t) => {
    const { ada, invited, tenantId, otherId, userId, clientId } = await world(t);
    const path = `/names?user=${userId}&user=2147483647&client=${clientId}&client=bwc_none&tenant=${tenantId}&tenant=${otherId}`;
    const acme = {
      users: [{ userId, name: "eve" }],
      clients: [{ clientId, name: "Voice" }],
      tenants: [{ tenantId, name: "Acme" }],
    };
    const other = { tenantId: otherId, name: "Other" };
    const all = await ada.call("GET", path);
    assert.deepEqual([all.status, all.body], [200, { ...acme, tenants: [...acme.tenants, other] }]);
    const inside = await invited("grace", { role: "tenantAdmin", tenant: ["Acme"] });
    assert.deepEqual((await inside.call("GET", path)).body, acme);
    const outside = await invited("olga", { role: "viewer", tenant: ["Other"] });
    assert.deepEqual((await outside.call("GET", path)).body, { users: [], clients: [], tenants: [other] });
    assert.deepEqual((await ada.call("GET", "/names")).body, { users: [], clients: [], tenants: [] });
  });

  it("are refused for text that is no id, and for too many ids", async (t) => {
    const { ada, run } = await world(t);
    assert.equal((await ada.call("GET", "/names?user=eve")).status, 400);
    assert.equal((await ada.call("GET", "/names?tenant=Acme")).status, 400);
    await assert.rejects(run("names", { client: new Array(1_001).fill("bwc_x") }), /at most 1000/);
  });

  it("take one call for a page of the console, however many it mentions", async () => {
    const calls: unknown[] = [];
    const context = {
      address: (path: string) => path,
      tenants: [{ tenantId: 42, name: "Acme" }],
      async call(act: string, input: object) {
        calls.push([act, input]);
        return { users: [{ userId: 1, name: "eve" }], clients: [{ clientId: "bwc_1", name: "Voice" }], tenants: [] };
      },
    } as unknown as PageContext;
    const entries = Array.from({ length: 50 }, (_, n) => ({ userId: 1 + (n % 2), clientId: `bwc_${1 + (n % 2)}` }));
    const names = await namesOf(context, [...entries, { userId: null, clientId: null }]);
    assert.deepEqual(calls, [["names", { user: ["1", "2"], client: ["bwc_1", "bwc_2"] }]]);
    assert.deepEqual([...names.users], [[1, "eve"]]);
    assert.deepEqual([...names.clients], [["bwc_1", "Voice"]]);
    assert.deepEqual([...names.tenants], [[42, "Acme"]]);
    await namesOf(context, [{ userId: null }]);
    assert.equal(calls.length, 1, "nothing is asked when nothing is mentioned");
  });

  it("are in the file of the audit log, beside the ids", async (t) => {
    const { ada, invited, userId, clientId, tenantId, run } = await world(t);
    await run("user suspend", { user: String(userId) });
    const linesOf = async (browser: typeof ada) =>
      (await (await browser.get("/console/audit.csv")).text()).split("\r\n");
    const [head, ...lines] = await linesOf(ada);
    assert.equal(head, "time,act,operator,user,client,tenant,from,detail,user name,client name,tenant name");
    const cellsOf = (act: string) => lines.find((line) => line.includes(act))?.split(",");
    const suspended = cellsOf("user suspend");
    assert.deepEqual(
      [suspended?.slice(3, 6), suspended?.slice(-3)],
      [
        [`${userId}`, "", `${tenantId}`],
        ["eve", "", "Acme"],
      ],
    );
    const added = cellsOf("client add");
    assert.deepEqual(
      [added?.slice(3, 6), added?.slice(-3)],
      [
        ["", clientId, `${tenantId}`],
        ["", "Voice", "Acme"],
      ],
    );
    await run("user remove", { user: String(userId) });
    const [, ...after] = await linesOf(ada);
    assert.match(after.find((line) => line.includes("user suspend"))!, new RegExp(`,${userId},.*,,,Acme$`));
    const outside = await invited("olga", { role: "viewer", tenant: ["Other"] });
    assert.doesNotMatch((await linesOf(outside)).join(), /Acme|Voice|eve/);
  });
});
