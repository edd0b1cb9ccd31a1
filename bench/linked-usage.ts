import { setTimeout as sleep } from "node:timers/promises";
import type { Credential } from "../src/ecosystems/credential.ts";
import { MeasuredProcess } from "./measured-process.ts";
import { type PreparedFolder, prepare, preparedFolder } from "./prepared-folder.ts";
import type { Result } from "./row.ts";
import { untilLinksAre } from "./until-linked.ts";
import { addUsers } from "./users.ts";

/** A simulated ecosystem whose accounts are linked, followed and measured. */
export interface MeasuredEcosystem {
  /** The settings of the ecosystem in Breezeway. */
  readonly settings: object;
  /** The token or credential of another account, and the address of an account that has one. */
  newAccount(): { readonly credential: string | Credential; readonly address?: string };
  /** From now on each account reports a new temperature every `sampleMs`; the returned function ends that. */
  report(sampleMs: number): () => void;
  stop(): Promise<void>;
}

export interface LinkedUsagePlan {
  /** How one account is called. */
  readonly account: string;
  readonly sampleMs: number;
  readonly start: () => Promise<MeasuredEcosystem>;
}

const links = 2_000;
const linkedAtOnce = 20;
/** After this time the work of starting and connecting is done. */
const settlingMs = 15_000;

/** CPU and memory of many links on one node: while they are quiet, and while they report. */
export async function linkedUsage(plan: LinkedUsagePlan, progress: (sentence: string) => void): Promise<Result[]> {
  progress("a service without links, for comparison");
  const empty = await usageOf(0, plan);
  progress(`linking ${links} accounts, and holding them for a minute`);
  const held = await usageOf(links, plan);
  const cpu = (shares: readonly number[]) => ({
    reference: "the same service without links",
    figure: mean(shares) - mean(empty.quiet),
    unit: "%" as const,
    spread: [Math.min(...shares), Math.max(...shares)] as const,
    bar: null,
  });
  return [
    { what: `CPU of ${links} quiet links to ${plan.account}, of one core`, ...cpu(held.quiet) },
    { what: `CPU of the same, each with a new temperature every ${plan.sampleMs / 1000} s`, ...cpu(held.reporting) },
    {
      what: `RSS of one link to ${plan.account}`,
      reference: "the same service without links",
      figure: (held.rssBytes - empty.rssBytes) / links / 1024,
      unit: "kB",
      spread: null,
      bar: null,
    },
  ];
}

async function usageOf(count: number, { start, sampleMs }: LinkedUsagePlan) {
  await using finishing = new AsyncDisposableStack();
  const ecosystem = await start();
  finishing.defer(() => ecosystem.stop());
  const ecosystems = JSON.stringify({ home: ecosystem.settings });
  const folder = finishing.use(preparedFolder({ BREEZEWAY_ECOSYSTEMS: ecosystems }));
  await link(count, folder, ecosystem);
  const service = finishing.use(await MeasuredProcess.service(folder.settings));
  await untilLinksAre(folder, count, "live");
  await sleep(settlingMs);
  const quiet = await service.cpuShares(6, 5_000);
  const { rssBytes } = await service.usage();
  finishing.defer(ecosystem.report(sampleMs));
  return { quiet, reporting: await service.cpuShares(6, 5_000), rssBytes };
}

function link(count: number, folder: PreparedFolder, ecosystem: MeasuredEcosystem): Promise<void> {
  return prepare(folder, async ({ identity, store, federation }) => {
    const { tenantId } = await identity.addTenant({ name: "Bench" });
    const users = await store.transaction((tx) => addUsers(tx, tenantId, count));
    const unlinked = users.values();
    const linkSome = async () => {
      for (const userId of unlinked) {
        const { credential, address } = ecosystem.newAccount();
        await federation.link(userId, "home", credential, address);
      }
    };
    await Promise.all(Array.from({ length: linkedAtOnce }, linkSome));
  });
}

function mean(figures: readonly number[]): number {
  return figures.reduce((sum, figure) => sum + figure, 0) / figures.length;
}
