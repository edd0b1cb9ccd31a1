import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { eventually } from "../stories/world.ts";
import { pageText } from "./administration-world.ts";
import { consoleWorld } from "./console-world.ts";

describe("the page of requests", () => {
  it("lists them by filter and page, shows one with its log command and as curl, and never a secret", async (t) => {
    const { house, owner, invited, run } = await consoleWorld(t);
    await run("tenant add", { name: "Other" });
    const { client, service } = house;
    await client.call("getDeviceList", { secToken: client.secToken });
    const headers = { authorization: "Bearer bwa_wrong", "x-forwarded-for": "<b>evil</b>" };
    const refused = await fetch(`${service.baseUrl}/v3/devices/7`, { headers });
    const requestId = refused.headers.get("x-request-id")!;
    const operator = await owner();
    await eventually(t.signal, async () => {
      assert.match(await pageText(operator, "/requests?status=401"), /GET \/v3\/devices\/:deviceId/);
    });
    const listed = await pageText(operator, `/requests?user=${house.userId}`);
    assert.ok(listed.includes("getDeviceList") && !listed.includes("/v3/devices/:deviceId</a>"));
    const own = (await pageText(operator, "/requests?only=operators")).split("<main")[1]!;
    assert.ok(own.includes("GET /console/requests") && !own.includes("getDeviceList"));
    assert.ok(!(await pageText(operator, "/requests")).includes("GET /console/requests"));
    assert.match(await pageText(operator, "/requests?only=all"), /GET \/console\/requests<.*getDeviceList/s);
    assert.match(await pageText(operator, "/requests?status=wrong"), /role="alert".*status must be a status such as/s);

    const shown = await pageText(operator, `/requests/${requestId}`);
    assert.match(shown, /invalid_token/);
    assert.match(shown, /<summary>.*warn<\/span> Request refused: invalid token\.<\/summary>/);
    assert.match(shown, new RegExp(`<pre[^>]*>{&quot;level&quot;:&quot;warn&quot;,.*${requestId}`));
    assert.ok(shown.includes(`grep &#39;${requestId}&#39;`));
    assert.match(shown, /\/v3\/devices\/DEVICEID/);
    assert.ok(!shown.includes("bwa_wrong") && !shown.includes("<b>evil"));
    assert.equal((await operator.get("/console/requests/unknown")).status, 404);

    const stranger = await invited("max", { role: "tenantAdmin", tenant: ["Other"] });
    assert.ok(!(await pageText(stranger, "/requests")).includes("getDeviceList"));
    assert.equal((await stranger.get(`/console/requests/${requestId}`)).status, 404);
  });

  it("pages without gaps and without repeats", async (t) => {
    const { house, run } = await consoleWorld(t);
    const { recentRequests } = house.service.parts;
    const same = { method: "GET", route: "/v3/things", operation: undefined, status: 418, code: undefined };
    for (let at = 0; at < 7; at += 1) {
      recentRequests.add({ ...same, requestId: `r${at}`, tookMs: 1, bytes: 1, caller: undefined, source: "192.0.2.1" });
    }
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await run("request list", { status: "418", "page-size": "3", ...(cursor && { cursor }) });
      seen.push(...page.requests.map((one: { requestId: string }) => one.requestId));
      cursor = page.cursor;
    } while (cursor !== undefined);
    assert.deepEqual(seen.toSorted(), ["r0", "r1", "r2", "r3", "r4", "r5", "r6"]);
    await assert.rejects(run("request list", { "page-size": "3", cursor: "yesterday" }), /cursor is not one/);
  });
});
