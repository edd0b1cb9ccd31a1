import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assertRefused, madeV3, noonMs } from "./made-v3.ts";

describe("the list of users", () => {
  it("has the user itself for a user's token, and every user of the tenant for an enterprise client, ascending", async (t) => {
    const { get, alice, bob, carol } = await madeV3(t);
    const list = async (token: Parameters<typeof get>[0]) => (await get(token, "/v3/users")).body;
    assert.deepEqual(await list("alice"), [alice]);
    assert.deepEqual(await list("carol"), [carol]);
    assert.deepEqual(await list("acme"), [alice, bob]);
    assert.deepEqual(await list("other"), [carol]);
  });

  it("is a plain array of integers", async (t) => {
    const { call, alice, bob } = await madeV3(t);
    const answer = await call("acme", "/v3/users");
    assert.match(answer.headers.get("content-type")!, /^application\/json/);
    assert.equal(await answer.text(), `[${alice},${bob}]`);
  });
});

describe("a user's record", () => {
  it("has id, name, tenant and creation time", async (t) => {
    const { get, alice } = await madeV3(t);
    const expected = { userId: alice, userName: "alice", tenant: "Acme", createdTime: noonMs };
    assert.deepEqual((await get("alice", `/v3/users/${alice}`)).body, expected);
    assert.deepEqual((await get("acme", `/v3/users/${alice}`)).body, expected);
  });

  it("gives the same answer for another user, an absent user and a malformed id", async (t) => {
    const { get, bob, carol } = await madeV3(t);
    const ids = [
      carol,
      999,
      2 ** 31,
      "0",
      "-1",
      "01",
      "1.0",
      "abc",
      "%00",
      "1%20",
      "%F0%9F%8F%A0",
      "1%2F2",
      "9".repeat(300),
    ];
    const seen = new Set<string>();
    for (const [token, strangers] of [
      ["alice", [bob, ...ids]],
      ["acme", ids],
    ] as const) {
      for (const id of strangers) {
        const answer = await get(token, `/v3/users/${id}`);
        assertRefused(answer, 404, "not_found");
        const { request_id, ...rest } = answer.body;
        seen.add(JSON.stringify(rest));
      }
    }
    assert.deepEqual([...seen], ['{"error":"not_found","error_description":"User does not exist."}']);
  });
});
