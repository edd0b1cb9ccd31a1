import { setTimeout as sleep } from "node:timers/promises";
import { cookieName, operatorCookieOptions } from "../../src/http/answer/browser-cookie.ts";
import type { TenantId } from "../../src/model/ids.ts";
import { consolePages } from "../../src/outlets/console/pages.ts";
import type { Parts } from "../../src/service/parts.ts";
import { summary } from "../comparison.ts";
import { addConsoleData, type ConsoleData } from "../console-data.ts";
import type { Row } from "../row.ts";
import { type SizedDeployment, sizedDeployment } from "../sized-deployment.ts";

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
  "/search?q=hall",
  "/alerts?filter=nobody",
  "/requests?only=all&status=4xx",
];

/** Requests before the measurement; as many are kept as a node keeps. Every fourth is refused. */
const requests = 4_000;
const requestsAtOnce = 20;

/**
 * The CPU of a node for each list of the console, read by an owner while the node follows many links, and for the pages
 * of a client, a webhook, an assistant and a user that have lists of their own. Every user has given a client access, and
 * there are webhooks with deliveries, own devices, alerts and requests.
 */
export const consoleLists: Row = {
  name: "console-lists",
  isOnlyByName: true,
  async measure(progress) {
    let made: ConsoleData | undefined;
    const prepareMore = async (parts: Parts, tenantId: TenantId) => {
      progress("adding grants, webhooks, deliveries, own devices and alerts");
      made = await addConsoleData(parts, tenantId);
    };
    await using deployment = await sizedDeployment({ links, nodes: 1, prepareMore }, progress);
    const { nodes, ownerSession } = deployment;
    const node = nodes[0]!;
    await request(node.url, deployment);
    const cookie = `${cookieName(node.url, operatorCookieOptions)}=${ownerSession}`;
    const { clientId, webhookId, outlet, userId } = made!;
    const paths = [
      ...consolePages.map(({ path }) => path).filter((path) => !path.includes(":")),
      ...[`/clients/${clientId}`, `/webhooks/${webhookId}`, `/assistants/${outlet}`, `/users/${userId}`],
      ...searches,
    ];
    const nameOf = (path: string) =>
      Object.entries({ client: clientId, webhook: webhookId, outlet, user: `/${userId}` }).reduce(
        (name, [word, id]) => name.replace(id, `${id.startsWith("/") ? "/" : ""}:${word}`),
        path,
      );
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
      what: `CPU of /console${nameOf(path)} with ${links} links`,
      reference: null,
      ...summary(figures),
      unit: "ms" as const,
      bar: { atMost: 100 },
    }));
  },
};

/** Reads of devices by a client, some of them unknown. */
async function request(url: string, { accessToken, accountOf }: SizedDeployment): Promise<void> {
  const devices = [...accountOf.keys()];
  const headers = { authorization: `Bearer ${accessToken}` };
  for (let nth = 0; nth < requests; nth += requestsAtOnce) {
    const some = Array.from({ length: requestsAtOnce }, async (_, i) => {
      const device = i % 4 === 0 ? 2_000_000_000 : devices[(nth + i) % devices.length]!;
      await (await fetch(`${url}/v3/devices/${device}`, { headers })).text();
    });
    await Promise.all(some);
  }
}
