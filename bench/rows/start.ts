import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { readConfig } from "../../src/config/config.ts";
import { sealCredential } from "../../src/federation/credential.ts";
import type { UserId } from "../../src/model/ids.ts";
import { startLogging } from "../../src/runtime/process/log.ts";
import { openFoundation } from "../../src/service/foundation.ts";
import { databaseName } from "../../src/store/backup/manifest.ts";
import type { LinkRow } from "../../src/store/tables/links.ts";
import { LivingEcosystem } from "../ecosystems/living-ecosystem.ts";
import { MeasuredProcess } from "../measured-process.ts";
import { type PreparedFolder, prepare, preparedFolder } from "../prepared-folder.ts";
import type { Row } from "../row.ts";
import { untilLinksAre } from "../until-linked.ts";
import { addUsers } from "../users.ts";

/** `LINKS=n` starts with another number of links. */
const links = Number(process.env.LINKS ?? 100_000);
const rounds = 3;
const longestStartMs = 120_000;

/**
 * How long a node with very many links takes until it is ready, and its memory then. Nothing listens at the address of
 * the ecosystem: one machine can't hold that many streams. The homes' attributes and things are not stored, because a
 * node reads them only when a stream opens.
 */
export const start: Row = {
  name: "start",
  isOnlyByName: true,
  async measure(progress) {
    await using finishing = new AsyncDisposableStack();
    const ecosystem = await LivingEcosystem.start("127.0.0.1");
    const ecosystems = { nest: { protocol: "nest", apiUrl: ecosystem.url } };
    const folder = finishing.use(
      preparedFolder({ BREEZEWAY_ECOSYSTEMS: JSON.stringify(ecosystems), BREEZEWAY_LOG_LEVEL: "error" }),
    );
    progress(`storing ${links} links`);
    await fill(folder);
    await ecosystem[Symbol.asyncDispose]();
    const starts: { readonly readyMs: number; readonly adoptedMs: number; readonly rssBytes: number }[] = [];
    for (let round = 1; round <= rounds; round++) {
      starts.push(await startOnce(folder));
      progress(`round ${round}: ready after ${(starts.at(-1)!.readyMs / 1_000).toFixed(1)} s`);
    }
    const median = (of: (one: (typeof starts)[number]) => number) => {
      const sorted = starts.map(of).toSorted((a, b) => a - b);
      return { figure: sorted[Math.floor(rounds / 2)]!, spread: [sorted[0]!, sorted.at(-1)!] as const };
    };
    const plain = { reference: null, bar: null };
    return [
      {
        ...plain,
        what: `from the start of a node with ${links} links until it is ready`,
        ...median(({ readyMs }) => readyMs),
        unit: "ms",
        bar: { atMost: 10_000 },
      },
      { ...plain, what: "the same, until it follows all of them", ...median(({ adoptedMs }) => adoptedMs), unit: "ms" },
      { ...plain, what: "RSS of the node then", ...median(({ rssBytes }) => rssBytes / 1_024), unit: "kB" },
    ];
  },
};

/** Links one account through the federation, and copies its rows for the others, each with a token of its own. */
async function fill(folder: PreparedFolder): Promise<void> {
  const link = await prepare(folder, async ({ identity, store, federation }) => {
    const { tenantId } = await identity.addTenant({ name: "Bench" });
    const [userId] = await store.transaction((tx) => addUsers(tx, tenantId, 1));
    await federation.link(userId!, "nest", LivingEcosystem.tokenOf(0));
    return (await store.read((tx) => tx.links.ofUser(userId!)))[0] as LinkRow;
  });
  const config = readConfig({ flags: {}, environment: folder.settings });
  const { sealing, close } = await openFoundation(config, startLogging("warn"), undefined, {});
  try {
    copyRows(folder, link, (account) => {
      const place = { userId: (link.userId + account) as UserId, ecosystem: link.ecosystem };
      const seal = (text: string, context: string) => sealing.seal(text, context);
      return sealCredential(seal, place, LivingEcosystem.tokenOf(account)).sealedToken;
    });
  } finally {
    await close();
  }
}

/** In bulk: the store's own functions add one row at a time. */
function copyRows(
  { path }: PreparedFolder,
  { userId, deviceId }: LinkRow,
  sealedTokenOf: (account: number) => string,
): void {
  using database = new DatabaseSync(join(path, databaseName));
  database.function("sealed_token", (account) => sealedTokenOf(Number(account)));
  const copy = (table: string, where: string, changed: Readonly<Record<string, string>>) => {
    const columns = database.prepare(`SELECT name FROM pragma_table_info('${table}')`).all();
    const names = columns.map(({ name }) => String(name));
    database.exec(
      `WITH RECURSIVE others (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM others WHERE n < ${links - 1})
       INSERT INTO ${table} (${names}) SELECT ${names.map((name) => changed[name] ?? name)} FROM ${table}, others
       WHERE ${where}`,
    );
  };
  database.exec("BEGIN");
  copy("users", `id = ${userId}`, { id: "id + n", name: "'linked' || n" });
  copy("devices", `id = ${deviceId}`, { id: "id + n", user_id: "user_id + n" });
  copy("links", `device_id = ${deviceId}`, {
    user_id: "user_id + n",
    device_id: "device_id + n",
    sealed_token: "sealed_token(n)",
  });
  database.exec("COMMIT");
}

async function startOnce(folder: PreparedFolder) {
  const startedMs = performance.now();
  await using service = await MeasuredProcess.service(folder.settings);
  for (;;) {
    if ((await fetch(`${service.url}/readyz`)).status === 200) break;
    if (performance.now() - startedMs > longestStartMs) throw new Error("the node did not become ready");
    await sleep(20);
  }
  const readyMs = performance.now() - startedMs;
  await untilLinksAre(folder, links, "waiting");
  return { readyMs, adoptedMs: performance.now() - startedMs, rssBytes: (await service.usage()).rssBytes };
}
