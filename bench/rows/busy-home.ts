import { callControl } from "../../src/cli/administration/control-socket.ts";
import { dataFolder } from "../../src/store/disk/data-folder.ts";
import type { Played, Playing } from "../ecosystems/busy-home-process.ts";
import { ChildServer } from "../ecosystems/child-server.ts";
import { MeasuredProcess } from "../measured-process.ts";
import { type PreparedFolder, prepare, preparedFolder } from "../prepared-folder.ts";
import type { Result, Row } from "../row.ts";
import { untilLinksAre } from "../until-linked.ts";
import { addUsers } from "../users.ts";

const program = new URL("../ecosystems/busy-home-process.ts", import.meta.url).href;
const seconds = Number(process.env.SECONDS ?? 25);
const sliceMs = 5_000;
const settlingMs = 5_000;
const mostPercent = 10;
/** A change that is on its way for longer was held back. */
const mostBehindMs = 1_000;

const scenarios = [
  { what: "400 changes of brightness a second", change: "brightness", perSecond: 400 },
  { what: "40 lights a second turned on or off", change: "on/off", perSecond: 40 },
] as const;

/** CPU of a node that follows one home of 480 honest lights, while these change. `SECONDS=n` measures longer. */
export const busyHome: Row = {
  name: "busy-home",
  async measure(progress) {
    await using home = await ChildServer.start<Playing, Played>(program);
    const ecosystems = JSON.stringify({ home: { protocol: "home-assistant", allowPrivateNetworks: true } });
    using folder = preparedFolder({ BREEZEWAY_ECOSYSTEMS: ecosystems, BREEZEWAY_LOG_LEVEL: "warn" });
    await prepare(folder, async ({ identity, store, federation }) => {
      const { tenantId } = await identity.addTenant({ name: "Bench" });
      const [userId] = await store.transaction((tx) => addUsers(tx, tenantId, 1));
      await federation.link(userId!, "home", "token", home.url);
    });
    await using service = await MeasuredProcess.service(folder.settings);
    await untilLinksAre(folder, 1, "live");
    await new Promise((resolve) => setTimeout(resolve, settlingMs));
    progress("the same home while nothing changes, for comparison");
    const idle = mean(await service.cpuShares(Math.round((seconds * 1_000) / sliceMs), sliceMs));
    const results: Result[] = [];
    for (const { what, ...playing } of scenarios) {
      progress(what);
      // The code is compiled in the first seconds.
      await home.request({ ...playing, seconds: settlingMs / 1_000 });
      const before = await countsOf(service);
      const played = home.request({ ...playing, seconds });
      const shares = await service.cpuShares(Math.floor((seconds * 1_000) / sliceMs), sliceMs);
      const { behindMs } = await played;
      const after = await countsOf(service);
      const commits = after.commits - before.commits;
      const slowed = after.limits - before.limits;
      progress(`${playing.perSecond * seconds} changes, ${commits} commits; the link is ${await shownLinks(folder)}`);
      results.push(
        {
          what: `CPU of a home with ${what}, of one core`,
          reference: "the same home while nothing changes",
          figure: mean(shares) - idle,
          unit: "%",
          spread: [Math.min(...shares) - idle, Math.max(...shares) - idle],
          bar: { atMost: mostPercent },
        },
        {
          what: "how often a limit slowed the link meanwhile",
          reference: null,
          figure: slowed,
          unit: "x",
          spread: null,
          bar: { atMost: 0 },
        },
        {
          what: "until the last of these changes was read",
          reference: null,
          figure: behindMs,
          unit: "ms",
          spread: null,
          bar: { atMost: mostBehindMs },
        },
      );
    }
    return results;
  },
};

/** The commits of the ecosystem so far, and how often any limit was reached. */
async function countsOf({ url }: MeasuredProcess) {
  const text = await (await fetch(`${url}/metrics`)).text();
  const reached = [...text.matchAll(/^breezeway_limit_reached_total\{[^}]*\} (\d+)$/gm)];
  return {
    commits: Number(/^breezeway_commits_total\{by="ecosystem"\} (\d+)$/m.exec(text)?.[1] ?? 0),
    limits: reached.reduce((sum, [, count]) => sum + Number(count), 0),
  };
}

async function shownLinks({ path }: PreparedFolder): Promise<string> {
  const { links } = (await callControl(dataFolder(path).controlSocket, "status", {})) as { readonly links: object };
  return Object.keys(links).join(", ");
}

function mean(figures: readonly number[]): number {
  return figures.reduce((sum, figure) => sum + figure, 0) / figures.length;
}
