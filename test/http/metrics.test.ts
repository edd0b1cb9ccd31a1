import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { madeServer } from "./made-server.ts";

const token = "a token of the operator";

describe("/metrics", () => {
  it("is open to this machine", async (t) => {
    const { fetch } = await madeServer(t, { metrics: { text: async () => "figures 1\n", token: undefined } });
    assert.equal(await (await fetch("/metrics")).text(), "figures 1\n");
  });

  for (const [host, isOpen] of [
    ["localhost", true],
    ["LOCALHOST:8080", true],
    ["127.0.0.1:8080", true],
    ["127.1.2.3", true],
    ["[::1]:8080", true],
    ["home.example", false],
    ["127.0.0.1.home.example", false],
    ["localhost.home.example:8080", false],
    ["10.0.0.1:8080", false],
    ["[::2]", false],
  ] as const) {
    it(`under the host name ${host} is ${isOpen ? "open to this machine" : "closed without the token"}`, async (t) => {
      const { raw } = await madeServer(t, { metrics: { text: async () => "figures 1\n", token } });
      const ask = (more = "") => raw(`GET /metrics HTTP/1.1\r\nHost: ${host}\r\n${more}Connection: close\r\n\r\n`);
      assert.match(await ask(), isOpen ? /^HTTP\/1.1 200 / : /^HTTP\/1.1 401 [\s\S]*"error":"missing_token"/);
      assert.match(await ask(`Authorization: Bearer ${token}\r\n`), /^HTTP\/1.1 200 /);
    });
  }

  it("is closed without the token to a request that names no host", async (t) => {
    const { raw } = await madeServer(t, { metrics: { text: async () => "figures 1\n", token } });
    assert.match(await raw("GET /metrics HTTP/1.0\r\n\r\n"), /^HTTP\/1.1 401 /);
  });

  for (const [name, value] of [
    ["x-forwarded-for", "127.0.0.1"],
    ["x-real-ip", "127.0.0.1"],
    ["forwarded", "for=127.0.0.1"],
    ["via", "1.1 proxy"],
  ] as const) {
    it(`needs the token for requests of a proxy on this machine, which sends ${name}`, async (t) => {
      const { fetch } = await madeServer(t, { metrics: { text: async () => "figures 1\n", token } });
      const ask = (headers = {}) => fetch("/metrics", { headers: { [name]: value, ...headers } });
      const without = await ask();
      assert.deepEqual([without.status, without.headers.get("www-authenticate")], [401, "Bearer"]);
      assert.equal(await errorOf(without), "missing_token");
      const wrong = await ask({ authorization: "Bearer another operator token" });
      assert.deepEqual([wrong.status, await errorOf(wrong)], [401, "invalid_token"]);
      assert.equal((await ask({ authorization: `Bearer ${token}` })).status, 200);
    });
  }

  it("accepts no token when none is configured", async (t) => {
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
