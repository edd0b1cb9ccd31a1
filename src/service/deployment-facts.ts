import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { KeyActs } from "../cli/administration/admin-command.ts";
import type { CountsOfNodes, DeploymentFacts } from "../cli/administration/overview-parts.ts";
import type { Config } from "../config/config.ts";
import type { ShownSetting } from "../config/shown-settings.ts";
import { nodeName } from "../model/node-name.ts";
import type { Membership } from "../nodes/membership.ts";
import { lastBackupMs } from "../store/backup/last-backup.ts";
import { diskSpaceOf } from "../store/disk/disk-space.ts";
import { schemaVersion } from "../store/migrations.ts";
import type { OpenStore } from "../store/seam.ts";

export interface DeploymentParts {
  readonly store: OpenStore;
  readonly folder: string;
  readonly keyFile: string;
  readonly config: Pick<Config, "tlsCertFile" | "ecosystems" | "dataFolder" | "databaseUrl">;
  readonly membership: Pick<Membership, "id">;
  readonly settings: readonly ShownSetting[];
  readonly version: string;
  readonly keys: Pick<KeyActs, "list">;
  readonly countsOfNodes: () => Promise<Pick<CountsOfNodes, "limits" | "silent"> | undefined>;
  readonly elapsedMs: () => number;
}

/** Keys are counted over all sealed values, which takes long: pages use what was read within this time. */
const keysKeptMs = 60_000;

/** What the service knows about itself. A part that can't be read throws, so that it is shown as unknown. */
export function deploymentFacts(parts: DeploymentParts): DeploymentFacts {
  const { store, folder, config, membership, settings, version, keys, countsOfNodes, elapsedMs } = parts;
  let known: { readonly untilMs: number; readonly missing: Promise<number> } | undefined;
  let examining: ReturnType<DeploymentFacts["examine"]> | undefined;
  const isThis = (id: string) => id === membership.id;
  return {
    settings,
    version,
    ecosystems: config.ecosystems.map(({ name, apiUrl }) => ({ name, url: apiUrl })),
    async nodes() {
      if (!store.isShared) {
        const shares = await store.read((tx) => tx.links.countsByOwner());
        const links = shares.find(({ owner }) => owner === membership.id)?.count ?? 0;
        return [{ node: membership.id, isThis: true, silentMs: null, links, schemaVersion }];
      }
      const listed = await store.read((tx) => tx.nodes.list());
      return listed.map(({ id, ...node }) => ({ node: id, isThis: isThis(id), ...node }));
    },
    async store() {
      const { kind, waiting, lastSyncMs } = await store.health();
      const bytes = store.space ? (await store.space.measure()).bytes : null;
      return { kind, waiting, lastSyncMs, bytes, schemaVersion };
    },
    async limits() {
      const { limits = {}, silent = [] } = (await countsOfNodes()) ?? {};
      if (silent.length > 0) throw new Error(`These nodes did not answer: ${silent.map(nodeName).join(", ")}.`);
      return limits;
    },
    missingKeys() {
      if (!known || elapsedMs() >= known.untilMs) {
        const missing = keys.list().then((all) => all.filter(({ role }) => role === "missing").length);
        missing.catch(() => (known = undefined));
        known = { untilMs: elapsedMs() + keysKeptMs, missing };
      }
      return known.missing;
    },
    examine(service) {
      // Single-flight: each check opens a connection to the database beside those of the pools.
      examining ??= examineNow(parts, service).finally(() => (examining = undefined));
      return examining;
    },
    disk: () => diskSpaceOf(folder),
    async certificate() {
      if (config.tlsCertFile === undefined) return undefined;
      return { endsMs: Date.parse(new X509Certificate(await readFile(config.tlsCertFile)).validTo) };
    },
    lastBackupMs: () => lastBackupMs(store),
  };
}

async function examineNow(
  { config, folder, keyFile, membership, settings }: DeploymentParts,
  service: Parameters<DeploymentFacts["examine"]>[0],
): ReturnType<DeploymentFacts["examine"]> {
  // Loaded on demand, so that the service starts faster.
  const [{ examineService }, { inspectStore }] = await Promise.all([
    import("../cli/machine-checks.ts"),
    import("../store/inspection.ts"),
  ]);
  const seen = { keyFile, ...(await inspectStore({ databaseUrl: config.databaseUrl, folder }, keyFile)) };
  return { node: membership.id, checks: await examineService({ ...service, config, seen, settings }) };
}
