import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ConsolePage, PageContext } from "../../src/outlets/console/console-page.ts";
import { grantsPart } from "../../src/outlets/console/kit/grants.ts";
import { alerts } from "../../src/outlets/console/pages/alerts.ts";
import { audit } from "../../src/outlets/console/pages/audit.ts";
import { request } from "../../src/outlets/console/pages/request.ts";
import { requests } from "../../src/outlets/console/pages/requests.ts";
import { webhook } from "../../src/outlets/console/pages/webhook.ts";
import { webhooks } from "../../src/outlets/console/pages/webhooks.ts";

/** The text of a page for these answers of the service. */
async function pageOf(
  page: ConsolePage,
  answers: Readonly<Record<string, object>>,
  query: Readonly<Record<string, string>> = {},
): Promise<string> {
  const parts = await page.render({
    operator: {},
    tenants: [],
    ecosystems: [],
    nowMs: Date.parse("2026-03-01T12:00:00Z"),
    baseUrl: "http://localhost",
    wants: () => true,
    parameter: (name: string) => query[name],
    address: (path: string) => path,
    callOf: () => undefined,
    call: async (act: string) => answers[act] ?? assert.fail(act),
    callIfAllowed: async () => undefined,
  } as unknown as PageContext);
  return Object.values(parts)
    .map((part) => part?.text ?? "")
    .join("\n");
}

describe("the page of requests", () => {
  it("tells bytes that were no request, requests to unknown paths, and those with a route apart", async () => {
    const caller = { tenantId: null, userId: null, clientId: null, source: "192.0.2.1", node: "a" };
    const facts = { time: "2026-03-01T11:59:00Z", operation: null, code: null, tookMs: 1, bytes: 1, ...caller };
    const shown = [
      { requestId: "r1", method: "-", route: "-", status: 400, ...facts },
      { requestId: "r2", method: "GET", route: "-", status: 404, ...facts },
      { requestId: "r3", method: "GET", route: "/v3/things", status: 401, ...facts },
    ];
    const page = await pageOf(requests, { "request list": { requests: shown, silentNodes: [] } });
    const links = [...page.matchAll(/requests\/(r\d)">([^<]*)</g)].map(([, id, words]) => [id, words]);
    assert.deepEqual(links, [
      ["r1", "unreadable request"],
      ["r2", "GET unknown path"],
      ["r3", "GET /v3/things"],
    ]);
    const shownAlone = await Promise.all(
      shown.map(async (one) => {
        const text = await pageOf(request, { "request show": { ...one, lines: [] } }, { request: one.requestId });
        return [/<h2 class="code">([^<]*)</.exec(text)?.[1], text.includes("curl")];
      }),
    );
    assert.deepEqual(shownAlone, [
      ["unreadable request", false],
      ["GET unknown path", false],
      ["GET /v3/things", true],
    ]);
  });
});

describe("the page of the audit log", () => {
  it("says on a later page only that no further entry fits", async () => {
    const answers = { "audit list": { entries: [] } };
    assert.match(await pageOf(audit, answers), /No entry of the last year fits\./);
    const later = await pageOf(audit, answers, { cursor: "7" });
    assert.match(later, /No further entry fits\./);
    assert.doesNotMatch(later, /of the last year/);
  });
});

describe("a later page of a list whose entries have all gone meanwhile", () => {
  it("does not say that there are none at all, and leads to the first page", async () => {
    const fewer = { "hook list": { webhooks: [] }, "home alert list": { alerts: [] } };
    for (const [page, none, later] of [
      [webhooks, /No client has a webhook/, /No further webhook\./],
      [alerts, /There is no alert yet/, /No alert fits\./],
    ] as const) {
      assert.match(await pageOf(page, fewer), none);
      const text = await pageOf(page, fewer, { cursor: "7" });
      assert.match(text, later);
      assert.doesNotMatch(text, none);
      assert.match(text, />First page</);
    }
    for (const whose of [{ client: "bwc_1" }, { user: "3" }]) {
      const access = (cursor?: string) => {
        const call = async () => ({ grants: [] });
        const context = { call, parameter: () => cursor, address: (path: string) => path, nowMs: 0 };
        return grantsPart(context as unknown as PageContext, "/clients/bwc_1", whose);
      };
      assert.match((await access()).text, /Nobody has given it access yet\.|No app has access\./);
      const text = (await access("7")).text;
      assert.match(text, /No further access\..*>First page</s);
      assert.doesNotMatch(text, /Nobody|No app/);
    }
  });
});

describe("the page of a webhook", () => {
  const shown = {
    webhookId: "wh_1",
    tenant: "Acme",
    clientId: "bwc_1",
    clientName: "Voice",
    userId: null,
    url: "https://hook.example",
    deviceIds: [],
    attributes: [],
    state: "working",
    waiting: 0,
    recentDelivered: 0,
    recentFailed: 0,
    recentFailedAttempts: 0,
    lastTime: null,
    nextTry: null,
    retriedDelivery: null,
    retriedAnswer: null,
    created: "2026-03-01T11:00:00Z",
  };
  const nextTry = async (facts: object) => {
    const page = await pageOf(webhook, {
      "hook show": { ...shown, ...facts },
      "hook deliveries": { deliveries: [] },
    });
    return /<dt>Next try<\/dt><dd>(.*?)<\/dd>/s.exec(page)?.[1]?.replace(/<[^>]*>/g, "");
  };

  it("says that messages are held while it is paused or suspended, and else whether one is tried again", async () => {
    const retried = { waiting: 2, retriedDelivery: 7, retriedAnswer: "answered 503" };
    const message = "message 7, last answered 503";
    assert.equal(await nextTry({}), "nothing is tried again");
    assert.equal(await nextTry({ state: "paused" }), "nothing is tried again");
    assert.equal(await nextTry({ ...retried, state: "paused" }), `held until it is resumed: ${message}`);
    assert.equal(await nextTry({ waiting: 2, state: "paused" }), "held until it is resumed");
    assert.equal(await nextTry({ ...retried, state: "suspended" }), `held while it is suspended: ${message}`);
    const next = { state: "retrying", nextTry: "2026-03-01T12:05:00Z" };
    assert.equal(await nextTry({ ...retried, ...next }), `in 5 min for ${message}`);
  });
});
