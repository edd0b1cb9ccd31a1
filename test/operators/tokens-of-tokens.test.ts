import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { operatorWorld } from "./operator-world.ts";

describe("a token that makes another one over /admin/v1", () => {
  it("is named as its maker, and ends it when it is revoked", async (t) => {
    const { owner, callWith, run } = await operatorWorld(t);
    await owner("ada");
    const parent = await run("operator token make", { operator: "ada", name: "deploy", days: "3" });
    const make = (token: string, input: object) => callWith(token, "POST", "/operators/ada/tokens", input);
    const { status, body } = await make(parent.token, { name: "too long", days: 4 });
    assert.deepEqual([status, body.error], [400, "invalid_request"]);
    assert.match(body.error_description, /valid until .*Choose at most \d, or leave days out/);
    const child = (await make(parent.token, { name: "child" })).body;
    assert.deepEqual([child.madeBy, child.expires], [parent.tokenId, parent.expires]);
    const [entry] = (await run("audit list", { limit: "1" })).entries;
    assert.deepEqual([entry.detail.madeBy, entry.detail.expires], [parent.tokenId, parent.expires]);
    assert.equal((await callWith(child.token, "GET", "/tenants")).status, 200);
    await run("operator token revoke", { id: parent.tokenId });
    for (const { token } of [parent, child]) assert.equal((await callWith(token, "GET", "/tenants")).status, 401);
  });
});
