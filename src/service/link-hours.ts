import type { Activity } from "../cli/administration/overview-parts.ts";
import type { RunningFederation } from "../federation/federation.ts";
import type { TenantId } from "../model/ids.ts";
import { BackgroundTask } from "../runtime/background-task.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { OpenStore, Transaction } from "../store/seam.ts";

interface CountingParts {
  readonly store: OpenStore;
  readonly federation: Pick<RunningFederation, "countsOfTenants">;
}

const hourMs = 3_600_000;
const keptHours = 48;
/** How often a node looks whether the hour was counted. A node that has just started connects its links first. */
const lookEveryMs = 60_000;

/** Counts links by tenant and state, once in each hour: the first node that looks does it for all. */
export function startLinkHours(parts: CountingParts & { readonly runtime: Runtime }): () => void {
  const task = new BackgroundTask("link_hours", "links could not be counted by state", parts.runtime);
  let countedMs: number | undefined;
  const look = async () => {
    try {
      countedMs = await countHour(parts, countedMs);
      task.succeeded();
    } catch (error) {
      task.failed(error);
    }
  };
  const timer = setInterval(() => void look(), lookEveryMs).unref();
  return () => clearInterval(timer);
}

/** Counts the present hour, unless it was counted already; returns it. */
export async function countHour({ store, federation }: CountingParts, knownMs?: number): Promise<number> {
  const { nowHourMs, isCounted } = await store.read(async (tx) => {
    const nowHourMs = Math.floor((await tx.clock.nowMs()) / hourMs) * hourMs;
    return { nowHourMs, isCounted: nowHourMs === knownMs || (await tx.linkHours.isCounted(nowHourMs)) };
  });
  if (isCounted) return nowHourMs;
  const counts = [...(await federation.countsOfTenants())].flatMap(([tenantId, states]) =>
    [...states].map(([state, links]) => ({ tenantId, state, links })),
  );
  await store.transaction(
    async ({ linkHours }) => {
      if (await linkHours.keep(nowHourMs, counts)) await linkHours.removeBefore(nowHourMs - keptHours * hourMs);
    },
    { background: true },
  );
  return nowHourMs;
}

/** Links by state in each hour; null in an hour that nobody counted. */
export async function linkStatesSince(
  tx: Pick<Transaction, "linkHours">,
  tenantIds: readonly TenantId[] | undefined,
  sinceMs: number,
  hours: number,
): Promise<Activity["linkStates"]> {
  const counted = new Set(await tx.linkHours.counted(sinceMs));
  const isCounted = Array.from({ length: hours }, (_, hour) => counted.has(sinceMs + hour * hourMs));
  const zeros = () => isCounted.map((known) => (known ? 0 : null));
  const states = new Map<string, (number | null)[]>();
  for (const { hourMs: atMs, state, links } of await tx.linkHours.sums(sinceMs, tenantIds)) {
    const place = (atMs - sinceMs) / hourMs;
    const ofState = states.get(state) ?? zeros();
    states.set(state, ofState);
    if (isCounted[place]) ofState[place] = links;
  }
  return { isCounted, states: [...states].map(([state, ofState]) => ({ state, hours: ofState })) };
}
