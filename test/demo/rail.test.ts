import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Locator, Page } from "playwright-core";
import { browserOfFile, skip } from "../browser/world.ts";
import { demoFolder, enterConsole, startDemo } from "./running-demo.ts";

const browser = browserOfFile();

/** Whether all of the element is within the window and within what scrolls around it. */
async function isInView(tab: Page, element: Locator): Promise<boolean> {
  const [box, entries] = [await element.boundingBox(), await tab.locator(".rail .entries").boundingBox()];
  const { width, height } = tab.viewportSize()!;
  const isIn = (area: { x: number; y: number; width: number; height: number }) =>
    box !== null &&
    box.x >= area.x - 1 &&
    box.y >= area.y - 1 &&
    box.x + box.width <= area.x + area.width + 1 &&
    box.y + box.height <= area.y + area.height + 1;
  const isEntry = (await element.locator("xpath=ancestor::*[@class='entries']").count()) > 0;
  return isIn({ x: 0, y: 0, width, height }) && (!isEntry || isIn(entries!));
}

describe("the rail of the console in the demo", { skip, timeout: 120_000 }, () => {
  it("shows the demo's own pages after the overview, and Sign out, at every size", async (t) => {
    const demo = await startDemo(t, demoFolder(t));
    const tab = await browser().newPage();
    t.after(() => tab.close());
    await enterConsole(tab, demo);
    const rail = tab.getByRole("navigation", { name: "Console" });
    const words = await rail.locator(".entries > a").allTextContents();
    assert.deepEqual(words.slice(0, 3), ["Overview", "Simulator", "Simulated assistants"]);
    for (const [width, height] of [
      [1366, 650],
      [1280, 800],
      [375, 667],
    ] as const) {
      await tab.setViewportSize({ width, height });
      for (const path of ["/console", "/console/simulator", "/console/system"]) {
        await tab.goto(demo.baseUrl + path);
        await tab.waitForFunction("document.documentElement.dataset.fresh !== undefined");
        const where = `${path} at ${width}`;
        assert.ok(await isInView(tab, rail.getByRole("button", { name: "Sign out" })), `Sign out on ${where}`);
        assert.ok(await isInView(tab, rail.locator("[aria-current]")), `the entry of ${where}`);
      }
      await tab.goto(`${demo.baseUrl}/console`);
      if (width > 400) assert.ok(await isInView(tab, rail.getByRole("link", { name: "Simulator" })), `${width}`);
    }
  });
});
