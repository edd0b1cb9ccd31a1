import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { consolePages } from "../../src/outlets/console/pages.ts";
import { assertAccessible } from "../browser/axe.ts";
import { browserOfFile, skip } from "../browser/world.ts";
import { addressesOf, fullWorld, furtherAddresses } from "./full-world.ts";
import { operatorTab } from "./operator-tab.ts";
import { previewsOn } from "./previews.ts";

const browser = browserOfFile();

describe("every page of the console", { skip }, () => {
  it("is accessible and has no sideways scroll at each width, light and dark, with hostile names", {
    timeout: 900_000,
  }, async (t) => {
    const made = await fullWorld(t);
    const addresses = addressesOf(made);
    const owner = await made.owner();
    const at = { world: { baseUrl: made.house.service.baseUrl } } as never;
    const paths = [...consolePages.map(({ path }) => addresses[path] ?? path), ...furtherAddresses(made)];
    for (const scheme of ["light", "dark"] as const) {
      await operatorTab(browser(), at, owner, { scheme }, async (tab) => {
        for (const path of paths) {
          const answer = await tab.goto(`/console${path}`);
          assert.equal(answer?.status(), 200, path);
          for (const details of await tab.locator("main details").all()) {
            await details.evaluate((element) => element.setAttribute("open", ""));
          }
          for (const width of [390, 768, 1440]) {
            // So high that the bar at the bottom covers nothing: axe can't judge what is covered.
            await tab.setViewportSize({ width, height: 9_000 });
            const wide = await tab.evaluate<number>("document.documentElement.scrollWidth");
            assert.ok(wide <= width, `${path} at ${width} is ${wide} wide`);
            await assertAccessible(tab, previewsOn(path));
          }
        }
      });
    }
  });
});
