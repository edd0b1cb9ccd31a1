import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

/** Something that axe could not decide and somebody has looked at. */
export interface LookedAt {
  readonly rule: string;
  /** The element, as axe names it. */
  readonly target: string;
  readonly why: string;
}

interface Finding {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly string[] }[];
}

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The page has no fault that axe knows of, and what axe can't decide is what was looked at, no more and no less. */
export async function assertAccessible(tab: Page, lookedAt: readonly LookedAt[] = []): Promise<void> {
  const { violations, incomplete } = await runAxe(tab);
  assert.deepEqual(violations, []);
  assert.deepEqual(incomplete, lookedAt.map(({ rule, target }) => `${rule} at ${target}`).sort());
}

/** All text stands out from what is behind it. */
export async function assertReadable(tab: Page): Promise<void> {
  assert.deepEqual(await runAxe(tab, "runOnly: ['color-contrast']"), { violations: [], incomplete: [] });
}

/** How often a page is inspected at most whose elements are replaced meanwhile. */
const inspections = 10;

/**
 * axe cannot decide the order of headings when elements are replaced during the inspection. So a page that shows live
 * values is inspected again when that happened.
 */
async function runAxe(tab: Page, rules = "") {
  if (!(await tab.evaluate("'axe' in window"))) await tab.evaluate(source);
  const inspect = () =>
    tab.evaluate<{ violations: Finding[]; incomplete: Finding[]; replaced: number }>(`(async () => {
      let replaced = 0;
      const changes = new MutationObserver((records) => {
        for (const { addedNodes } of records) replaced += [...addedNodes].filter((node) => node.nodeType === 1).length;
      });
      changes.observe(document.body, { subtree: true, childList: true });
      const outcome = await axe.run(document, { resultTypes: ["violations", "incomplete"], ${rules} });
      changes.disconnect();
      return { ...outcome, replaced };
    })()`);
  let outcome = await inspect();
  for (let times = 1; outcome.replaced > 0 && times < inspections; times += 1) outcome = await inspect();
  const places = (findings: readonly Finding[]) =>
    findings.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id} at ${target.join(" ")}`)).sort();
  return { violations: places(outcome.violations), incomplete: places(outcome.incomplete) };
}
