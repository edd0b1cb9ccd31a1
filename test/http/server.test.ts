import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { describe, it } from "node:test";
import Fastify from "fastify";
import type { Callers } from "../../src/http/request/caller.ts";
import { addRoutes, type Route } from "../../src/http/routes.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import { limits } from "../../src/model/limits.ts";
import { startOutlets } from "../../src/outlets/serve.ts";
import { withoutRandomParts } from "./fast-path-and-fastify.ts";
import { madeServer } from "./made-server.ts";

describe("every answer", () => {
  it("has a request id of the service, is not cached and is not sniffed for its type", async (t) => {
    const { fetch, reported, raw, server } = await madeServer(t);
    const answers = await Promise.all([
      fetch("/livez", { headers: { "x-request-id": "mine", "request-id": "mine" } }),
      fetch("/nowhere"),
      fetch("/livez", { method: "DELETE" }),
      fetch("/adaptor/largestrings"),
      fetch("/zdk/services/zamapi/nothing"),
      fetch("/bad%ZZpath"),
    ]);
    const ids = answers.map(({ headers }) => {
      assert.equal(headers.get("cache-control"), "no-store");
      assert.equal(headers.get("x-content-type-options"), "nosniff");
      assert.equal(headers.get("strict-transport-security"), null, "it speaks plain HTTP");
      return headers.get("x-request-id");
    });
    assert.equal(new Set(ids).size, answers.length);
    assert.ok(ids.every((id) => /^[0-9a-f-]{36}$/.test(id!)));
    const broken = await raw("NONSENSE\r\n\r\n");
    assert.match(broken, /^HTTP\/1.1 400 /);
    assert.match(broken, /cache-control: no-store\r\n/);
    ids.push(/x-request-id: (\S+)/.exec(broken)![1]!);
    await server.stop();
    const logged = new Set(reported.map(({ fields }) => (fields as { requestId: string }).requestId));
    assert.deepEqual(logged, new Set(ids));
  });

  it("leaves one line in the log: method, pattern, status, time", async (t) => {
    const { fetch, reported, secToken, server, tenantId } = await madeServer(t);
    await fetch(`/zdk/services/zamapi/getDeviceList?secToken=${secToken}`);
    await fetch("/secret/place?x=1");
    await server.stop();
    assert.deepEqual(
      reported.map(({ level, fields, sentence }) => {
        const { requestId: _, ms, ...rest } = fields as { requestId: string; ms: number };
        assert.equal(typeof ms, "number");
        return { level, sentence, ...rest };
      }),
      [
        {
          level: "info",
          sentence: "request answered",
          method: "GET",
          route: "/zdk/services/zamapi/:operation",
          operation: "getDeviceList",
          status: 200,
          tenantId,
          clientId: undefined,
        },
        { level: "info", sentence: "request answered", method: "GET", route: "-", status: 404 },
      ],
    );
  });
});

describe("a request with a Content-Type and no body", () => {
  it("is answered like a request without a body", { timeout: 20_000 }, async (t) => {
    const { raw } = await madeServer(t);
    for (const [method, path, status] of [
      ["GET", "/livez", 200],
      ["POST", "/zdk/services/zamapi/userLogin", 500],
      ["PUT", "/adaptor/federatedtokens", 401],
      ["DELETE", "/adaptor/federatedtokens", 401],
    ] as const) {
      for (const type of ["application/json", "application/x-www-form-urlencoded"]) {
        const head = `${method} ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\nConnection: close\r\n`;
        const answer = await raw(`${head}\r\n`);
        assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `), `${method} ${type}`);
        const withLength = await raw(`${head}Content-Length: 0\r\n\r\n`);
        assert.equal(withoutRandomParts(answer), withoutRandomParts(withLength));
      }
    }
  });
});

describe("HEAD", () => {
  it("is answered like GET, without the body, and later answers on the connection stay in order", async (t) => {
    const { raw, secToken, addDevice } = await madeServer(t);
    const largeStrings = `/adaptor/largestrings?${new URLSearchParams({ secToken, id: String(await addDevice("Lamp")) })}`;
    for (const path of [
      "/docs",
      "/openapi.json",
      "/v3/users",
      "/v3/devices/1",
      "/nowhere",
      "/oauth2/authorize",
      largeStrings,
    ]) {
      const [head, got] = await Promise.all(
        ["HEAD", "GET"].map((method) => raw(`${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)),
      );
      const headOf = (answer = "") => withoutRandomParts(answer.slice(0, answer.indexOf("\r\n\r\n") + 4));
      assert.equal(withoutRandomParts(head ?? ""), headOf(got), path);
      assert.match(head ?? "", /content-length: [1-9]/, path);
    }
  });

  it("is refused for platform operations, because operations change state by GET too", async (t) => {
    const { fetch } = await madeServer(t);
    const answer = await fetch("/zdk/services/zamapi/userLogout", { method: "HEAD" });
    assert.deepEqual([answer.status, answer.headers.get("allow")], [405, "GET, POST"]);
  });
});

describe("a request that HTTP refuses", () => {
  it("to an unknown path is 404, with a wrong method 405 and the right ones", async (t) => {
    const { fetch } = await madeServer(t);
    const unknown = await fetch("/v9/nothing", {
      method: "POST",
      headers: { "content-type": "text/xml" },
      body: "<x/>",
    });
    assert.equal(unknown.status, 404);
    const body = (await unknown.json()) as Record<string, string>;
    assert.deepEqual(body, {
      error: "not_found",
      error_description: "There is nothing at this path.",
      request_id: unknown.headers.get("x-request-id"),
    });
    for (const [path, method, allow] of [
      ["/livez", "POST", "GET, HEAD"],
      ["/v3/users", "POST", "GET, HEAD"],
      ["/v3/devices/1", "POST", "GET, HEAD, PUT, PATCH, DELETE"],
      ["/v3/events", "HEAD", "GET"],
      ["/readyz", "PROPFIND", "GET, HEAD"],
    ] as const) {
      const answer = await fetch(path, { method });
      assert.equal(answer.status, 405, path);
      assert.equal(answer.headers.get("allow"), allow);
      const text = await answer.text();
      if (method !== "HEAD") assert.equal(JSON.parse(text).error, "method_not_allowed");
    }
  });

  it("to a path with an empty id is 404", async (t) => {
    const { fetch } = await madeServer(t);
    const answers = ["/v3/users/", "/v3/devices/", "/v3/alerts/", "/v3/webhooks/?x=1", "/v3/devices//history"].map(
      async (path) => {
        const answer = await fetch(path);
        const { request_id: _, ...body } = (await answer.json()) as Record<string, string>;
        return [answer.status, body.error, body.error_description!.endsWith("Leave out the slash at its end.")];
      },
    );
    const [first, ...others] = await Promise.all(answers);
    assert.deepEqual(first, [404, "not_found", true]);
    assert.deepEqual(others, [first, first, first, [404, "not_found", false]]);
  });

  it("has a body of another type: the answer names the types that the path takes", async (t) => {
    const { fetch, raw } = await madeServer(t);
    const [form, json] = ["application/x-www-form-urlencoded", "application/json"];
    for (const [method, path, accept] of [
      ["PUT", "/v3/devices/1", json],
      ["POST", "/v3/alerts", json],
      ["POST", "/oauth2/access_token", `${form}, ${json}`],
      ["POST", "/oauth2/login", form],
      ["POST", "/adaptor/federatedtokens", `${form}, ${json}`],
      ["POST", "/zdk/services/zamapi/userLogin", form],
      ["POST", "/acc/applications/1/sessions", json],
      ["DELETE", "/v3/alerts/1", null],
    ] as const) {
      const answer = await fetch(path, { method, headers: { "content-type": "text/csv" }, body: "a,b" });
      assert.deepEqual([answer.status, answer.headers.get("accept")], [415, accept], path);
      const expected = accept === null ? "This path takes no body" : accept.replace(", ", " or ");
      assert.ok((await answer.text()).includes(expected), path);
    }
    const gzip = "Content-Encoding: gzip\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
    assert.match(
      await raw(`PUT /v3/devices/1 HTTP/1.1\r\nHost: a\r\n${gzip}`),
      /^HTTP\/1.1 415 [\s\S]*Content-Encoding: it is/,
    );
  });

  it("has two hosts, none, or a whole address where a path should be", async (t) => {
    const { raw } = await madeServer(t);
    for (const request of [
      "GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n",
      "GET /livez HTTP/1.1\r\nHost: a\r\nhost: a\r\nConnection: close\r\n\r\n",
      "GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n",
      "GET http://127.0.0.1/livez HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
      "OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
      "GET /livez HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\nConnection: close\r\n\r\n",
      "GET /livez?\xff HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
      "GET /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    ]) {
      assert.match(await raw(request), /^HTTP\/1.1 400 [\s\S]*"error":"invalid_request"/, request);
    }
    assert.match(await raw("GET /livez HTTP/1.0\r\n\r\n"), /^HTTP\/1.1 200 /);
  });

  it("has malformed percent-encoding, in the path, the query or the form", async (t) => {
    const { fetch } = await madeServer(t);
    const form = { "content-type": "application/x-www-form-urlencoded" };
    for (const [path, init] of [
      ["/%ZZ", {}],
      ["/zdk/services/zamapi/%E0%A4%A", {}],
      ["/zdk/services/zamapi/userLogin?name=%ZZ", {}],
      ["/zdk/services/zamapi/userLogin?name=%FF", {}],
      ["/zdk/services/zamapi/userLogin", { method: "POST", headers: form, body: "name=%" }],
      ["/zdk/services/zamapi/userLogin", { method: "POST", headers: form, body: Buffer.from([0x61, 0x3d, 0xff]) }],
    ] as const) {
      assert.equal((await fetch(path, init)).status, 400, path);
    }
    const adaptor = await fetch("/adaptor/largestrings?id=%ZZ");
    assert.equal(adaptor.status, 400);
    assert.equal(((await adaptor.json()) as { errorCode: number }).errorCode, 102);
  });

  it("is too large", async (t) => {
    const { fetch, raw } = await madeServer(t);
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const send = (length: number) =>
      fetch("/zdk/services/zamapi/userLogin", { method: "POST", headers, body: `name=${"x".repeat(length)}` });
    assert.equal((await send(65_536 - 5)).status, 500);
    assert.equal((await send(65_536 - 4)).status, 413);
    const larger = await send(5_000_000);
    assert.equal(larger.status, 413);
    assert.match(await larger.text(), /larger than 65536 bytes/);
    const toOAuth = await fetch("/oauth2/access_token", { method: "POST", headers, body: "x".repeat(16_385) });
    assert.equal(toOAuth.status, 413);
    assert.match(await toOAuth.text(), /larger than 16384 bytes/);
    const reason = "Request Header Fields Too Large";
    const headTooLarge = await raw(`GET /?${"x".repeat(5_000_000)} HTTP/1.1\r\nHost: a\r\n\r\n`);
    assert.equal(headTooLarge.split("\r\n")[0], `HTTP/1.1 431 ${reason}`);
    const head = (bytes: number) => `GET /?${"x".repeat(bytes)} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
    assert.match(await raw(head(limits.requestHeadBytes - 1_000)), /^HTTP\/1.1 404 /);
    assert.match(await raw(head(limits.requestHeadBytes + 1_000)), /^HTTP\/1.1 431 [\s\S]*"error":"headers_too_large"/);
  });

  it("has more parameters than the limit", async (t) => {
    const reached: string[] = [];
    const { fetch } = await madeServer(t, { onLimitReached: (limit) => reached.push(limit) });
    const path = "/zdk/services/zamapi/userLogin";
    const form = { method: "POST", headers: { "content-type": "application/x-www-form-urlencoded" } };
    const parameters = (count: number) => "a&".repeat(count - 1).concat("a");
    assert.equal((await fetch(`${path}?${parameters(7_000)}`)).status, 500);
    assert.equal((await fetch(path, { ...form, body: parameters(limits.parametersPerRequest) })).status, 500);
    assert.deepEqual(reached, []);
    const answer = await fetch(path, { ...form, body: parameters(limits.parametersPerRequest + 1) });
    assert.equal(answer.status, 500);
    assert.match(await answer.text(), /<errorCode>123</);
    assert.deepEqual(reached, ["parametersPerRequest"]);
  });

  it("takes too long to arrive", async (t) => {
    const { raw } = await madeServer(t, { limits: { headersTimeoutMs: 20, requestTimeoutMs: 40 } });
    assert.match(await raw("GET /livez HTTP/1.1\r\nHost: a\r\n"), /^HTTP\/1.1 408 /);
  });
});

describe("a request with garbage after it", () => {
  const nonsense = "NONSENSE\r\n\r\n";
  const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

  it("gets its own answer, then the garbage is refused", async (t) => {
    const { raw } = await madeServer(t);
    const live = "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n";
    assert.deepEqual(statuses(await raw(live + nonsense)), [200, 400]);
    assert.deepEqual(statuses(await raw(live + live + nonsense + live)), [200, 200, 400]);
    const closing = live.replace("Host", "Connection: close\r\nHost");
    assert.deepEqual(statuses(await raw(closing + nonsense)), [200], "the answer has ended the connection");
  });

  it("gets its answer also when the garbage arrives before the answer is ready", { timeout: 20_000 }, async (t) => {
    const { raw, federation, secToken } = await madeServer(t);
    const begun = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<DeviceId>();
    federation.link = () => {
      begun.resolve();
      return finish.promise;
    };
    const body = new URLSearchParams({ secToken, anEcosystemName: "nest", anAccessToken: "c.abc" }).toString();
    const type = "Content-Type: application/x-www-form-urlencoded";
    const head = `POST /adaptor/federatedtokens HTTP/1.1\r\nHost: a\r\n${type}\r\nContent-Length: ${body.length}`;
    const answers = raw(`${head}\r\n\r\n${body}${nonsense}`);
    await begun.promise;
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
    finish.resolve(5 as DeviceId);
    const text = await answers;
    assert.deepEqual(statuses(text), [200, 400]);
  });

  it("is refused when the garbage is in its body", { timeout: 20_000 }, async (t) => {
    const { raw } = await madeServer(t);
    const live = "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n";
    const type = "Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked";
    const head = `POST /adaptor/federatedtokens HTTP/1.1\r\nHost: a\r\n${type}\r\n\r\n`;
    assert.deepEqual(statuses(await raw(`${live}${head}4\r\nabcd\r\n${nonsense}`)), [200, 400]);
  });
});

describe("the server", () => {
  it("says in a sentence that its port is taken", async (t) => {
    const { server, callers, oauth, v3, calls, federation, identity } = await madeServer(t);
    const second = startOutlets({
      host: "127.0.0.1",
      port: server.port,
      report: { debug() {}, info() {}, warn() {}, error() {} },
      callers,
      oauth,
      v3,
      googleHome: { assistants: {} as never, tokens: {} as never },
      alexa: { alexa: {} as never },
      account: { account: {} as never, identity: {} as never, nowMs: Date.now },
      linkPages: { linkSessions: { steps: [] } },
      admin: { administration: { calls: [] } as never },
      console: {
        operators: {} as never,
        administration: { calls: [] } as never,
        nowMs: Date.now,
        openId: undefined,
        events: {} as never,
        watchOperator: () => () => undefined,
        ecosystems: [],
      },
      platform: calls,
      federation,
      sessions: identity,
      checks: {},
      metrics: { text: async () => "", token: undefined },
      build: { version: "0.0.0", commit: "unknown", schema: 1 },
      baseUrl: () => server.url,
    });
    await assert.rejects(second, (error: Error & { code?: string }) => {
      assert.equal(error.code, "EADDRINUSE");
      assert.match(error.message, new RegExp(`^Port ${server.port} on 127.0.0.1 is taken\\.`));
      return true;
    });
  });

  it("doesn't start with a route that has no access rule", async () => {
    const route = { methods: ["GET"], path: "/open", errors: "standard", answer: async () => undefined };
    const app = Fastify();
    const add = () =>
      addRoutes(app, [route as unknown as Route], {} as Callers, {
        registerStream: () => undefined,
        of: () => undefined,
        work: (_, act) => act(),
      });
    assert.throws(add, /The route GET,HEAD \/open has no access rule/);
    await app.close();
  });

  it("uses X-Forwarded-For from a trusted proxy only", async (t) => {
    const sources: string[] = [];
    const platform = {
      operations: new Map(),
      call: async (_operation: string, _parameters: unknown, source: string) => {
        sources.push(source);
        return { status: 200, xml: "<x/>" };
      },
    };
    const headers = { "x-forwarded-for": "203.0.113.9" };
    const plain = await madeServer(t, { platform });
    await plain.fetch("/zdk/services/zamapi/x", { headers });
    const proxied = await madeServer(t, { platform, trustedProxies: ["127.0.0.0/8"] });
    await proxied.fetch("/zdk/services/zamapi/x", { headers });
    const elsewhere = await madeServer(t, { platform, trustedProxies: ["10.0.0.0/8"] });
    await elsewhere.fetch("/zdk/services/zamapi/x", { headers });
    assert.deepEqual(sources, ["127.0.0.1", "203.0.113.9", "127.0.0.1"]);
  });
});

describe("a server that stops", () => {
  const post = (secToken: string) => ({
    method: "POST",
    body: new URLSearchParams({ secToken, anEcosystemName: "nest", anAccessToken: "c.abc" }),
  });

  it("finishes requests in progress and accepts no new ones", async (t) => {
    const { fetch, federation, secToken, server } = await madeServer(t);
    const begun = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<DeviceId>();
    federation.link = () => {
      begun.resolve();
      return finish.promise;
    };
    const answer = fetch("/adaptor/federatedtokens", post(secToken));
    await Promise.race([begun.promise, answer]);
    const stopped = server.stop();
    assert.equal(server.stop(), stopped);
    await assert.rejects(async () => {
      for (;;) await fetch("/livez");
    });
    finish.resolve(5 as DeviceId);
    const { status, headers } = await answer;
    assert.equal(status, 200);
    assert.equal(headers.get("connection"), "close");
    await stopped;
  });

  it("waits no longer than its limit", async (t) => {
    const { fetch, federation, secToken, server } = await madeServer(t, { limits: { finishMs: 20 } });
    const begun = Promise.withResolvers<void>();
    federation.link = () => {
      begun.resolve();
      return new Promise(() => {});
    };
    const answer = assert.rejects(fetch("/adaptor/federatedtokens", post(secToken)));
    await Promise.race([begun.promise, answer]);
    await server.stop();
    await answer;
  });

  it("closes idle connections, and those that never finish their headers, at once", async (t) => {
    const { server } = await madeServer(t);
    const idle = connect(server.port, "127.0.0.1");
    idle.write("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n");
    await once(idle, "data");
    const slow = connect(server.port, "127.0.0.1");
    slow.write("GET /livez HTTP/1.1\r\n");
    const silent = connect(server.port, "127.0.0.1");
    await Promise.all([once(slow, "connect"), once(silent, "connect")]);
    const closed = [idle, slow, silent].map((socket) => {
      // The operating system decides how the connection ends.
      socket.on("error", () => {});
      return new Promise((resolve) => socket.once("close", resolve));
    });
    await server.stop();
    await Promise.all(closed);
  });
});

describe("a server that drains", () => {
  const ask = "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n";

  it("answers on open and on new connections, and closes each with its answer", { timeout: 20_000 }, async (t) => {
    const { server } = await madeServer(t);
    const kept = connect(server.port, "127.0.0.1");
    kept.write(ask);
    assert.match(String(await once(kept, "data")), /connection: keep-alive/i);
    server.drain();
    const fresh = connect(server.port, "127.0.0.1");
    for (const socket of [kept, fresh]) {
      const ended = once(socket, "end");
      socket.write(ask);
      assert.match(String(await once(socket, "data")), /^HTTP\/1.1 200 [\s\S]*connection: close/i);
      await ended;
    }
  });

  it("waits for the request of a connection that it accepted at the last moment", {
    timeout: 20_000,
  }, async (t) => {
    const { fetch, server } = await madeServer(t);
    const accepted = connect(server.port, "127.0.0.1");
    await once(accepted, "connect");
    const stopped = server.stop({ drainMs: 20 });
    await assert.rejects(async () => {
      for (;;) await fetch("/livez");
    });
    accepted.write(ask);
    assert.match(String(await once(accepted, "data")), /^HTTP\/1.1 200 [\s\S]*connection: close/i);
    await stopped;
  });

  it("leaves a read unanswered while it drains, if the proxy says that it repeats reads elsewhere", {
    timeout: 20_000,
  }, async (t) => {
    const { raw, server } = await madeServer(t);
    const read = "GET /livez HTTP/1.1\r\nHost: a\r\nX-Repeats-Reads: true\r\nConnection: close\r\n\r\n";
    assert.match(await raw(read), /^HTTP\/1.1 200 /);
    server.drain();
    assert.equal(await raw(read), "");
    assert.match(await raw(read.replace("GET", "POST")), /^HTTP\/1.1 405 /);
    assert.match(await raw(read.replace("true", "false")), /^HTTP\/1.1 200 /);
  });
});
