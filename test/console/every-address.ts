import assert from "node:assert/strict";
import type { ConsolePage } from "../../src/outlets/console/console-page.ts";

/**
 * An address for each page: its own path, or for a path with parameters the first link to it on another page. Throws when
 * a page is not linked from any other, so that a new page can't be forgotten.
 */
export async function addressOfEveryPage(
  pages: readonly ConsolePage[],
  read: (address: string) => Promise<string>,
): Promise<readonly string[]> {
  const found = new Map(pages.filter(({ path }) => !path.includes(":")).map(({ path }) => [path, `/console${path}`]));
  const unread = [...found.values()];
  while (unread.length > 0) {
    const text = await read(unread.shift()!);
    const paths = [...text.matchAll(/href="(\/console\/[^"?#]+)/g)].map(([, path]) => path!);
    for (const { path } of pages.filter((page) => !found.has(page.path))) {
      const pattern = new RegExp(`^/console${path.replace(/:\w+/g, "[^/]+")}$`);
      const address = paths.find((one) => pattern.test(one));
      if (address === undefined) continue;
      found.set(path, address);
      unread.push(address);
    }
  }
  const missing = pages.filter(({ path }) => !found.has(path)).map(({ path }) => path);
  assert.deepEqual(missing, [], "no page links to these");
  return [...found.values()];
}
