import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import { adminCalls } from "../../src/cli/administration/calls/calls.ts";
import { browserOfFile, skip } from "../browser/world.ts";
import { differences, lastingRows } from "../isolation/lasting-rows.ts";
import { addressesOf, type FullWorld, fullWorld, furtherAddresses } from "./full-world.ts";
import { operatorTab } from "./operator-tab.ts";

const browser = browserOfFile();

interface Form {
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** The forms of the open page that send something; empty fields get a text. */
function formsOf(tab: Page): Promise<readonly Form[]> {
  // A field may have the name `action`, which hides the member of the form.
  return tab.evaluate<readonly Form[]>(`[...document.querySelectorAll("form[method=post]")].map((form) => ({
    action: new URL(form.getAttribute("action") ?? "", location.href).pathname,
    fields: Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value) || "x"])),
  }))`);
}

/** The addresses of links of the open page. */
function linksOf(tab: Page, selector: string): Promise<readonly string[]> {
  return tab.evaluate<readonly string[]>(
    `[...document.querySelectorAll(${JSON.stringify(selector)})].map(({ href }) => href)`,
  );
}

/** Every form that an owner finds: on each page, and behind each link that opens one. */
async function formsOfOwner(tab: Page, paths: readonly string[]): Promise<ReadonlyMap<string, Form>> {
  const forms = new Map<string, Form>();
  const unread = paths.map((path) => `/console${path}`);
  const read = new Set(unread);
  while (unread.length > 0) {
    await tab.goto(unread.shift()!);
    for (const form of await formsOf(tab)) forms.set(form.fields.act ?? form.action, form);
    const links = await linksOf(tab, 'main a[href*="do="], main a[href^="/console/password"]');
    for (const link of links.map((one) => new URL(one))) {
      const address = link.searchParams.get("to") ?? `${link.pathname}${link.search}`;
      if (read.has(address) || !address.includes("do=")) continue;
      read.add(address);
      unread.push(address);
    }
  }
  return forms;
}

/** Acts on one's own sessions and tokens are for everybody, and so are sign-out and the password. */
const ownActs = new Set(adminCalls.filter(({ subject }) => subject === "self").map(({ act }) => act));
const ownAddresses = ["/console/sign-out", "/console/password"];

const at = (made: FullWorld) => ({ world: { baseUrl: made.house.service.baseUrl } }) as never;

/** All rows except those that the linked house changes by itself, and sessions. */
async function rowsOf({ house }: FullWorld): Promise<readonly string[]> {
  const rows = await lastingRows({ databaseUrl: undefined, folder: house.config.dataFolder });
  return rows.filter(([table]) => !/session/.test(table)).map((row) => JSON.stringify(row));
}

describe("a viewer with a browser", { skip }, () => {
  it("opens every page, finds nothing that changes anything, and forged forms change nothing", {
    timeout: 300_000,
  }, async (t) => {
    const made = await fullWorld(t);
    const owner = await made.owner();
    const viewer = await made.invited("vera", { role: "viewer" });
    const pages = [...Object.values(addressesOf(made)), ...furtherAddresses(made)];
    let forms: ReadonlyMap<string, Form> = new Map();
    await operatorTab(browser(), at(made), owner, {}, async (tab) => {
      forms = await formsOfOwner(tab, pages);
    });
    const changing = [...forms].filter(([name, { action }]) => !ownActs.has(name) && !ownAddresses.includes(action));
    assert.ok(changing.length > 30, `an owner has only ${changing.map(([name]) => name).join(", ")}`);

    await operatorTab(browser(), at(made), viewer, {}, async (tab) => {
      for (const path of pages) {
        const answer = await tab.goto(`/console${path}`);
        // Nobody but an owner opens the page of another operator.
        if (path.startsWith("/operators/")) continue;
        assert.equal(answer?.status(), 200, path);
        const left = (await formsOf(tab)).filter(
          ({ action, fields }) => !ownAddresses.includes(action) && !ownActs.has(fields.act ?? ""),
        );
        assert.deepEqual(left, [], `${path} has a form`);
        const asking = await linksOf(tab, 'main a[href*="do="]');
        assert.deepEqual(path === "/sessions" ? [] : asking, [], `${path} offers a form`);
      }
    });

    const before = await rowsOf(made);
    for (const [name, { action, fields }] of changing) {
      const { status } = await viewer.send(action, { ...fields, to: "/console" });
      assert.equal(status, 403, `the form ${name}`);
    }
    for (const { act } of adminCalls.filter(({ need, subject }) => need !== "read" && subject !== "self")) {
      const { user, tenant, client, webhook, outlet, alert, lamp } = made;
      const named = { user, tenant, client, webhook, outlet, alert, device: String(lamp), name: "x" };
      const { status } = await viewer.send("/console/do", { act, to: "/console", ...named });
      assert.equal(status, 403, `the act ${act}`);
    }
    assert.deepEqual(differences(before, await rowsOf(made)), []);
  });

  it("sees smoke as a band while the page is open", async (t) => {
    const made = await fullWorld(t);
    const viewer = await made.invited("vera", { role: "viewer" });
    await operatorTab(browser(), at(made), viewer, { width: 390 }, async (tab) => {
      await tab.goto(`/console/homes/${made.user}/nest`);
      await tab.locator("#freshness", { hasText: "Live" }).waitFor();
      assert.equal(await tab.getByRole("alert").getByText("Smoke emergency").count(), 0);
      const fromMs = performance.now();
      await made.house.simulator.playScene(made.house.accountId, { scene: "smoke" });
      await tab.getByRole("alert").getByText("Smoke emergency").waitFor();
      t.diagnostic(`the band appeared ${Math.round(performance.now() - fromMs)} ms after the smoke`);
    });
  });
});
