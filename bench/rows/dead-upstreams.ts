import { setTimeout as sleep } from "node:timers/promises";
import { linkedAccounts } from "../linked-accounts.ts";
import { MeasuredProcess } from "../measured-process.ts";
import type { Row } from "../row.ts";

const links = 1_000;
/** After this time each link has failed at least six times and its back-off is at the maximum. */
const backingOffMs = 100_000;

/** CPU of the retries while an ecosystem is unreachable: back-off must keep it low. */
export const deadUpstreams: Row = {
  name: "dead-upstreams",
  async measure(progress) {
    progress(`linking ${links} accounts`);
    await using accounts = await linkedAccounts(links);
    await using service = await MeasuredProcess.service(accounts.folder.settings);
    await accounts.untilAllAre("live");
    await accounts.simulator.stop();
    await accounts.untilAllAre("waiting");
    progress(`the ecosystem is gone; ${backingOffMs / 1000} s until all have backed off, then 30 s`);
    await sleep(backingOffMs);
    const shares = await service.cpuShares(6, 5_000);
    await accounts.untilAllAre("waiting");
    return [
      {
        what: `CPU of ${links} links whose ecosystem refuses connections, of one core`,
        reference: null,
        figure: shares.reduce((sum, share) => sum + share, 0) / shares.length,
        unit: "%",
        spread: [Math.min(...shares), Math.max(...shares)],
        bar: { atMost: 20 },
      },
    ];
  },
};
