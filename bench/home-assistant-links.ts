import { setTimeout as sleep } from "node:timers/promises";
import { type HomeAssistant, startHomeAssistant } from "../simulator/home-assistant/simulator.ts";
import { MeasuredProcess } from "./measured-process.ts";
import { type PreparedFolder, prepare, preparedFolder } from "./prepared-folder.ts";
import type { Row } from "./row.ts";
import { untilLinksAre } from "./until-linked.ts";
import { addUsers } from "./users.ts";

const links = 2_000;
const linkedAtOnce = 20;
/** After this time the work of starting and connecting is done. */
const settlingMs = 15_000;
/** How often a sensor of each home reports another temperature. */
const sampleMs = 5_000;

/** CPU and memory of linked Home Assistants on one node: quiet ones, and ones whose sensors report. */
export const homeAssistantLinks: Row = {
  name: "home-assistant-links",
  async measure(progress) {
    progress("a service without links, for comparison");
    const empty = await usageOf(0);
    progress(`linking ${links} homes, and holding them for a minute`);
    const held = await usageOf(links);
    const cpu = (shares: readonly number[]) => ({
      reference: "the same service without links",
      figure: mean(shares) - mean(empty.quiet),
      unit: "%" as const,
      spread: [Math.min(...shares), Math.max(...shares)] as const,
      bar: null,
    });
    return [
      { what: `CPU of ${links} quiet Home Assistants, of one core`, ...cpu(held.quiet) },
      { what: `CPU of the same, each with a new temperature every ${sampleMs / 1000} s`, ...cpu(held.reporting) },
      {
        what: "RSS of one linked Home Assistant with its session",
        reference: "the same service without links",
        figure: (held.rssBytes - empty.rssBytes) / links / 1024,
        unit: "kB",
        spread: null,
        bar: null,
      },
    ];
  },
};

async function usageOf(count: number) {
  await using finishing = new AsyncDisposableStack();
  const simulator = await startHomeAssistant();
  finishing.defer(() => simulator.stop());
  const ecosystems = { home: { protocol: "home-assistant", allowPrivateNetworks: true } };
  const folder = finishing.use(preparedFolder({ BREEZEWAY_ECOSYSTEMS: JSON.stringify(ecosystems) }));
  await link(count, folder, simulator);
  const service = finishing.use(await MeasuredProcess.service(folder.settings));
  await untilLinksAre(folder, count, "live");
  await sleep(settlingMs);
  const quiet = await service.cpuShares(6, 5_000);
  const { rssBytes } = await service.usage();
  let turn = 0;
  const reporting = setInterval(() => {
    turn += 1;
    simulator.instance.change("climate.hallway", undefined, { current_temperature: 19 + (turn % 4) / 10 });
  }, sampleMs);
  finishing.defer(() => clearInterval(reporting));
  return { quiet, reporting: await service.cpuShares(6, 5_000), rssBytes };
}

/** Many accounts of one instance, each with a token of its own. */
function link(count: number, folder: PreparedFolder, { tokens, url }: HomeAssistant): Promise<void> {
  return prepare(folder, async ({ identity, store, federation }) => {
    const { tenantId } = await identity.addTenant({ name: "Bench" });
    const users = await store.transaction((tx) => addUsers(tx, tenantId, count));
    const unlinked = users.values();
    const linkSome = async () => {
      for (const userId of unlinked) await federation.link(userId, "home", tokens.addLongLived(), url);
    };
    await Promise.all(Array.from({ length: linkedAtOnce }, linkSome));
  });
}

function mean(figures: readonly number[]): number {
  return figures.reduce((sum, figure) => sum + figure, 0) / figures.length;
}
