import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RecentRequests, type RecordedRequest } from "../../src/requests/recent-requests.ts";
import type { RequestFilter } from "../../src/requests/request-record.ts";

let clock = 0;

function recorded(requestId: string, change: Partial<RecordedRequest> = {}): RecordedRequest {
  return {
    requestId,
    method: "GET",
    route: "/v3/users",
    operation: undefined,
    status: 200,
    code: undefined,
    tookMs: 1.5,
    bytes: 20,
    caller: { tenantId: 1, userId: 2, clientId: "bwc_one" },
    source: "192.0.2.1",
    ...change,
  };
}

const of = (tenantId: number) => ({ caller: { tenantId } });

function made(bounds = { perTenant: 3, inAll: 8, tenants: 4 }) {
  const recent = new RecentRequests(() => clock++, bounds);
  const ids = (filter: RequestFilter = {}, limit = 100) => recent.find(filter, limit).map(({ requestId }) => requestId);
  return { recent, ids };
}

describe("the recent requests of a node", () => {
  it("are found newest first, with all their facts", () => {
    const { recent } = made();
    clock = 5;
    recent.add(recorded("a"));
    recent.add(recorded("b", { operation: "userLogin", status: 500, code: "invalid_login", caller: undefined }));
    assert.deepEqual(recent.find({}, 10), [
      {
        timeMs: 6,
        requestId: "b",
        method: "GET",
        route: "/v3/users",
        operation: "userLogin",
        status: 500,
        code: "invalid_login",
        tookMs: 1.5,
        bytes: 20,
        tenantId: null,
        userId: null,
        clientId: null,
        source: "192.0.2.1",
      },
      {
        timeMs: 5,
        requestId: "a",
        method: "GET",
        route: "/v3/users",
        operation: null,
        status: 200,
        code: null,
        tookMs: 1.5,
        bytes: 20,
        tenantId: 1,
        userId: 2,
        clientId: "bwc_one",
        source: "192.0.2.1",
      },
    ]);
  });

  it("are filtered by each of their facts", () => {
    const { recent, ids } = made({ perTenant: 10, inAll: 80, tenants: 4 });
    recent.add(recorded("plain"));
    recent.add(recorded("other", { caller: { tenantId: 2, userId: 3, clientId: "bwc_two" } }));
    recent.add(recorded("slow", { tookMs: 80, route: "/v3/devices" }));
    recent.add(recorded("refused", { status: 404 }));
    const wanted: readonly (readonly [RequestFilter, readonly string[]])[] = [
      [{ tenantId: 2 }, ["other"]],
      [{ tenantId: 3 }, []],
      [{ clientId: "bwc_two" }, ["other"]],
      [{ userId: 3 }, ["other"]],
      [{ route: "/v3/devices" }, ["slow"]],
      [{ status: 404 }, ["refused"]],
      [{ status: 4 }, ["refused"]],
      [{ status: 5 }, []],
      [{ status: 200, tenantId: 1 }, ["slow", "plain"]],
      [{ minMs: 80 }, ["slow"]],
      [{ requestId: "plain" }, ["plain"]],
    ];
    for (const [filter, expected] of wanted) assert.deepEqual(ids(filter), expected, JSON.stringify(filter));
    assert.deepEqual(ids({}, 2), ["refused", "slow"]);
  });

  it("of one tenant never push out those of another, nor does a flood without credentials", () => {
    const { recent, ids } = made();
    recent.add(recorded("quiet", of(1)));
    for (let n = 0; n < 50; n++) recent.add(recorded(`noisy ${n}`, of(2)));
    for (let n = 0; n < 50; n++) recent.add(recorded(`nobody ${n}`, { caller: undefined }));
    assert.deepEqual(ids({ tenantId: 1 }), ["quiet"]);
    // Three have records now, so that each has a share of two of all eight.
    assert.deepEqual(ids({ tenantId: 2 }), ["noisy 49", "noisy 48"]);
    assert.deepEqual(ids().length, 5);
  });

  it("are bounded over all tenants: a new one takes the place of the longest silent", () => {
    const { recent, ids } = made();
    for (let round = 0; round < 3; round++) {
      for (const tenantId of [1, 2, 3, 4]) recent.add(recorded(`${tenantId}.${round}`, of(tenantId)));
    }
    assert.equal(ids().length, 8);
    recent.add(recorded("1.3", of(1)));
    recent.add(recorded("5.0", of(5)));
    assert.deepEqual(ids(), ["5.0", "1.3", "4.2", "3.2", "1.2", "4.1", "3.1"]);
  });

  it("do not change when they are read and later overwritten", () => {
    const { recent } = made();
    recent.add(recorded("a"));
    const [found] = recent.find({}, 1);
    for (let n = 0; n < 5; n++) recent.add(recorded(`later ${n}`));
    assert.equal(found?.requestId, "a");
  });
});
