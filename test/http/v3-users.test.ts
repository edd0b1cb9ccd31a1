import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { userReadingOn } from "../../src/identity/user-reading.ts";
import { limits } from "../../src/model/limits.ts";
import { cursorsWith } from "../../src/outlets/v3/cursor.ts";
import { userRoutes } from "../../src/outlets/v3/user-routes.ts";
import { assertRefused, madeV3, noonMs } from "./made-v3.ts";

type AnswerList = (
  incoming: object,
  caller: object,
) => Promise<{ readonly body: string; readonly headers: Readonly<Record<string, string>> }>;

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
    assert.equal(answer.headers.get("link"), null);
  });

  it("comes in pages that leave no user out, each with the address of the next", async () => {
    const total = 2 * limits.usersPerAnswer + 7;
    const pages: number[] = [];
    const idsWithin = async (_: unknown, afterId: number, limit: number) => {
      pages.push(limit);
      return Array.from({ length: Math.min(limit, total - afterId) }, (_, index) => afterId + index + 1);
    };
    const store = { read: (body: (tx: unknown) => unknown) => body({ users: { idsWithin } }) };
    const cursors = cursorsWith("a key of this test");
    const [list] = userRoutes({ users: userReadingOn(store as never), cursors });
    const company = { kind: "enterprise", tenantId: 7 };
    const ask = async (query: Readonly<Record<string, string>>, caller: object = company) => {
      const { body, headers } = await (list as unknown as { answer: AnswerList }).answer(
        { query: Object.entries(query) },
        caller,
      );
      return { ids: JSON.parse(body) as number[], next: /cursor=([\w-]+)>; rel="next"$/.exec(headers.link ?? "")?.[1] };
    };
    const first = await ask({});
    const second = await ask({ cursor: first.next! });
    const third = await ask({ cursor: second.next! });
    assert.deepEqual(
      [first, second, third].map(({ ids }) => ids.length),
      [limits.usersPerAnswer, limits.usersPerAnswer, 7],
    );
    assert.equal(third.next, undefined);
    assert.ok([...first.ids, ...second.ids, ...third.ids].every((id, index) => id === index + 1));
    assert.ok(Math.max(...pages) <= 5_000, "one read holds others up");
    await assert.rejects(ask({ cursor: first.next! }, { kind: "enterprise", tenantId: 8 }), { code: "bad_parameter" });
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
