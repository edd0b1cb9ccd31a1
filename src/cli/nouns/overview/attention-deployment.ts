import { lackOfEcosystems, lacksEcosystems } from "../../../config/ecosystem-settings.ts";
import type { LimitName } from "../../../model/limits.ts";
import { nodeName } from "../../../model/node-name.ts";
import type { AdministrationParts } from "../../administration/admin-command.ts";
import type { DeploymentFacts } from "../../administration/overview-parts.ts";
import { counted } from "../../terminal/output.ts";

/** Something that needs an operator, and what to do about it. */
export interface AttentionItem {
  /** `link_stale`, `webhook_failing`, `disk` and others; `unknown_…` for what could not be read. */
  readonly kind: string;
  readonly level: "bad" | "warn";
  readonly count: number | null;
  /** The thing, webhook or outlet that it is about. */
  readonly id: string | null;
  readonly sentence: string;
  readonly fix: string;
}

const gigabyte = 1024 ** 3;
const dayMs = 86_400_000;
const bounds = { warnBytes: gigabyte, badBytes: gigabyte / 10, certificateMs: 14 * dayMs, backupMs: 2 * dayMs };
/** Another node takes over the links of a node that is silent for so long. */
const silentMs = 6_000;
const alertLimits: readonly LimitName[] = [
  "alertHopsPerCause",
  "alertWritesPerCause",
  "alertCommandsPerCause",
  "commandingFiringsPerMinute",
  "firingsPerCause",
  "firingBytesPerCause",
  "patternStepsPerCause",
  "patternCostPerCause",
];

type Check = (facts: DeploymentFacts, parts: AdministrationParts, nowMs: number) => Promise<readonly AttentionItem[]>;

/**
 * What of the service itself needs attention. A check that fails is a finding too: unknown is not fine. Without a link
 * there is nothing to back up yet.
 */
export async function ofDeployment(parts: AdministrationParts, hasLinks: boolean): Promise<readonly AttentionItem[]> {
  const { deployment } = parts;
  if (!deployment) return [];
  const nowMs = Date.now();
  const found = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      if (name === "backup" && !hasLinks) return [];
      try {
        return await check(deployment, parts, nowMs);
      } catch (error) {
        const sentence = `${unknownWords[name]} could not be read: ${(error as Error).message}`;
        const fix = "Look at the log of this node, and run breezeway doctor on its machine.";
        return [{ ...one(`unknown_${name}`, "bad"), sentence, fix }];
      }
    }),
  );
  return found.flat();
}

const unknownWords: Readonly<Record<string, string>> = {
  disk: "The free space of the disk",
  certificate: "The certificate",
  keys: "The keys",
  nodes: "The nodes",
  alerts: "What the nodes have counted",
  ecosystems: "The configured ecosystems",
  backup: "The time of the last backup",
};

const checks: Readonly<Record<string, Check>> = {
  async disk(facts) {
    const { freeBytes } = await facts.disk();
    if (freeBytes >= bounds.warnBytes) return [];
    const level = freeBytes < bounds.badBytes ? "bad" : "warn";
    const sentence = `The disk of the data folder has ${(freeBytes / gigabyte).toFixed(2)} GB left.`;
    return [{ ...one("disk", level), sentence, fix: "Free some space. When the disk is full, writes are refused." }];
  },
  async certificate(facts, _, nowMs) {
    const found = await facts.certificate();
    if (!found || found.endsMs - nowMs >= bounds.certificateMs) return [];
    const days = Math.floor((found.endsMs - nowMs) / dayMs);
    const sentence = days < 0 ? "The certificate has ended." : `The certificate ends in ${counted(days, "day")}.`;
    return [
      { ...one("certificate", days < 3 ? "bad" : "warn"), sentence, fix: "Replace its files, then send SIGHUP." },
    ];
  },
  async keys(facts) {
    const missing = await facts.missingKeys();
    if (missing === 0) return [];
    const sentence = `${counted(missing, "key")} of sealed values ${missing === 1 ? "is" : "are"} missing from the key file.`;
    const fix = "Restore the key file. What is sealed with a missing key can't be opened.";
    return [{ ...one("key", "bad", missing), sentence, fix }];
  },
  async nodes(facts) {
    const silent = (await facts.nodes()).filter((node) => (node.silentMs ?? 0) > silentMs);
    return silent.map(({ node, silentMs: ms }) => ({
      ...one("node", "warn"),
      sentence: `The node ${nodeName(node)} has been silent for ${Math.round((ms ?? 0) / 1_000)} s.`,
      fix: "Others have taken over its links. Start it again, or ignore this: it is forgotten after an hour.",
    }));
  },
  async alerts(facts) {
    const limits = await facts.limits();
    const reached = alertLimits.reduce((sum, limit) => sum + total(limits[limit]), 0);
    if (reached === 0) return [];
    const sentence = `Alerts were stopped at a limit, in the last 24 hours: ${reached} times.`;
    const fix = "Look for alerts that trigger each other: breezeway alert explain shows why one stopped.";
    return [{ ...one("alert_limit", "warn", reached), sentence, fix }];
  },
  async ecosystems({ settings }, { ecosystems }) {
    const hasLinkPages = ecosystems.some(({ hasLinkPage }) => hasLinkPage);
    return lacksEcosystems(settings, hasLinkPages) ? [{ ...one("ecosystem", "warn"), ...lackOfEcosystems }] : [];
  },
  async backup(facts, _, nowMs) {
    const timeMs = await facts.lastBackupMs();
    if (timeMs !== undefined && nowMs - timeMs < bounds.backupMs) return [];
    const days = timeMs === undefined ? undefined : Math.floor((nowMs - timeMs) / dayMs);
    const sentence = days === undefined ? "No backup is known." : `The last backup is ${counted(days, "day")} old.`;
    return [{ ...one("backup", "warn"), sentence, fix: "Back up, or record a backup that you took with other tools." }];
  },
};

function one(kind: string, level: "bad" | "warn", count: number | null = null) {
  return { kind, level, count, id: null } as const;
}

function total(hours: readonly number[] = []): number {
  return hours.reduce((sum, count) => sum + count, 0);
}
