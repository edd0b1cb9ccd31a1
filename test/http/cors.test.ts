import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { everyAddress, everyPath } from "../isolation/every-address.ts";
import { madeServer } from "./made-server.ts";

const origin = "https://app.example";
const preflight = (method = "GET", from = origin) => ({
  method: "OPTIONS",
  headers: { origin: from, "access-control-request-method": method, "access-control-request-headers": "authorization" },
});
const concrete = (path: string) => path.replace(/(?<=\/):\w+/g, "1");
const ofCors = (headers: Headers) => [...headers.keys()].filter((name) => name.startsWith("access-control-"));

/** Whether pages of other origins may call the path, as docs/interface.md says. */
const isAllowedPath = (path: string) =>
  /^\/(v3|adaptor|zdk\/services\/zamapi)\//.test(path) || /^\/oauth2\/(access|revoke)_token$/.test(path);

describe("a page of a named origin", () => {
  it("may call the paths that take a token or a secret, by their methods, and no other path", async (t) => {
    const { fetch } = await madeServer(t, { corsOrigins: ["http://localhost:3000", origin] });
    for (const [path, methods] of everyPath()) {
      const answer = await fetch(concrete(path), preflight());
      if (isAllowedPath(path)) {
        assert.equal(answer.status, 204, path);
        assert.equal(answer.headers.get("access-control-allow-origin"), origin);
        assert.equal(answer.headers.get("access-control-allow-methods"), methods.join(", "));
        assert.equal(
          answer.headers.get("access-control-allow-headers"),
          "authorization, content-type, idempotency-key, last-event-id",
        );
        assert.equal(answer.headers.get("access-control-max-age"), "7200");
        assert.equal(answer.headers.get("vary"), "Origin");
        assert.equal(await answer.text(), "");
      } else {
        assert.equal(answer.status, 405, path);
        assert.deepEqual(ofCors(answer.headers), [], path);
      }
      assert.equal(answer.headers.get("access-control-allow-credentials"), null);
    }
  });

  it("can read answers and refusals, with their headers about tokens and retries", async (t) => {
    const { fetch } = await madeServer(t, { corsOrigins: [origin] });
    for (const { method, path } of everyAddress()) {
      const answer = await fetch(concrete(path), { method, headers: { origin } });
      await answer.arrayBuffer();
      assert.equal(answer.headers.get("access-control-allow-origin"), isAllowedPath(path) ? origin : null, path);
      if (!isAllowedPath(path)) continue;
      assert.equal(
        answer.headers.get("access-control-expose-headers"),
        "www-authenticate, retry-after, x-request-id, idempotency-replayed, link",
      );
      assert.equal(answer.headers.get("access-control-allow-credentials"), null);
    }
    const refused = await fetch("/v3/users", { method: "PATCH", headers: { origin } });
    assert.deepEqual([refused.status, refused.headers.get("access-control-allow-origin")], [405, origin]);
  });
});

describe("a page of any other origin", () => {
  it("gets no permission, and the answer says that it varies by origin", async (t) => {
    const { fetch } = await madeServer(t, { corsOrigins: [origin] });
    const others = [
      "https://evil.example",
      "https://app.example.evil.example",
      "http://app.example",
      "null",
      `${origin}:8443`,
    ];
    for (const other of others) {
      const answer = await fetch("/v3/devices", preflight("GET", other));
      assert.deepEqual([answer.status, ofCors(answer.headers)], [405, []], other);
      assert.equal(answer.headers.get("vary"), "Origin");
    }
    const plain = await fetch("/v3/devices");
    assert.deepEqual([ofCors(plain.headers), plain.headers.get("vary")], [[], "Origin"]);
  });

  it("gets no permission while no origin is configured", async (t) => {
    const { fetch } = await madeServer(t);
    for (const path of everyPath().keys()) {
      const answer = await fetch(concrete(path), preflight());
      assert.deepEqual([answer.status, ofCors(answer.headers), answer.headers.get("vary")], [405, [], null], path);
    }
  });
});
