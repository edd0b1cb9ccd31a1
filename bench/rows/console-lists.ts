import { setTimeout as sleep } from "node:timers/promises";
import { cookieName, operatorCookieOptions } from "../../src/http/answer/browser-cookie.ts";
import { consolePages } from "../../src/outlets/console/pages.ts";
import { summary } from "../comparison.ts";
import type { Row } from "../row.ts";
import { sizedDeployment } from "../sized-deployment.ts";

/** `LINKS=n` measures another number of links. */
const links = Number(process.env.LINKS ?? 10_000);
const rounds = 7;
/** Longer than counts of links are kept: an open page reads again every 4 seconds, and finds none. */
const pauseMs = 1_100;

/** Filters that few or no entries pass, so that many are looked at. */
const searches = [
  "/homes?state=needs_reauth",
  "/things?state=smoke.state=alarm",
  "/things?name=nowhere",
  "/users?filter=nobody",
  "/search?q=nobody",
];

/** The CPU of a node for each page of the console that needs no id, read by an owner while the node follows many links. */
export const consoleLists: Row = {
  name: "console-lists",
  isOnlyByName: true,
  async measure(progress) {
    await using deployment = await sizedDeployment({ links, nodes: 1 }, progress);
    const { nodes, ownerSession } = deployment;
    const node = nodes[0]!;
    const cookie = `${cookieName(node.url, operatorCookieOptions)}=${ownerSession}`;
    const paths = [...consolePages.map(({ path }) => path).filter((path) => !path.includes(":")), ...searches];
    const cpuMs = new Map<string, number[]>(paths.map((path) => [path, []]));
    for (let round = 0; round <= rounds; round++) {
      progress(round === 0 ? "reading each page for the first time" : `round ${round} of ${rounds}`);
      for (const path of paths) {
        await sleep(pauseMs);
        const before = await node.usage();
        const answer = await fetch(`${node.url}/console${path}`, { headers: { cookie, accept: "text/html" } });
        await answer.text();
        if (answer.status !== 200) throw new Error(`/console${path} answered ${answer.status}`);
        const after = await node.usage();
        // The first round compiles the code and fills caches.
        if (round > 0) cpuMs.get(path)!.push(after.cpuMs - before.cpuMs);
      }
    }
    return [...cpuMs].map(([path, figures]) => ({
      what: `CPU of /console${path} with ${links} links`,
      reference: null,
      ...summary(figures),
      unit: "ms" as const,
      bar: { atMost: 100 },
    }));
  },
};
