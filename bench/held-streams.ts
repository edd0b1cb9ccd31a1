import { setTimeout as sleep } from "node:timers/promises";
import { linkedAccounts } from "./linked-accounts.ts";
import { MeasuredProcess } from "./measured-process.ts";
import type { Row } from "./row.ts";

const streams = 1_000;
/** After this time the work of starting and connecting is done. */
const settlingMs = 15_000;

/** CPU and memory of linked accounts in which nothing changes. */
export const heldStreams: Row = {
  name: "held-streams",
  async measure(progress) {
    progress("a service without links, for comparison");
    const empty = await usageOf(0);
    progress(`linking and holding ${streams} accounts for 30 s`);
    const held = await usageOf(streams);
    return [
      {
        what: `CPU of ${streams} held streams with nothing but keep-alives, of one core`,
        reference: "the same service without links",
        figure: mean(held.shares) - mean(empty.shares),
        unit: "%",
        spread: [Math.min(...held.shares), Math.max(...held.shares)],
        bar: null,
      },
      {
        what: "RSS of one linked account with its stream",
        reference: "the same service without links",
        figure: (held.rssBytes - empty.rssBytes) / streams / 1024,
        unit: "kB",
        spread: null,
        bar: null,
      },
    ];
  },
};

async function usageOf(count: number): Promise<{ readonly shares: readonly number[]; readonly rssBytes: number }> {
  await using accounts = await linkedAccounts(count);
  await using service = await MeasuredProcess.service(accounts.folder.settings);
  await accounts.untilAllAre("live");
  await sleep(settlingMs);
  const shares = await service.cpuShares(6, 5_000);
  return { shares, rssBytes: (await service.usage()).rssBytes };
}

function mean(figures: readonly number[]): number {
  return figures.reduce((sum, figure) => sum + figure, 0) / figures.length;
}
