import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { StoreUnavailable } from "../../src/model/errors.ts";
import { madeServer } from "./made-server.ts";

describe("/livez", () => {
  it("answers as long as the process runs", async (t) => {
    const { fetch } = await madeServer(t, { checks: { store: () => Promise.reject(new Error("gone")) } });
    const answer = await fetch("/livez");
    assert.equal(answer.status, 200);
    assert.deepEqual(await answer.json(), { status: "ok", version: "0.0.0", commit: "0a1b2c3d", schema: 60 });
    const head = await fetch("/livez", { method: "HEAD" });
    assert.equal(head.status, 200);
    assert.equal(await head.text(), "");
  });
});

describe("/readyz", () => {
  it("shows each check by its name", async (t) => {
    const checks = { store: async () => ({ kind: "sqlite", waiting: 0 }), links: async () => ({ followed: 3 }) };
    const { fetch } = await madeServer(t, { checks });
    const answer = await fetch("/readyz");
    assert.equal(answer.status, 200);
    assert.deepEqual(await answer.json(), {
      status: "ok",
      checks: { store: { ok: true, kind: "sqlite", waiting: 0 }, links: { ok: true, followed: 3 } },
    });
  });

  it("is 503 when one fails or doesn't answer, with a reason in the service's own words only", async (t) => {
    const checks = {
      store: () => Promise.reject(new StoreUnavailable("The store can't write now.")),
      driver: () => Promise.reject(new Error("password authentication failed for user root")),
      slow: () => new Promise<object>(() => {}),
      links: async () => ({}),
    };
    const { fetch } = await madeServer(t, { checks, limits: { healthCheckTimeoutMs: 20 } });
    const answer = await fetch("/readyz");
    assert.equal(answer.status, 503);
    assert.deepEqual(await answer.json(), {
      status: "unavailable",
      checks: {
        store: { ok: false, reason: "The store can't write now." },
        driver: { ok: false, reason: "The check failed." },
        slow: { ok: false, reason: "The check did not answer in time." },
        links: { ok: true },
      },
    });
  });

  it("is 503 while the server drains, and other paths still answer", async (t) => {
    const { fetch, server } = await madeServer(t, { checks: { store: async () => ({}) } });
    server.drain();
    const answer = await fetch("/readyz");
    assert.equal(answer.status, 503);
    assert.deepEqual(await answer.json(), { status: "draining", checks: { store: { ok: true } } });
    assert.equal((await fetch("/livez")).status, 200);
  });
});
