import type { Activity, CountsOfNodes } from "../cli/administration/overview-parts.ts";
import type { RunningFederation } from "../federation/federation.ts";
import type { FoundLink } from "../federation/link-overview.ts";
import { type HourlyCounts, hourMs, hours } from "../metrics/hourly-counts.ts";
import { type CountStorage, type CountsByName, readStoredCounts } from "../metrics/stored-counts.ts";
import type { TenantId } from "../model/ids.ts";
import type { NodeQuestions } from "../nodes/node-questions.ts";
import type { OpenStore } from "../store/seam.ts";
import { linkStatesSince } from "./link-hours.ts";

export interface ActivityParts {
  readonly store: OpenStore;
  readonly federation: Pick<RunningFederation, "foundLinks" | "blindHours">;
  readonly counts: HourlyCounts;
  readonly countStorage: Pick<CountStorage, "unsaved">;
  readonly nodes: NodeQuestions;
  readonly elapsedMs: () => number;
}

/** Links whose blind time is added up, and how many are read at once. */
const linksCounted = 500;
const linksAtOnce = 200;
/** Entries of the audit log, and deliveries, that are counted: the newest. */
const mostCounted = 20_000;
/** Pages of many operators ask again and again; what was read is used for so long. */
const keptMs = 10_000;
/** Sets of tenants whose figures are kept. */
const mostKept = 100;
const topic = "hourly counts";

interface NodeCounts {
  readonly sinceMs: number;
  /** All since the start of the node, for nodes of the version before. */
  readonly counts: CountsByName;
  /** What the store does not have yet. A node of the version before stores nothing, and leaves it out. */
  readonly unsaved?: CountsByName;
}

type Tenants = readonly TenantId[] | undefined;

export interface ActivityReading {
  /** What happened in each of the last 24 hours: sign-ins and deliveries from the store, the rest from `ofNodes`. */
  readonly activity: (tenantIds: Tenants) => Promise<Activity>;
  /** What all nodes have counted; undefined when no node runs. */
  readonly ofNodes: () => Promise<CountsOfNodes | undefined>;
}

export function activityOn(parts: ActivityParts): ActivityReading {
  const { counts, countStorage, nodes, elapsedMs } = parts;
  const answer = (): NodeCounts => ({
    sinceMs: counts.sinceMs,
    counts: counts.all(),
    unsaved: countStorage.unsaved(),
  });
  nodes.onQuestion(topic, () => JSON.stringify(answer()));
  const ofNodes = kept(elapsedMs, () => readNodes(parts));
  return {
    activity: kept(elapsedMs, (tenantIds) => readActivity(parts, tenantIds)),
    ofNodes: () => ofNodes(undefined),
  };
}

/** Reads for each set of tenants, and keeps what was read for a while. */
function kept<Read>(elapsedMs: () => number, readNow: (tenantIds: Tenants) => Promise<Read>) {
  const reads = new Map<string, { readonly untilMs: number; readonly read: Promise<Read> }>();
  return (tenantIds: Tenants): Promise<Read> => {
    const key = tenantIds === undefined ? "all" : tenantIds.join(" ");
    const known = reads.get(key);
    if (known && elapsedMs() < known.untilMs) return known.read;
    const read = readNow(tenantIds);
    reads.delete(key);
    reads.set(key, { untilMs: elapsedMs() + keptMs, read });
    if (reads.size > mostKept) reads.delete(reads.keys().next().value!);
    read.catch(() => reads.delete(key));
    return read;
  };
}

async function readActivity(parts: ActivityParts, tenantIds: Tenants): Promise<Activity> {
  const { store, federation } = parts;
  const { sinceMs, audit, deliveries, linkStates } = await store.read(async (tx) => {
    const nowMs = await tx.clock.nowMs();
    const sinceMs = (Math.floor(nowMs / hourMs) - hours + 1) * hourMs;
    return {
      sinceMs,
      audit: await tx.audit.hours(sinceMs, tenantIds, mostCounted),
      deliveries: await tx.deliveries.hours(sinceMs, tenantIds, mostCounted),
      linkStates: await linkStatesSince(tx, tenantIds, sinceMs, hours),
    };
  });
  const stored = {
    sinceMs,
    signIns: strip(audit.filter(({ act }) => act === "sign_in")),
    failedSignIns: strip(audit.filter(({ act }) => act === "sign_in_failed")),
    delivered: strip(deliveries.filter(({ state }) => state === "delivered")),
    failed: strip(deliveries.filter(({ state }) => state === "failed")),
    blind: await blindTime(federation, tenantIds, sinceMs),
    linkStates,
  };
  // Nodes count changes and limits for the deployment, not for each tenant.
  const counted = tenantIds === undefined ? await readNodes(parts) : undefined;
  return { ...stored, ...(counted && { nodes: counted }) };
}

async function blindTime(
  { foundLinks, blindHours }: ActivityParts["federation"],
  tenantIds: Tenants,
  sinceMs: number,
): Promise<Activity["blind"]> {
  const links: FoundLink[] = [];
  let isAll = true;
  for await (const some of foundLinks({ tenantIds })) {
    links.push(...some);
    // There may be no more: then all of them are the first ones.
    isAll = links.length < linksCounted;
    if (!isAll) break;
  }
  const counted = links.slice(0, linksCounted);
  const sums = { seenMs: zeros(), blindMs: zeros(), unknownMs: zeros() };
  let blindLinks = 0;
  for (let from = 0; from < counted.length; from += linksAtOnce) {
    const some = await blindHours(counted.slice(from, from + linksAtOnce), sinceMs, hours);
    blindLinks += some.blindLinks;
    for (const kind of ["seenMs", "blindMs", "unknownMs"] as const) {
      for (const [hour, ms] of some[kind].entries()) sums[kind][hour]! += ms;
    }
  }
  const ms = sums.blindMs.reduce((sum, one) => sum + one, 0);
  return { ms, blindLinks, links: counted.length, isAll, hours: sums };
}

async function readNodes({ store, nodes }: Pick<ActivityParts, "store" | "nodes">): Promise<CountsOfNodes | undefined> {
  const stored = await store.read(readStoredCounts);
  const { answers, silentNodes } = await nodes.ask(topic, "");
  const nodeCounts = [...answers.values()].map((text) => JSON.parse(text) as NodeCounts);
  if (nodeCounts.length === 0) {
    return silentNodes.length === 0 ? undefined : { limits: {}, silent: silentNodes };
  }
  const summands = [...nodeCounts.map(({ unsaved, counts }) => unsaved ?? counts), ...(stored ? [stored.counts] : [])];
  const names = new Set(summands.flatMap((counts) => Object.keys(counts)));
  const sums = [...names].map((name) => {
    const buckets = Array.from({ length: hours }, (_, hour) =>
      summands.reduce((sum, counts) => sum + (counts[name]?.[hour] ?? 0), 0),
    );
    return [name, buckets] as const;
  });
  const { changes = zeros(), ...reached } = Object.fromEntries(sums);
  const unstored = nodeCounts.filter(({ unsaved }) => !stored || unsaved === undefined);
  const countedSinceMs = Math.max(...unstored.map(({ sinceMs }) => sinceMs), ...(stored ? [stored.sinceMs] : []));
  return { changes, limits: reached, countedSinceMs, silent: silentNodes };
}

function zeros(): number[] {
  return new Array<number>(hours).fill(0);
}

function strip(rows: readonly { readonly hour: number; readonly count: number }[]): readonly number[] {
  const buckets = zeros();
  for (const { hour, count } of rows) {
    const place = Number(hour);
    if (place >= 0 && place < hours) buckets[place]! += Number(count);
  }
  return buckets;
}
