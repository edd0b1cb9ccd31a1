import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { password } from "../identity/made-identity.ts";
import { textsOf } from "../platform/made-platform.ts";
import { readStrictly } from "../platform/strict-xml.ts";
import { madeServer } from "./made-server.ts";

const timeLimit = { timeout: 60_000 };

describe("a flood of sign-ins from one address", () => {
  it(
    "is refused beyond 20 in progress, and a correct password from another address does not wait for all of them",
    timeLimit,
    async (t) => {
      const { logIn, openSession, hashRuns, finishHash, finishAll } = await heldServer(t);
      const flood = Array.from({ length: 21 }, (_, number) => logIn("2001:db8::1", { name: `guess ${number}` }));
      const refused = await Promise.race(flood);
      assert.equal(refused.status, 500);
      assert.equal(refused.headers.get("retry-after"), "1");
      const fault = textsOf(readStrictly(await refused.text()));
      assert.equal(fault.errorCode, "107");
      assert.equal(fault.errorMsg, "Too many attempts from this address are under way. Try again in 1 second.");
      // Addresses of one /64 network are one source, for every kind of sign-in.
      assert.equal((await logIn("2001:db8::2")).status, 500);
      const byJson = await openSession("2001:db8::2");
      assert.equal(byJson.status, 429);
      assert.equal(((await byJson.json()) as { errorCode: number }).errorCode, 107);
      assert.equal(hashRuns.count, 2, "two hashes run at once, and none was run for a refusal");

      let answered = 0;
      const elsewhere = logIn("2001:db8:0:1::1").then(({ status }) => {
        answered = hashRuns.count;
        return status;
      });
      while (answered === 0) await finishHash();
      assert.equal(await elsewhere, 200);
      assert.ok(answered < 20, `${answered} hashes began before the right password was answered`);
      finishAll();
      for (const answer of await Promise.all(flood)) assert.equal(answer.status, 500);
      assert.equal(hashRuns.count, 21);
    },
  );

  it("leaves the queue when its clients close their connections", timeLimit, async (t) => {
    const { logIn, hashRuns, finishHash, abandoned } = await heldServer(t);
    const clients = Array.from({ length: 21 }, () => new AbortController());
    const flood = clients.map(({ signal }, number) => logIn("192.0.2.1", { name: `guess ${number}`, signal }));
    const failed = Promise.allSettled(flood);
    await Promise.race(flood);
    for (const client of clients) client.abort();
    await failed;
    while (abandoned() < 20) await turn();
    const right = logIn("192.0.2.1");
    await finishHash();
    await finishHash();
    await finishHash();
    assert.equal((await right).status, 200);
    assert.equal(hashRuns.count, 3, "two that ran when their clients left, and the one that stayed");
  });
});

/** A server behind a proxy, whose password hashes the test releases one by one. */
async function heldServer(t: TestContext) {
  const { fetch, hashRuns, reported } = await madeServer(t, { trustedProxies: ["127.0.0.1"] });
  hashRuns.count = 0;
  const held: (() => void)[] = [];
  hashRuns.whileComparing = () => new Promise<void>((resolve) => held.push(resolve));
  return {
    hashRuns,
    logIn: (source: string, { name = "alice", signal }: { name?: string; signal?: AbortSignal } = {}) =>
      fetch("/zdk/services/zamapi/userLogin", {
        method: "POST",
        headers: { "x-forwarded-for": source },
        body: new URLSearchParams({ name, password, appId: "7" }),
        ...(signal && { signal }),
      }),
    openSession: (source: string) =>
      fetch("/acc/applications/7/sessions", {
        method: "POST",
        headers: { "x-forwarded-for": source, "content-type": "application/json" },
        body: JSON.stringify({ username: "alice", password }),
      }),
    /** Waits for a running hash, lets it end, and gives the answer time to arrive. */
    finishHash: async () => {
      while (held.length === 0) await turn();
      held.shift()!();
      for (let count = 0; count < 50; count++) await turn();
    },
    finishAll: () => {
      hashRuns.whileComparing = async () => undefined;
      for (const finish of held.splice(0)) finish();
    },
    abandoned: () => reported.filter(({ sentence }) => sentence === "request abandoned by its client").length,
  };
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
