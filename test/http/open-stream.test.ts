import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import type { StreamWriter } from "../../src/http/answer/open-stream.ts";
import { appOn } from "../../src/http/app.ts";
import { Exchanges } from "../../src/http/open-exchanges.ts";
import { addRoutes, type Route } from "../../src/http/routes.ts";
import { defaultHttpLimits } from "../../src/http/server.ts";
import { followEvents } from "../../src/outlets/v3/event-descriptions.ts";
import { collecting } from "../platform/made-platform.ts";

describe("an open-ended answer", () => {
  it("sends writes at once, and ends when the route ends it", { timeout: 30_000 }, async (t) => {
    const { url, writers } = await streaming(t);
    const answer = await fetch(url, { headers: { authorization: "Bearer x" } });
    assert.equal(answer.headers.get("transfer-encoding"), null);
    assert.equal(answer.headers.get("x-mark"), "here");
    assert.match(answer.headers.get("x-request-id") ?? "", /^[0-9a-f-]{36}$/);
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    for (const text of ["one", "two", "ü"]) {
      writers[0]!.write(Buffer.from(text));
      assert.equal((await reader.read()).value, text);
    }
    writers[0]!.write(Buffer.from("last words"));
    writers[0]!.end();
    writers[0]!.write(Buffer.from("too late"));
    assert.deepEqual(await reader.read(), { done: false, value: "last words" });
    assert.equal((await reader.read()).done, true);
  });

  it("is closed when its client disconnects", { timeout: 30_000 }, async (t) => {
    const { url, writers } = await streaming(t);
    const leaving = new AbortController();
    await fetch(url, { headers: { authorization: "Bearer x" }, signal: leaving.signal });
    const closed = new Promise((resolve) => writers[0]!.closed.addEventListener("abort", resolve));
    leaving.abort();
    await closed;
  });

  it("ends when the server ends its streams, also if it begins later", { timeout: 30_000 }, async (t) => {
    const { url, exchanges } = await streaming(t);
    const ask = () => fetch(url, { headers: { authorization: "Bearer x" } });
    const early = await ask();
    exchanges.endStreams();
    const late = await ask();
    assert.deepEqual([await early.text(), await late.text()], ["", ""]);
    await exchanges.finished();
  });
});

async function streaming(t: TestContext) {
  const report = collecting([]);
  const exchanges = new Exchanges(report);
  const app = appOn({ exchanges, onLimitReached: () => undefined, trustedProxies: [], ...defaultHttpLimits });
  const writers: StreamWriter[] = [];
  const route: Route = {
    methods: ["GET"],
    isStream: true,
    path: "/stream",
    access: "bearer",
    scopes: ["devices:read"],
    errors: "standard",
    description: followEvents,
    answer: async () => ({
      status: 200,
      headers: { "x-mark": "here" },
      stream: (writer) => void writers.push(writer),
    }),
  };
  const nobody = () => Promise.reject(new Error("nobody"));
  const byAccessToken = async () => ({ kind: "user", userId: 1, tenantId: 1, scopes: null }) as never;
  addRoutes(app, [route], { bySecToken: nobody, byClientSecret: nobody, byAccessToken }, exchanges);
  await app.listen({ host: "127.0.0.1", port: 0 });
  t.after(async () => {
    app.server.closeAllConnections();
    await app.close();
  });
  return { url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/stream`, writers, exchanges };
}
