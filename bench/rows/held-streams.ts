import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeCertificate } from "../../test/set-up/certificate.ts";
import { ChildServer } from "../ecosystems/child-server.ts";
import { type LinkedAccounts, linkedAccounts } from "../linked-accounts.ts";
import { MeasuredProcess } from "../measured-process.ts";
import type { Result, Row } from "../row.ts";

/**
 * `STREAMS=10000` measures more. Each takes two open files of this process, one of the measured one, and over TLS one of
 * each worker of the server in front of the simulator: `ulimit -n 65536` first.
 */
const streams = Number(process.env.STREAMS ?? 1_000);
/** After this time the work of starting and connecting is done. */
const settlingMs = 15_000;
/** What a linked account may take beside its stream. */
const mostBesideStreamKb = 20;

interface HeldUsage {
  readonly shares: readonly number[];
  readonly rssBytes: number;
}

/** CPU and memory of linked accounts in which nothing changes, with plain streams and with TLS. */
export const heldStreams: Row = {
  name: "held-streams",
  async measure(progress) {
    const results: Result[] = [];
    for (const isTls of [false, true]) {
      const how = isTls ? "over TLS" : "plain";
      progress(`a service and a reference without streams, for comparison (${how})`);
      const empty = await usageOf(0, isTls);
      progress(`linking and holding ${streams} accounts (${how})`);
      const measured = resultsOf(how, empty, await usageOf(streams, isTls));
      // The other half may take long, or need more open files than there are.
      for (const { what, figure, unit } of measured) progress(`${what}: ${figure.toFixed(1)} ${unit}`);
      results.push(...measured);
    }
    return results;
  },
};

type Usages = Readonly<Record<"service" | "reference", HeldUsage>>;

function resultsOf(how: string, empty: Usages, held: Usages): readonly Result[] {
  const kilobytesOf = (side: "service" | "reference") => (held[side].rssBytes - empty[side].rssBytes) / streams / 1024;
  const ours = kilobytesOf("service");
  const reference = "the same service without links";
  return [
    {
      what: `CPU of ${streams} held streams (${how}) with nothing but keep-alives, of one core`,
      reference,
      figure: mean(held.service.shares) - mean(empty.service.shares),
      unit: "%",
      spread: [Math.min(...held.service.shares), Math.max(...held.service.shares)],
      bar: null,
    },
    {
      what: `RSS of one linked account with its stream (${how}), of ${streams}`,
      reference,
      figure: ours,
      unit: "kB",
      spread: null,
      bar: null,
    },
    {
      what: `the same, beyond the RSS of the stream alone (${how})`,
      reference: "node:http that holds the same streams",
      figure: ours - kilobytesOf("reference"),
      unit: "kB",
      spread: null,
      bar: { atMost: mostBesideStreamKb },
    },
  ];
}

async function usageOf(count: number, isTls: boolean): Promise<Usages> {
  await using accounts = await linkedAccounts(count);
  await using front = isTls ? await tlsFront(accounts) : undefined;
  const url = front?.url ?? accounts.simulator.url;
  const ecosystems = { nest: { protocol: "nest", apiUrl: url } };
  const settings = { ...accounts.folder.settings, BREEZEWAY_ECOSYSTEMS: JSON.stringify(ecosystems) };
  const service = await (async () => {
    await using process = await MeasuredProcess.service(settings);
    await accounts.untilAllAre("live");
    return await measured(process);
  })();
  await using process = await MeasuredProcess.reference("held-stream", streamsFile(accounts, url));
  return { service, reference: await measured(process) };
}

/** A server for TLS in front of the simulator. Processes that start from now on trust its certificate. */
async function tlsFront({ folder, simulator }: LinkedAccounts): Promise<ChildServer<never, never>> {
  const { keyFile, certFile } = makeCertificate(folder.path);
  process.env.NODE_EXTRA_CA_CERTS = certFile;
  return ChildServer.start("./tls-front-process.ts", [new URL(simulator.url).port, keyFile, certFile]);
}

async function measured(process: MeasuredProcess): Promise<HeldUsage> {
  await sleep(settlingMs);
  const shares = await process.cpuShares(6, 5_000);
  return { shares, rssBytes: (await process.usage()).rssBytes };
}

/** What the reference reads: the address of the streams and the tokens of all accounts. */
function streamsFile({ folder, devices }: LinkedAccounts, url: string): string {
  const file = join(folder.path, "streams.json");
  writeFileSync(file, JSON.stringify({ url, tokens: devices.map(({ token }) => token) }));
  return file;
}

function mean(figures: readonly number[]): number {
  return figures.reduce((sum, figure) => sum + figure, 0) / figures.length;
}
