import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { runCommand } from "./run-command.ts";

const place = "d.structures[1].d.thermostats[1]";

describe("breezeway fan on", () => {
  it("reports the outcome also when the service could not answer for a while after the request", async (t) => {
    let isRequested = false;
    let readsSince = 0;
    const server = createServer((request, response) => {
      if (request.method !== "GET") isRequested = true;
      else if (isRequested) readsSince += 1;
      const isDown = readsSince === 1 || readsSince === 2;
      response.writeHead(isDown ? 503 : 200, { "content-type": "application/json", connection: "close" });
      if (isDown) return response.end('{"error":"store_unavailable","error_description":"The store is down."}');
      const fan = { value: isRequested ? "true" : "false", updateTime: isRequested ? 62 : 50 };
      const written = { value: null, updateTime: isRequested ? 61 : 40 };
      const attributes = {
        [`${place}.name`]: { value: "Hallway", updateTime: 1 },
        [`${place}.fan_timer_active`]: fan,
        [`${place}.fan_timer_active.requestWrite`]: written,
      };
      response.end(JSON.stringify({ deviceId: 1, presenceInfo: 1, stale: false, attributes }));
    });
    t.after(() => server.close());
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const environment = { BREEZEWAY_TOKEN: "bwa_t" };
    const { code, stdout, stderr } = await runCommand(["fan", "on", "1", "--url", url], { environment });
    assert.equal(code, 0, stderr);
    assert.equal(JSON.parse(stdout).outcome, "running");
  });
});
