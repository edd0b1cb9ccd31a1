import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { limits } from "../../src/model/limits.ts";
import { presentOwner } from "../../src/runtime/process/request-lines.ts";
import type { TurnOwner } from "../../src/runtime/time-slices.ts";
import type { Parts } from "../../src/service/parts.ts";
import { operatorWorld } from "./operator-world.ts";

/** Holds the calls of administrators until they are released. */
function heldAdministration({ administration }: Parts) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const runAs = administration.runAs.bind(administration);
  let running = 0;
  administration.runAs = async (...call) => {
    running += 1;
    await promise;
    return runAs(...call);
  };
  return {
    get running() {
      return running;
    },
    release: () => resolve(),
  };
}

/** Records whose turns the reads of the store take. */
function recordedOwners({ store }: Parts): (TurnOwner | undefined)[] {
  const owners: (TurnOwner | undefined)[] = [];
  const read = store.read.bind(store);
  store.read = (body, priority) => {
    owners.push(presentOwner());
    return read(body, priority);
  };
  return owners;
}

const isOf = (expected: TurnOwner) => (owner: TurnOwner | undefined) =>
  owner?.tenant === expected.tenant && owner.holder === expected.holder;

describe("an operator with too many calls in progress", () => {
  it("gets 429 with Retry-After for a call and for a page, and the held ones are answered", async (t) => {
    const { owner, service } = await operatorWorld(t);
    const browser = await owner();
    const held = heldAdministration(service.parts);
    const taken = limits.operatorCalls + limits.operatorCallsWaiting;
    const calls = Array.from({ length: taken + 1 }, () => browser.ask("GET", "/tenants"));
    const refused = await Promise.race(calls);
    assert.deepEqual([refused.status, refused.headers.get("retry-after")], [429, "1"]);
    const { error, error_description } = (await refused.json()) as Record<string, string>;
    assert.equal(error, "too_many_requests");
    assert.match(error_description!, /48 calls by you are in progress/);
    assert.equal(held.running, limits.operatorCalls);
    const page = await browser.get("/console/tenants");
    assert.deepEqual([page.status, page.headers.get("retry-after")], [429, "1"]);
    const form = await browser.send("/console/do", { act: "tenant add", name: "Never", to: "/console" });
    assert.equal(form.status, 429);
    assert.match(await form.text(), /Nothing was done/);
    held.release();
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    assert.deepEqual(
      statuses.toSorted((a, b) => a - b),
      [...Array(taken).fill(200), 429],
    );
    const again = await browser.get("/console/tenants");
    assert.equal(again.status, 200);
    assert.doesNotMatch(await again.text(), /Never/);
  });
});

describe("reads of the store", () => {
  it("take the turn of the caller, and of the client's address until the caller is known", async (t) => {
    const { owner, service, run } = await operatorWorld(t);
    const browser = await owner();
    const { tenantId } = (await run("tenant list")).tenants[0];
    const token = await service.parts.oauth.commandTokens.issue(tenantId, "client");
    const owners = recordedOwners(service.parts);
    assert.equal((await browser.call("GET", "/tenants")).status, 200);
    assert.ok(owners.some(isOf({ tenant: "operators", holder: "1" })));
    assert.ok(owners.some(isOf({ tenant: "127.0.0.1", holder: "" })));
    for (const path of ["/v3/users", "/v3/devices/1"]) {
      owners.length = 0;
      await fetch(`${service.baseUrl}${path}`, { headers: { authorization: `Bearer ${token}` } });
      assert.ok(owners.some(isOf({ tenant: String(tenantId), holder: "client" })), path);
    }
  });
});
