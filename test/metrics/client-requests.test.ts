import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { clientRequests, countedClients } from "../../src/metrics/client-requests.ts";
import { Registry } from "../../src/metrics/registry.ts";

describe("requests by client", () => {
  it("are counted by tenant, client and class of the status, for a bounded number of clients", async () => {
    const registry = new Registry();
    const count = clientRequests(registry);
    count({ tenantId: 7, clientId: "bwc_a" }, 200);
    count({ tenantId: 7, clientId: "bwc_a" }, 204);
    count({ tenantId: 7, clientId: "bwc_a" }, 404);
    count({ tenantId: 7 }, 500);
    count(undefined, 200);
    count({}, 200);
    for (let n = 0; n < 2 * countedClients; n++) count({ tenantId: 8, clientId: `bwc_${n}` }, 200);
    const lines = (await registry.text()).split("\n").filter((line) => line.startsWith("breezeway_client_requests"));
    const value = (tenant: string, client: string, ofClass: string) =>
      lines.find((line) => line.includes(`{tenant="${tenant}",client="${client}",class="${ofClass}"}`))?.split(" ")[1];
    assert.deepEqual(
      [value("7", "bwc_a", "2xx"), value("7", "bwc_a", "4xx"), value("7", "none", "5xx"), value("8", "bwc_0", "2xx")],
      ["2", "1", "1", "1"],
    );
    assert.equal(value("other", "other", "2xx"), String(countedClients + 2));
    assert.equal(lines.length, 5 * (countedClients + 1));
  });
});
