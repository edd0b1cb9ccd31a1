import { accessSync, constants, existsSync, statfsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Config } from "../config/config.ts";
import { lackOfEcosystems, lacksEcosystems } from "../config/ecosystem-settings.ts";
import { type ShownSetting, shownSettings } from "../config/shown-settings.ts";
import { ecosystem, port, publicAddress } from "./address-checks.ts";
import type { Call } from "./command.ts";
import { ecosystemsOf } from "./ecosystems.ts";
import type { Finding } from "./finding.ts";
import type { Inspection } from "./programs.ts";

const leastFreeBytes = 1024 ** 3;
const largestOffsetMs = 5_000;

/** Checks everything that a service needs, without changing anything. */
export async function examine(call: Call): Promise<readonly Finding[]> {
  const findings: Finding[] = [nodeVersion(), clock()];
  let config: Config;
  try {
    config = call.config();
    findings.push({ check: "settings", state: "ok", words: "valid" });
  } catch (error) {
    const words = (error as Error).message.split("\n").join(" ");
    return [...findings, { check: "settings", state: "fail", words, next: "breezeway config print" }];
  }
  findings.push(...encryption(config), dataFolder(config));
  const seen = await call.programs.inspect(config);
  findings.push(
    disk(config),
    service(config, seen),
    await port(config, seen),
    key(seen),
    database(config, seen),
    ...(seen.databaseProblem === undefined ? [storeClock(seen)] : []),
  );
  const addresses = ecosystemsOf(config, call.sources).flatMap(({ name, apiUrl }) =>
    apiUrl ? [{ name, apiUrl }] : [],
  );
  findings.push(...simulatorAlone(config, shownSettings(call.sources)));
  findings.push(...(await Promise.all(addresses.map(({ name, apiUrl }) => ecosystem(name, apiUrl)))));
  return findings;
}

/** A running service and what it has seen of its own store. */
export interface RunningService {
  readonly config: Pick<Config, "dataFolder" | "databaseUrl" | "ecosystems">;
  readonly seen: Omit<Inspection, "isRunning" | "listensAt">;
  readonly settings: readonly ShownSetting[];
  /** The address for clients, and that on its own machine. */
  readonly baseUrl: string;
  readonly listensAt?: string | undefined;
}

/** The checks that a running service makes of itself and its machine, without changing anything. */
export async function examineService(service: RunningService): Promise<readonly Finding[]> {
  const { config, seen, settings, baseUrl, listensAt } = service;
  const addresses = config.ecosystems.flatMap(({ name, apiUrl }) => (apiUrl ? [{ name, apiUrl }] : []));
  const [answering, ...ecosystems] = await Promise.all([
    publicAddress(baseUrl, listensAt),
    ...addresses.map(({ name, apiUrl }) => ecosystem(name, apiUrl)),
  ]);
  return [
    nodeVersion(),
    clock(),
    existing(dataFolder(config), existsSync(resolve(config.dataFolder))),
    disk(config),
    answering,
    existing(key(seen), existsSync(seen.keyFile)),
    existing(database(config, seen), seen.schemaVersion !== undefined),
    ...(seen.databaseProblem === undefined ? [storeClock(seen)] : []),
    ...simulatorAlone(config, settings),
    ...ecosystems,
  ];
}

/** Clients use https, and nothing that the settings name decrypts it. */
function encryption({ baseUrl, tlsCertFile, trustedProxies }: Config): readonly Finding[] {
  if (!baseUrl?.startsWith("https:") || tlsCertFile !== undefined || trustedProxies.length > 0) return [];
  const words = `${baseUrl} is https, but the service has neither a certificate nor a trusted proxy`;
  const next =
    "set BREEZEWAY_TLS_CERT_FILE and BREEZEWAY_TLS_KEY_FILE, or name the proxy that ends TLS in BREEZEWAY_TRUSTED_PROXIES";
  return [{ check: "TLS", state: "warn", words, next }];
}

/** A public service whose operator has set no ecosystem. */
function simulatorAlone({ ecosystems }: Pick<Config, "ecosystems">, settings: readonly ShownSetting[]): Finding[] {
  const hasLinkPages = ecosystems.some(({ consent }) => consent !== undefined);
  if (!lacksEcosystems(settings, hasLinkPages)) return [];
  return [{ check: "ecosystems", state: "warn", words: lackOfEcosystems.sentence, next: lackOfEcosystems.fix }];
}

/** A running service has made its folder, key and store: what is missing was removed or unmounted under it. */
function existing(finding: Finding, isThere: boolean): Finding {
  if (isThere || finding.state !== "ok") return finding;
  const words = finding.words.replace(
    "does not exist yet; the first start creates it",
    "is gone, and the service runs",
  );
  const next = "mount or restore it, then start the service again; what it has stored since may be lost";
  return { ...finding, state: "fail", words, next };
}

function nodeVersion(): Finding {
  const [major = 0] = process.versions.node.split(".").map(Number);
  const words = `Node ${process.versions.node}`;
  if (major >= 26) return { check: "Node", state: "ok", words };
  return { check: "Node", state: "fail", words, next: "start with bin/breezeway, which runs the packaged Node 26" };
}

function clock(): Finding {
  const year = new Date().getUTCFullYear();
  const words = new Date().toISOString();
  if (year >= 2025 && year < 2100) return { check: "clock", state: "ok", words };
  return { check: "clock", state: "fail", words: `${words} cannot be right`, next: "set this machine's clock" };
}

function dataFolder({ dataFolder: configured }: Pick<Config, "dataFolder">): Finding {
  const check = "data folder";
  const folder = resolve(configured);
  const isThere = existsSync(folder);
  try {
    accessSync(isThere ? folder : nearestExisting(folder), constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return {
      check,
      state: "fail",
      words: `${folder} cannot be written`,
      next: `chown it, or choose another with --data`,
    };
  }
  if (!isThere) return { check, state: "ok", words: `${folder} does not exist yet; the first start creates it` };
  const isOpen = process.platform !== "win32" && (statSync(folder).mode & 0o077) !== 0;
  if (isOpen) return { check, state: "warn", words: `other users can read ${folder}`, next: `chmod 700 ${folder}` };
  return { check, state: "ok", words: folder };
}

function disk({ dataFolder: configured }: Pick<Config, "dataFolder">): Finding {
  const { bavail, bsize } = statfsSync(nearestExisting(resolve(configured)));
  const free = bavail * bsize;
  const words = `${(free / 1024 ** 3).toFixed(1)} GB free`;
  if (free >= leastFreeBytes) return { check: "disk", state: "ok", words };
  return { check: "disk", state: free > leastFreeBytes / 10 ? "warn" : "fail", words, next: "free some disk space" };
}

function service(config: Config, { isRunning }: Inspection): Finding {
  if (config.databaseUrl)
    return { check: "service", state: "ok", words: "on PostgreSQL, any number of services may run" };
  if (isRunning) return { check: "service", state: "ok", words: `runs on ${resolve(config.dataFolder)}` };
  return {
    check: "service",
    state: "warn",
    words: "is not running on this folder",
    next: "breezeway serve, or npm start",
  };
}

function key({ keyFile, keyProblem }: Pick<Inspection, "keyFile" | "keyProblem">): Finding {
  const check = "key file";
  if (keyProblem !== undefined) {
    return { check, state: "fail", words: keyProblem, next: "restore the key, or name its file with --key-file" };
  }
  if (!existsSync(keyFile))
    return { check, state: "ok", words: `${keyFile} does not exist yet; the first start creates it` };
  return { check, state: "ok", words: keyFile };
}

function database(
  { databaseUrl }: Pick<Config, "databaseUrl">,
  { schemaVersion, knownVersion, oldestVersion = schemaVersion, databaseProblem }: Omit<Inspection, "isRunning">,
): Finding {
  const check = "database";
  const what = databaseUrl ? "PostgreSQL" : "SQLite";
  if (databaseProblem !== undefined) {
    const next = databaseUrl ? "check BREEZEWAY_DATABASE_URL, and that it runs" : "restore a backup";
    return { check, state: "fail", words: `${what}: ${databaseProblem}`, next };
  }
  if (schemaVersion === undefined)
    return { check, state: "ok", words: `${what} does not exist yet; the first start creates it` };
  if (schemaVersion > knownVersion) {
    const words = `${what} is of a later version (${schemaVersion}, this one knows ${knownVersion})`;
    if (oldestVersion !== undefined && oldestVersion <= knownVersion) {
      return {
        check,
        state: "warn",
        words: `${words}, which is compatible with this one`,
        next: "upgrade this node too",
      };
    }
    return { check, state: "fail", words, next: "use the version that wrote it, or a later one" };
  }
  if (schemaVersion < knownVersion) {
    const words = `${what} is at step ${schemaVersion} of ${knownVersion}; the next start upgrades it`;
    return { check, state: "warn", words, next: "breezeway serve" };
  }
  return { check, state: "ok", words: `${what}, step ${schemaVersion} of ${knownVersion}` };
}

function storeClock({ clockOffsetMs }: Pick<Inspection, "clockOffsetMs">): Finding {
  const words = `${Math.abs(Math.round(clockOffsetMs))} ms away from the store's`;
  if (Math.abs(clockOffsetMs) <= largestOffsetMs) return { check: "store clock", state: "ok", words };
  return { check: "store clock", state: "warn", words, next: "synchronise both clocks by NTP" };
}

function nearestExisting(path: string): string {
  return existsSync(path) ? path : nearestExisting(dirname(path));
}
