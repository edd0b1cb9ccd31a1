import assert from "node:assert/strict";
import type { Page } from "playwright-core";

/** What the page says about itself, and what on it looks fine. */
interface Seen {
  readonly fresh: string | undefined;
  readonly state: string;
  readonly why: string;
  /** Elements in the green of the light colour scheme, by the beginning of their text. */
  readonly greens: readonly string[];
  /** Buttons that can be pressed, and those that don't say why they can't. */
  readonly pressable: readonly string[];
  readonly unexplained: readonly string[];
}

const look = `(() => {
  const text = (element) => element.outerHTML.slice(0, 120);
  const isGreen = (element) => {
    const { color, backgroundColor, borderTopColor, borderLeftColor, fill } = getComputedStyle(element);
    const dot = getComputedStyle(element, "::before").backgroundColor;
    return [color, backgroundColor, borderTopColor, borderLeftColor, fill, dot].includes("rgb(27, 110, 60)");
  };
  const buttons = [...document.querySelectorAll("main button:not([data-pauses], [data-copies])")];
  const isExplained = (button) => button.title !== "" || button.hasAttribute("aria-describedby");
  return {
    fresh: document.documentElement.dataset.fresh,
    state: document.getElementById("freshness").textContent,
    why: document.getElementById("freshness-why").textContent,
    greens: [...document.body.querySelectorAll("*")].filter(isGreen).map(text),
    pressable: buttons.filter((button) => !button.disabled).map(text),
    unexplained: buttons.filter((button) => button.disabled && !isExplained(button)).map(text),
  };
})()`;

export async function isLive(tab: Page): Promise<void> {
  await tab.locator("#freshness", { hasText: "Live" }).waitFor();
}

/** The page says since when and why its state is unknown. Nothing is green, and no button can be pressed. */
export async function assertUnknown(tab: Page, why: RegExp): Promise<void> {
  const place = new URL(tab.url()).pathname;
  await tab.locator("#freshness-why", { hasText: why }).waitFor();
  const seen = await tab.evaluate<Seen>(look);
  assert.equal(seen.fresh, "as-of", place);
  assert.match(seen.state, /^As of \d\d:\d\d:\d\d, \d+ (s|min) ago$/, place);
  assert.deepEqual(
    { ...seen, greens: seen.greens, pressable: seen.pressable },
    { ...seen, greens: [], pressable: [] },
    place,
  );
  assert.deepEqual(seen.unexplained, [], place);
}

/** The green elements of a page, for a state that is known. */
export async function greensOf(tab: Page): Promise<readonly string[]> {
  return (await tab.evaluate<Seen>(look)).greens;
}
