import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { readConfig } from "../../src/config/config.ts";
import { BadParameter, NotFound, NotRunning } from "../../src/model/errors.ts";
import { startLogging } from "../../src/runtime/process/log.ts";
import { openParts } from "../../src/service/parts.ts";
import { missingPostgres, sharedCluster } from "../set-up/postgres.ts";
import { eventually, world } from "../stories/world.ts";
import { folderOf } from "./made-folder.ts";

describe("recent requests of a running service", () => {
  it("are listed with their caller and shown by their id", async (t) => {
    const { service, client, userId, logged } = await world(t);
    await client.call("getDeviceList", { secToken: client.secToken });
    const refused = await fetch(`${service.baseUrl}/v3/users`, { headers: { authorization: "Bearer bwa_wrong" } });
    const requestId = refused.headers.get("x-request-id")!;
    // biome-ignore lint/suspicious/noExplicitAny: the shape of the answer is what the test examines
    const run = (command: string, input: object): Promise<any> => service.parts.administration.run(command, input);
    // A request is recorded when its answer was sent, which its client may see a moment earlier.
    const shown = await eventually(t.signal, () => run("request show", { request: requestId }));
    assert.deepEqual([shown.status, shown.code, shown.tenantId], [401, "invalid_token", null]);
    const { requests, nodes, silentNodes } = await run("request list", { user: String(userId) });
    const { time, requestId: id, tookMs, bytes, node, nodeName, ...facts } = requests[0];
    const { tenantId } = await service.parts.identity.findUser(userId);
    assert.deepEqual(facts, {
      method: "POST",
      route: "/zdk/services/zamapi/:operation",
      operation: "getDeviceList",
      status: 200,
      code: null,
      tenantId,
      userId,
      clientId: null,
      source: "127.0.0.1",
    });
    assert.ok(bytes > 50 && tookMs > 0 && Math.abs(Date.now() - Date.parse(time)) < 60_000);
    assert.deepEqual([nodes, silentNodes], [[node], []]);
    assert.match(nodeName, /^[\w.-]+:\d+$/);
    assert.ok(logged.some((line) => line.includes(id) && line.includes(`"tenantId":${tenantId}`)));
    await assert.rejects(run("request show", { request: "unknown" }), NotFound);
    assert.equal((await run("request show", { request: id.slice(0, 8) })).requestId, id);
    await assert.rejects(run("request show", { request: id.slice(0, 3) }), BadParameter);
    assert.equal((await run("request show", { request: id, tenant: String(tenantId) })).requestId, id);
    await assert.rejects(run("request show", { request: requestId, tenant: String(tenantId) }), NotFound);
    for (let at = 0; at < 600; at++) {
      const later = { method: "GET", route: "/livez", operation: undefined, status: 200, code: undefined, tookMs: 1 };
      const caller = { tenantId: at % 2 === 0 ? tenantId : undefined };
      service.parts.recentRequests.add({ ...later, requestId: `later ${at}`, bytes: 1, caller, source: "192.0.2.1" });
    }
    assert.equal((await run("request show", { request: id.slice(0, 8) })).requestId, id, "also an old one");
    for (const status of ["6xx", "40", "all"]) {
      await assert.rejects(run("request list", { status }), BadParameter, status);
    }
    const listed = await run("request list", { status: "4xx" });
    assert.deepEqual(
      listed.requests.map((one: { requestId: string }) => one.requestId),
      [requestId],
    );
  });

  it("are unknown while no service runs", async (t) => {
    const parts = await opened(t);
    await assert.rejects(parts.administration.run("request list", {}), NotRunning);
  });
});

describe("recent requests of several nodes", { skip: missingPostgres() ?? false }, () => {
  it("are merged for a command, and a node that does not answer is named", async (t) => {
    const databaseUrl = await (await sharedCluster()).createDatabase();
    const folder = folderOf(t);
    const nodes = [await opened(t, databaseUrl, folder), await opened(t, databaseUrl, folder)];
    for (const [at, parts] of nodes.entries()) {
      const { membership, nodeQuestions, recentRequests, store } = parts;
      await membership.start();
      nodeQuestions.start();
      const deafen = store.nodeBus.onHint((hint) => hint === "questions" && nodeQuestions.hinted());
      parts.stops.push(
        deafen,
        () => nodeQuestions.stop(),
        () => membership.stop(),
      );
      recentRequests.add({
        requestId: `request ${at}`,
        method: "GET",
        route: "/v3/users",
        operation: undefined,
        status: 200,
        code: undefined,
        tookMs: 1,
        bytes: 2,
        caller: undefined,
        source: "192.0.2.1",
      });
    }
    const command = await opened(t, databaseUrl, folder);
    // biome-ignore lint/suspicious/noExplicitAny: the shape of the answer is what the test examines
    const list = (asker: typeof command): Promise<any> => asker.administration.run("request list", {});
    for (const asker of [command, nodes[0]!]) {
      const { requests, silentNodes } = await list(asker);
      assert.deepEqual(
        requests.map((one: { requestId: string; node: string }) => [one.requestId, one.node]).toSorted(),
        nodes.map(({ membership }, at) => [`request ${at}`, membership.id]),
      );
      assert.deepEqual(silentNodes, []);
    }
    await nodes[1]!.nodeQuestions.stop();
    const { requests, silentNodes } = await list(command);
    assert.deepEqual([requests.length, silentNodes], [1, [nodes[1]!.membership.id]]);
    const left = await command.store.read((tx) => tx.nodeQuestions.unanswered(command.membership.id, 60_000));
    assert.deepEqual(left, [], "a question is removed when it was answered");
  });
});

async function opened(t: TestContext, databaseUrl?: string, folder = folderOf(t)) {
  const environment = { BREEZEWAY_DATA: folder, BREEZEWAY_DATABASE_URL: databaseUrl };
  const parts = await openParts(readConfig({ flags: {}, environment }), startLogging("silent"));
  const stops: (() => unknown)[] = [];
  t.after(async () => {
    for (const stop of stops) await stop();
    await parts.close();
  });
  return { ...parts, stops };
}
