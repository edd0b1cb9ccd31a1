import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { madeServer } from "./made-server.ts";

const right = { username: "alice", password: "correct horse" };

async function sessionServer(t: TestContext) {
  const made = await madeServer(t);
  const open = (body: unknown, { appId = "7", type = "application/json" } = {}) =>
    made.fetch(`/acc/applications/${appId}/sessions`, {
      method: "POST",
      headers: { "content-type": type },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  const refusal = async (response: Promise<Response>) => {
    const answer = await response;
    const body = (await answer.json()) as { errorCode: number; errorMessage: string };
    assert.deepEqual(Object.keys(body), ["errorCode", "errorMessage"]);
    return { status: answer.status, headers: answer.headers, ...body };
  };
  return { ...made, open, refusal };
}

describe("a session by JSON", () => {
  it("answers the user's id and a security token that works, and is in the audit log", async (t) => {
    const { open, fetch, userId, tenantId, identity, log } = await sessionServer(t);
    assert.equal((await open(right, { appId: "Acme" })).status, 200, "by the tenant's name");
    const answer = await open({ ...right, remember: true });
    assert.equal(answer.status, 200);
    const session = (await answer.json()) as { userId: number; securityToken: string };
    assert.deepEqual(Object.keys(session), ["userId", "securityToken"]);
    assert.equal(session.userId, userId);
    const devices = await fetch(`/zdk/services/zamapi/getDeviceList?secToken=${session.securityToken}`);
    assert.equal(devices.status, 200);
    const [entry] = await identity.audit.list({ limit: 1 });
    assert.deepEqual([entry?.act, entry?.tenantId, entry?.userId], ["sign_in", tenantId, userId]);
    assert.doesNotMatch(log(), /correct horse|bws_/);
  });

  it("is refused with 403 and 101, whatever of it is wrong", async (t) => {
    const { open, refusal, identity } = await sessionServer(t);
    for (const answer of [
      open({ ...right, password: "wrong" }),
      open({ ...right, username: "bob" }),
      open(right, { appId: "8" }),
      open(right, { appId: "Emca" }),
      open(right, { appId: "%00" }),
    ]) {
      const { status, errorCode, errorMessage } = await refusal(answer);
      assert.deepEqual([status, errorCode, errorMessage], [403, 101, "Invalid login name or password."]);
    }
    const acts = (await identity.audit.list({ limit: 5 })).map(({ act }) => act);
    assert.deepEqual(acts, Array(5).fill("sign_in_failed"));
  });

  it("needs a JSON object with two strings, and says what is missing", async (t) => {
    const { open, refusal, hashRuns } = await sessionServer(t);
    hashRuns.count = 0;
    const username = "The member username of the body must be a string that isn't empty.";
    const password = "The member password of the body must be a string that isn't empty.";
    const object = "The body must be a JSON object with username and password.";
    for (const [body, sentence] of [
      [{ password: "x" }, username],
      [{ username: "" }, username],
      [{ username: 7, password: "x" }, username],
      [{ username: "alice" }, password],
      [{ username: "alice", password: null }, password],
      [[right], object],
      ["null", object],
      ["", object],
      ["{", "The body isn't JSON."],
    ] as const) {
      const { status, errorCode, errorMessage } = await refusal(open(body));
      assert.deepEqual([status, errorCode, errorMessage], [400, 102, sentence]);
    }
    const form = String(new URLSearchParams(right));
    const { status, errorCode } = await refusal(open(form, { type: "application/x-www-form-urlencoded" }));
    assert.deepEqual([status, errorCode], [415, 102]);
    assert.equal(hashRuns.count, 0);
  });

  it("shares the count of failures with userLogin", async (t) => {
    const { open, refusal, fetch } = await sessionServer(t);
    for (let failure = 0; failure < 5; failure++) await open({ ...right, password: "wrong" });
    const { status, errorCode, headers } = await refusal(open(right));
    assert.deepEqual([status, errorCode, headers.get("retry-after")], [429, 107, "1"]);
    const login = new URLSearchParams({ name: "alice", password: "correct horse", appId: "7" });
    assert.match(await (await fetch(`/zdk/services/zamapi/userLogin?${login}`)).text(), /<errorCode>107</);
  });
});
