import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ConsolePage, PageContext } from "../../src/outlets/console/console-page.ts";
import { client } from "../../src/outlets/console/pages/client.ts";
import { search } from "../../src/outlets/console/pages/search.ts";
import { system } from "../../src/outlets/console/pages/system.ts";
import { user } from "../../src/outlets/console/pages/user.ts";
import { quotaKinds } from "../../src/quotas/quota-kinds.ts";

const quotas = Object.fromEntries(quotaKinds.map((kind) => [kind, { value: 1, isDefault: true }]));
const known = { value: undefined, problem: "no answer" };
const answers: Readonly<Record<string, object>> = {
  system: { version: "1", nodes: known, store: known, disk: known, certificate: known, backup: known, settings: [] },
  attention: { findings: [] },
  "verification list": { verifications: [] },
  "key list": { keys: [] },
  "user show": { userId: 1, name: "ada", tenant: "Acme", created: "2026-01-01T00:00:00Z", devices: [], links: [] },
  "client show": { client_id: "bwc_1", name: "App", kind: "user", redirect_uris: [], return_urls: [] },
  "quota show": { quotas, used: { nodes: [], silentNodes: [] } },
  "request list": { requests: [], silentNodes: [] },
  "grant list": { grants: [] },
  "audit list": { entries: [] },
  "user list": { users: [] },
  "client list": { clients: [] },
  "tenant list": { tenants: [] },
  "link find": { links: [] },
  "home find": { things: [], devices: [], alerts: [], hasMore: false, areAllCompared: true },
};

/** The calls for a page when it is opened, and when the open page is refreshed. */
async function callsOf(page: ConsolePage, query: Readonly<Record<string, string>> = {}) {
  const rendered = async (wants: (part: string) => boolean) => {
    const calls: string[] = [];
    const parts = await page.render({
      operator: {},
      tenants: [],
      ecosystems: [],
      nowMs: Date.now(),
      baseUrl: "http://localhost",
      wants,
      parameter: (name: string) => query[name],
      address: (path: string) => path,
      callOf: () => undefined,
      call: async (act: string) => {
        calls.push(act);
        return answers[act];
      },
      callIfAllowed: async () => undefined,
    } as unknown as PageContext);
    return { calls, parts };
  };
  const opened = await rendered(() => true);
  const { calls } = await rendered((part) => !page.partsNotRefreshed?.includes(part));
  for (const part of page.partsNotRefreshed ?? []) assert.ok(part in opened.parts, `there is no part ${part}`);
  const ages = Object.entries(opened.parts).filter(([, html]) => /Read <time .*not refreshed/.test(html?.text ?? ""));
  return { opened: opened.calls, refreshed: calls, partsWithAge: ages.map(([name]) => name) };
}

describe("an open page of the console", () => {
  it("counts sealed values once, and not at each refresh", async () => {
    const { opened, refreshed, partsWithAge } = await callsOf(system);
    assert.equal(opened.filter((act) => act === "key list").length, 1);
    assert.ok(!refreshed.includes("key list"));
    assert.deepEqual(opened.filter((act) => act !== "key list").toSorted(), refreshed.toSorted());
    assert.deepEqual(partsWithAge, ["keys"]);
  });

  it("searches once, and not at each refresh", async () => {
    const { opened, refreshed, partsWithAge } = await callsOf(search, { q: "hall" });
    assert.ok(opened.includes("home find") && opened.includes("link find"));
    assert.deepEqual([refreshed, partsWithAge], [[], ["found"]]);
  });

  for (const [name, page] of Object.entries({ user, client })) {
    it(`of a ${name} examines the audit log once, and not at each refresh`, async () => {
      const { opened, refreshed, partsWithAge } = await callsOf(page);
      assert.ok(opened.includes("audit list"));
      assert.ok(refreshed.includes(`${name} show`));
      assert.ok(!refreshed.includes("audit list"));
      assert.deepEqual(partsWithAge, [...page.partsNotRefreshed!]);
    });
  }
});
