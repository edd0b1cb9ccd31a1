import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ConsolePage, PageContext } from "../../src/outlets/console/console-page.ts";
import { client } from "../../src/outlets/console/pages/client.ts";
import { system } from "../../src/outlets/console/pages/system.ts";
import { user } from "../../src/outlets/console/pages/user.ts";
import { quotaKinds } from "../../src/quotas/quota-kinds.ts";

const quotas = Object.fromEntries(quotaKinds.map((kind) => [kind, { value: 1, isDefault: true }]));
const known = { value: undefined, problem: "no answer" };
const answers: Readonly<Record<string, object>> = {
  status: { running: true, tenants: 1 },
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
};

/** The calls for a page when it is opened, and when the open page is refreshed. */
async function callsOf(page: ConsolePage) {
  const rendered = async (wants: (part: string) => boolean) => {
    const calls: string[] = [];
    const parts = await page.render({
      operator: {},
      tenants: [],
      ecosystems: [],
      nowMs: Date.now(),
      baseUrl: "http://localhost",
      wants,
      parameter: () => undefined,
      address: (path: string) => path,
      callOf: () => undefined,
      call: async (act: string) => {
        calls.push(act);
        return answers[act];
      },
    } as unknown as PageContext);
    return { calls, parts: Object.keys(parts) };
  };
  const opened = await rendered(() => true);
  const { calls } = await rendered((part) => !page.partsNotRefreshed?.includes(part));
  for (const part of page.partsNotRefreshed ?? []) assert.ok(opened.parts.includes(part), `there is no part ${part}`);
  return { opened: opened.calls, refreshed: calls };
}

describe("an open page of the console", () => {
  it("counts sealed values once, and not at each refresh", async () => {
    const { opened, refreshed } = await callsOf(system);
    assert.equal(opened.filter((act) => act === "key list").length, 1);
    assert.ok(!refreshed.includes("key list"));
    assert.deepEqual(opened.filter((act) => act !== "key list").toSorted(), refreshed.toSorted());
  });

  for (const [name, page] of Object.entries({ user, client })) {
    it(`of a ${name} examines the audit log once, and not at each refresh`, async () => {
      const { opened, refreshed } = await callsOf(page);
      assert.ok(opened.includes("audit list"));
      assert.ok(refreshed.includes(`${name} show`));
      assert.ok(!refreshed.includes("audit list"));
    });
  }
});
