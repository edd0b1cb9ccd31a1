import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { NodeId } from "../../src/model/ids.ts";
import type { NodeQuestions } from "../../src/nodes/node-questions.ts";
import { type FinishedRequest, RecentRequests } from "../../src/requests/recent-requests.ts";
import type { RequestFilter } from "../../src/requests/request-record.ts";
import { requestSearch } from "../../src/requests/request-search.ts";

let clock = 0;

function recorded(requestId: string, change: Partial<FinishedRequest> = {}): FinishedRequest {
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

  it("are filtered by whose they are", () => {
    const { recent, ids } = made({ perTenant: 20, inAll: 80, tenants: 4 });
    for (const route of ["/console", "/console/homes", "/admin/v1/users", "/v3/users", "/consoles", "/v3/admin"]) {
      recent.add(recorded(route, { route }));
    }
    recent.add(recorded("nobody", { caller: undefined }));
    recent.add(recorded("other", of(2)));
    assert.deepEqual(ids({ only: "operators" }), ["/admin/v1/users", "/console/homes", "/console"]);
    assert.deepEqual(ids({ only: "clients" }), ["other", "nobody", "/v3/admin", "/consoles", "/v3/users"]);
    assert.deepEqual(ids({ tenantIds: [2, 3] }), ["other"]);
    assert.deepEqual(ids({ tenantIds: [] }), []);
    assert.deepEqual(ids({ tenantId: 1, tenantIds: [2] }), []);
  });

  it("are continued after the last one of a page, also among those of one time", () => {
    const recent = new RecentRequests(() => 7, { perTenant: 9, inAll: 9, tenants: 1 });
    for (const requestId of ["c", "a", "b"]) recent.add(recorded(requestId));
    const page = (after: RequestFilter["after"]) => recent.find({ after }, 2).map(({ requestId }) => requestId);
    assert.deepEqual(page(undefined), ["a", "b"]);
    assert.deepEqual(page({ timeMs: 7, requestId: "b" }), ["c"]);
    assert.deepEqual(page({ timeMs: 7, requestId: "c" }), []);
    assert.deepEqual(page({ timeMs: 8, requestId: "c" }), ["a", "b"]);
    assert.deepEqual(page({ timeMs: 6, requestId: "" }), []);
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

  it("of the tenant that was silent for the longest time go first, also when its list is full", () => {
    const { recent, ids } = made({ perTenant: 3, inAll: 100, tenants: 2 });
    for (const requestId of ["1.0", "1.1", "1.2"]) recent.add(recorded(requestId, of(1)));
    recent.add(recorded("2.0", of(2)));
    recent.add(recorded("1.3", of(1)));
    recent.add(recorded("3.0", of(3)));
    assert.deepEqual(ids(), ["3.0", "1.3", "1.2", "1.1"]);
  });

  it("do not change when they are read and later overwritten", () => {
    const { recent } = made();
    recent.add(recorded("a"));
    const [found] = recent.find({}, 1);
    for (let n = 0; n < 5; n++) recent.add(recorded(`later ${n}`));
    assert.equal(found?.requestId, "a");
  });
});

describe("the recent requests of all nodes", () => {
  /** Two nodes that answer each question with their own records, and one that is silent. */
  function searched() {
    const [first, second] = [made().recent, made().recent];
    const limits: number[] = [];
    const answering = new Map<string, (question: string) => string>();
    const topics = new Set<string>();
    const nodesOf = (node: string): Pick<NodeQuestions, "onQuestion" | "ask"> => ({
      onQuestion(topic, answer) {
        topics.add(topic);
        answering.set(node, answer);
      },
      async ask(topic, question) {
        assert.deepEqual([...topics], [topic]);
        const answers = [...answering].map(([name, answer]) => [name as NodeId, answer(question)] as const);
        return { answers: new Map(answers), silentNodes: ["silent" as NodeId] };
      },
    });
    const noting: Pick<RecentRequests, "find"> = {
      find(filter, limit) {
        limits.push(limit);
        return first.find(filter, limit);
      },
    };
    const search = requestSearch(noting, nodesOf("first") as NodeQuestions);
    // A node of the version before, which knows no filter.
    requestSearch({ find: (_, limit) => second.find({}, limit) }, nodesOf("second") as NodeQuestions);
    return { first, second, search, limits };
  }

  it("are listed together, newest first, with the nodes that answered", async () => {
    const { first, second, search } = searched();
    first.add(recorded("a"));
    second.add(recorded("b"));
    second.add(recorded("other", of(2)));
    first.add(recorded("c"));
    const found = await search.find({ tenantId: 1 }, 2);
    assert.deepEqual(
      found.requests.map(({ requestId, node }) => [requestId, node]),
      [
        ["c", "first"],
        ["b", "second"],
      ],
    );
    assert.deepEqual([found.nodes, found.silentNodes], [["first", "second"], ["silent"]]);
  });

  it("are at most 500 of each node", async () => {
    const { search, limits } = searched();
    await search.find({}, 20);
    await search.find({}, 501);
    assert.deepEqual(limits, [20, 500]);
  });
});
