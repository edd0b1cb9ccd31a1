import assert from "node:assert/strict";
import { hostname } from "node:os";
import { describe, it } from "node:test";
import { nodeIdFor, nodeName } from "../../src/model/node-name.ts";
import { deployments } from "../set-up/deployment.ts";
import { world } from "../stories/world.ts";

describe("the name of a node", () => {
  it("is host and port, the same for two processes there", () => {
    const [first, second] = [1, 2].map((n) => nodeIdFor(`00000000-0000-4000-8000-00000000000${n}`, "kitchen-1:8080"));
    assert.notEqual(first, second);
    assert.deepEqual([nodeName(first!), nodeName(second!)], ["kitchen-1:8080", "kitchen-1:8080"]);
  });

  it("is the id of a node of an older version", () => {
    const id = nodeIdFor("00000000-0000-4000-8000-000000000001", undefined);
    assert.equal(id, "node-00000000-0000-4000-8000-000000000001");
    assert.equal(nodeName(id), id);
  });

  for (const database of deployments) {
    it(`is what people read, and JSON has the id too (${database})`, { timeout: 60_000 }, async (t) => {
      const { service, nodes, link, client } = await world(t, { database });
      await link();
      await client.call("getDeviceList", { secToken: client.secToken });
      const { administration } = service.parts;
      // biome-ignore lint/suspicious/noExplicitAny: the shape of the answer is what the test examines
      const run = (command: string, input = {}): Promise<any> => administration.run(command, input);
      const ports = nodes.map(({ url }) => new URL(url).port);
      const names = ports.map((port) => `${hostname()}:${port}`).sort();

      const listed = (await run("system")).nodes.value;
      assert.deepEqual(listed.map((node: { nodeName: string }) => node.nodeName).sort(), names);
      const nameOf = new Map(listed.map((node: { node: string; nodeName: string }) => [node.node, node.nodeName]));
      assert.equal(nameOf.size, nodes.length);
      const [found] = (await run("link find")).links;
      assert.ok(nameOf.has(found.node));
      assert.equal(found.nodeName, nameOf.get(found.node));
      const { requests } = await run("request list");
      assert.ok(requests.length > 0);
      for (const request of requests) assert.equal(request.nodeName, nameOf.get(request.node));
      const { used } = await run("quota show", { tenant: "Story" });
      assert.deepEqual(used.nodes.map((node: { nodeName: string }) => node.nodeName).sort(), names);
    });
  }
});
