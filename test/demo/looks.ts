import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { assertAccessible } from "../browser/axe.ts";
import { devices, type Look } from "../browser/world.ts";
import { sampleOf } from "../set-up/sample.ts";

let inspections = 0;

/** Checks the layout and axe on a phone in dark mode and on a desktop in light mode. */
export async function assertGood(tab: Page): Promise<void> {
  const looks: readonly Look[] = [
    { device: "phone", scheme: "dark" },
    { device: "desktop", scheme: "light" },
  ];
  for (const { device, scheme } of sampleOf(looks, { everyNth: 2, from: inspections++ })) {
    await tab.setViewportSize(devices[device].viewport);
    await tab.emulateMedia({ colorScheme: scheme });
    await tab.evaluate("scrollTo(0, 0)");
    const width = await tab.evaluate<number>("document.documentElement.scrollWidth");
    assert.ok(width <= devices[device].viewport.width, `the page is ${width} wide`);
    await assertAccessible(tab);
  }
}
