import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assertFault, textsOf } from "../platform/made-platform.ts";
import { readStrictly } from "../platform/strict-xml.ts";
import { madeServer } from "./made-server.ts";

async function read(answer: Response) {
  assert.equal(answer.headers.get("content-type"), "text/xml; charset=utf-8");
  return { status: answer.status, root: readStrictly(await answer.text()) };
}

const login = new URLSearchParams({ name: "alice", password: "correct horse", appId: "7" });

describe("a platform call over HTTP", () => {
  it("is a GET with a query or a POST with a form", async (t) => {
    const { fetch, userId } = await madeServer(t);
    for (const answer of [
      await fetch(`/zdk/services/zamapi/userLogin?${login}`),
      await fetch("/zdk/services/zamapi/userLogin", { method: "POST", body: login }),
      await fetch(`/zdk/services/zamapi/userLogin?${login}`, { method: "POST" }),
    ]) {
      const { status, root } = await read(answer);
      assert.equal(status, 200);
      const { userId: answered, securityToken } = textsOf(root);
      assert.equal(answered, String(userId));
      const list = await read(await fetch(`/zdk/services/zamapi/getDeviceList?secToken=${securityToken}`));
      assert.equal(list.status, 200);
    }
  });

  it("carries names in any script both ways", async (t) => {
    const { fetch, identity, secToken, addDevice } = await madeServer(t);
    const name = "שלום Zoë <&]]> 🏠";
    await identity.addUser({ tenant: "Acme", name, password: "пароль длинный", isAdmin: false });
    const form = new URLSearchParams({ name, password: "пароль длинный", appId: "7" });
    assert.equal((await fetch("/zdk/services/zamapi/userLogin", { method: "POST", body: form })).status, 200);
    await addDevice(name);
    const { root } = await read(await fetch(`/zdk/services/zamapi/getDeviceList?secToken=${secToken}`));
    assert.equal(textsOf(root.children[0]!).devName, name);
  });

  it("with a repeated parameter is 102, in query or form", async (t) => {
    const { fetch } = await madeServer(t);
    const twice = await fetch(`/zdk/services/zamapi/userLogin?${login}&appId=7`);
    assertFault(await read(twice), 102, "The parameter appId was sent more than once.");
    const split = await fetch("/zdk/services/zamapi/userLogin?appId=7", { method: "POST", body: login });
    assertFault(await read(split), 102, "The parameter appId was sent more than once.");
  });

  it("that fails is a fault with HTTP 500, and says when to try again", async (t) => {
    const { fetch } = await madeServer(t);
    assertFault(await read(await fetch("/zdk/services/zamapi/getDeviceList")), 106, "Invalid security token.");
    assertFault(await read(await fetch(`/zdk/services/zamapi/${"x".repeat(2_000)}`)), 103);
    assertFault(await read(await fetch("/zdk/services/zamapi/%3C%26")), 103);
    const wrong = new URLSearchParams({ name: "alice", password: "wrong one", appId: "7" });
    for (let failure = 0; failure < 5; failure++) {
      assertFault(await read(await fetch("/zdk/services/zamapi/userLogin", { method: "POST", body: wrong })), 101);
    }
    const refused = await fetch("/zdk/services/zamapi/userLogin", { method: "POST", body: login });
    assert.equal(refused.headers.get("retry-after"), "1");
    assertFault(await read(refused), 107);
  });

  it("takes no other body than a form", async (t) => {
    const { fetch } = await madeServer(t);
    for (const contentType of ["application/json", "text/xml", "text/plain"]) {
      const headers = { "content-type": contentType };
      const answer = await read(await fetch("/zdk/services/zamapi/userLogin", { method: "POST", headers, body: "{}" }));
      assert.equal(answer.status, 415, contentType);
      assert.equal(answer.root.name, "ns1:requestFault");
    }
  });
});
