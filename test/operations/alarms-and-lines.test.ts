import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { person } from "../stories/world.ts";
import { figure, operated, watchedNodes } from "./watched-nodes.ts";

for (const database of operated) {
  describe(`what an operator sees on ${database} at LOG_LEVEL=warn`, () => {
    it("separates callers' mistakes from defects of the service, in the metrics and by the request id in the log", {
      timeout: 120_000,
    }, async (t) => {
      const { first, lines, lineOf, v3, platform, tenantId, userId, deviceId, sql } = await watchedNodes(t, database);
      const count = (name: string, labels: Record<string, string>) => figure(first, name, labels);
      const internal = (where: string) => count("breezeway_internal_errors_total", { where });
      assert.deepEqual(await Promise.all(["v3", "platform"].map(internal)), [0, 0], "not shown before the first error");
      assert.equal(await count("breezeway_platform_faults_total", { fault: "101" }), 0);
      assert.deepEqual(lines, []);

      const call = (operation: string, parameters: Record<string, string>) =>
        fetch(`${first.baseUrl}/zdk/services/zamapi/${operation}`, {
          method: "POST",
          body: new URLSearchParams(parameters),
        });
      const wrong = "not the password";
      const mistyped = await call("userLogin", { name: person.name, password: wrong, appId: String(tenantId) });
      assert.equal(mistyped.status, 500);
      assert.equal(await count("breezeway_platform_faults_total", { fault: "101" }), 1);
      assert.equal(await count("breezeway_platform_calls_total", { operation: "userLogin" }), 2);
      assert.equal(await internal("platform"), 0, "a mistyped password counts as our error");

      const { secToken } = platform;
      const unknownDevice = await call("getDeviceAttribute", { secToken, devId: "424242", name: "power" });
      const authorization = `Bearer ${v3.accessToken}`;
      const request = (path: string, init: RequestInit = {}) =>
        fetch(`${first.baseUrl}${path}`, { ...init, headers: { authorization, ...init.headers } });
      const badBody = await request(`/v3/devices/${deviceId}?secret=${secToken}`, {
        method: "PUT",
        headers: { "content-type": "application/json" },
        body: "{",
      });
      const noDevice = await request("/v3/devices/424242");
      const noToken = await fetch(`${first.baseUrl}/v3/devices/${deviceId}`);
      const nowhere = await request("/nowhere");

      await sql("DROP TABLE triggers");
      const brokenV3 = await request("/v3/alerts");
      const brokenCall = await call("getTriggerDetailListByUser", { secToken });
      assert.deepEqual([brokenV3.status, brokenCall.status], [500, 500]);
      assert.deepEqual(await Promise.all(["v3", "platform"].map(internal)), [1, 1]);
      assert.equal(await count("breezeway_platform_faults_total", { fault: "199" }), 1);

      const caller = { tenantId, userId };
      const clientId = String(lineOf(noDevice.headers.get("x-request-id"))[0]?.clientId);
      assert.match(clientId, /^bwc_/);
      const byClient = { ...caller, clientId };
      const refused = { level: "warn", message: "request refused", source: "127.0.0.1" };
      const failed = { level: "error", message: "request failed", source: "127.0.0.1", code: "internal_error" };
      for (const [answer, expected] of [
        [mistyped, { ...refused, operation: "userLogin", status: 500, code: "invalid_login", fault: 101 }],
        [unknownDevice, { ...refused, operation: "getDeviceAttribute", code: "unknown_device", fault: 109, ...caller }],
        [badBody, { ...refused, route: "/v3/devices/:deviceId", status: 400, code: "invalid_request" }],
        [noDevice, { ...refused, route: "/v3/devices/:deviceId", status: 404, code: "unknown_device", ...byClient }],
        [noToken, { ...refused, status: 401, code: "missing_token" }],
        [brokenV3, { ...failed, route: "/v3/alerts", ...byClient }],
        [brokenCall, { ...failed, operation: "getTriggerDetailListByUser", fault: 199, ...caller }],
      ] as const) {
        const [line, ...more] = lineOf(answer.headers.get("x-request-id"));
        assert.partialDeepStrictEqual(line, expected);
        assert.deepEqual(more, [], "a second line");
      }
      assert.match(JSON.stringify(lineOf(brokenV3.headers.get("x-request-id"))), /triggers/);
      // Unknown paths, as scanners request them, are logged only at `info`.
      assert.deepEqual(lineOf(nowhere.headers.get("x-request-id")), []);
      const text = JSON.stringify(lines);
      for (const secret of [wrong, secToken, v3.accessToken, "secret=", "/nowhere", "424242"]) {
        assert.ok(!text.includes(secret), `the log holds ${secret}`);
      }
    });
  });
}
