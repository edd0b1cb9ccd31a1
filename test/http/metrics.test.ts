import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { madeServer } from "./made-server.ts";

const token = "a token of the operator";

describe("/metrics", () => {
  it("is open to this machine", async (t) => {
    const { fetch } = await madeServer(t, { metrics: { text: async () => "figures 1\n", token: undefined } });
    assert.equal(await (await fetch("/metrics")).text(), "figures 1\n");
  });

  for (const [name, value] of [
    ["x-forwarded-for", "127.0.0.1"],
    ["x-real-ip", "127.0.0.1"],
    ["forwarded", "for=127.0.0.1"],
    ["via", "1.1 proxy"],
  ] as const) {
    it(`is closed to what a proxy on this machine passes on with ${name}, but for the token`, async (t) => {
      const { fetch } = await madeServer(t, { metrics: { text: async () => "figures 1\n", token } });
      const ask = (headers = {}) => fetch("/metrics", { headers: { [name]: value, ...headers } });
      const without = await ask();
      assert.deepEqual([without.status, without.headers.get("www-authenticate")], [401, "Bearer"]);
      assert.equal(await errorOf(without), "missing_token");
      const wrong = await ask({ authorization: "Bearer another token of him" });
      assert.deepEqual([wrong.status, await errorOf(wrong)], [401, "invalid_token"]);
      assert.equal((await ask({ authorization: `Bearer ${token}` })).status, 200);
    });
  }

  it("has no token by which it opens when none is set", async (t) => {
    const { fetch } = await madeServer(t, { metrics: { text: async () => "figures 1\n", token: undefined } });
    for (const bearer of ["", "undefined", "null"]) {
      const headers = { via: "1.1 proxy", authorization: `Bearer ${bearer}` };
      assert.equal((await fetch("/metrics", { headers })).status, 401);
    }
  });
});

async function errorOf(answer: Response): Promise<string> {
  return ((await answer.json()) as { error: string }).error;
}
