import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { first, simulatorWorld } from "./world.ts";

describe("the ecosystem's second host", () => {
  it("is the target of the first host's redirects for every request to the document", async (t) => {
    const { simulator, account } = await secondHostWorld(t);
    assert.deepEqual(
      simulator.hosts,
      [simulator.url, simulator.secondUrl!].map((url) => new URL(url).host),
    );
    for (const [method, body] of [["GET"], ["PUT", '{"away":"away"}'], ["POST", "x"]] as const) {
      const response = await fetch(`${simulator.url}/structures/x?y=%20`, {
        method,
        redirect: "manual",
        headers: { Authorization: `Bearer ${account.token}` },
        ...(body && { body }),
      });
      assert.equal(response.status, 307);
      assert.equal(response.headers.get("location"), `${simulator.secondUrl}/structures/x?y=%20`);
    }
  });

  it("refuses requests without Authorization, which clients drop when they follow redirects automatically", async (t) => {
    const { simulator, account } = await secondHostWorld(t);
    const followed = await fetch(simulator.url, { headers: { Authorization: `Bearer ${account.token}` } });
    assert.deepEqual([followed.redirected, followed.status], [true, 401]);
  });

  it("answers reads, streams and commands", async (t) => {
    const { simulator, account } = await secondHostWorld(t);
    const { structure_id: id } = first((await account.document()).structures);
    const written = await fetch(`${simulator.secondUrl}/structures/${id}`, {
      method: "PUT",
      headers: { Authorization: `Bearer ${account.token}` },
      body: '{"away":"away"}',
    });
    assert.equal(written.status, 200);
    const read = await fetch(`${simulator.secondUrl}/structures/${id}/away?auth=${account.token}`);
    assert.equal(await read.json(), "away");
  });

  it("has neither the control interface nor the sign-in, and the first host does not redirect those", async (t) => {
    const { simulator, call } = await secondHostWorld(t);
    for (const path of ["/simulator", "/login/oauth2", "/oauth2/access_token"]) {
      assert.equal((await fetch(simulator.secondUrl + path)).status, 401, path);
    }
    assert.equal((await call("GET", "/simulator")).status, 200);
    assert.equal((await call("GET", "/", undefined, "c.wrong")).status, 401);
  });

  it("exists only on request", async (t) => {
    const { simulator } = await simulatorWorld(t);
    assert.deepEqual([simulator.secondUrl, simulator.hosts.length], [undefined, 1]);
  });
});

async function secondHostWorld(test: Parameters<typeof simulatorWorld>[0]) {
  const world = await simulatorWorld(test, { redirect: "second-host" });
  return { ...world, account: await world.account() };
}
