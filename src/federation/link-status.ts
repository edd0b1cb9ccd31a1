import { NotFederated } from "../model/errors.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import type { BlindInterval } from "../store/tables/blind-intervals.ts";
import { type LinkRow, type LinkState, takeoverStanding } from "../store/tables/links.ts";
import type { Freshness, FreshnessParts } from "./freshness.ts";
import type { FederationTables } from "./keeper.ts";
import { isFollowedElsewhere, unfollowed } from "./link-overview.ts";
import type { LinkStanding } from "./link-record.ts";
import { decodeNotices, type Notices, noNotices } from "./notices.ts";

/** The state of a link, and notices about its account that the 519 attributes can't show. */
export interface LinkStatus extends Freshness, Notices {
  readonly oddities: Notices["oddities"] & {
    /** How often this node received a part of the account instead of the whole. */
    readonly partialPuts: number;
  };
  readonly deviceId: DeviceId;
  readonly ecosystem: string;
  readonly state: LinkState;
  readonly reason: string;
  /** How often this node found changes that a stream had not sent. */
  readonly drifts: number;
  /** A current interval has no end. */
  readonly blindIntervals: readonly (Omit<BlindInterval, "toMs"> & { readonly toMs: number | null })[];
}

export type LinkStatusParts = Pick<FreshnessParts, "store" | "keeper" | "membership">;

export async function linkStatus(
  parts: LinkStatusParts,
  freshness: (userId: UserId, deviceId: DeviceId) => Promise<Freshness>,
  userId: UserId,
  ecosystem: string,
): Promise<LinkStatus> {
  const { keeper } = parts;
  const { link, standing, ended } = await parts.store.read(async (tx) => {
    const link = await tx.links.find(userId, ecosystem);
    if (!link) throw new NotFederated(ecosystem);
    const ended = await tx.blindIntervals.ofDevice(userId, link.deviceId);
    return { link, standing: await standingOf(parts, tx, link), ended };
  });
  const { deviceId } = link;
  const current = standing.blindness && {
    fromMs: standing.blindness.sinceMs,
    toMs: null,
    cause: standing.blindness.cause,
  };
  const notices = decodeNotices(link.notices);
  const { overLimit, oddities } = notices ?? noNotices;
  const supervisor = keeper.supervisor(deviceId);
  return {
    deviceId,
    ecosystem,
    state: standing.state,
    reason: standing.reason || (notices ? "" : "the stored notices about its account can't be read"),
    ...(await freshness(userId, deviceId)),
    overLimit,
    oddities: { ...oddities, partialPuts: supervisor?.partialPuts ?? 0 },
    drifts: supervisor?.drifts ?? 0,
    blindIntervals: current ? [...ended, current] : ended,
  };
}

/** Of this node from memory, of another living node from the store. A live link of a dead node is followed by none. */
async function standingOf(
  { keeper, membership }: LinkStatusParts,
  tx: Pick<FederationTables, "nodes">,
  link: LinkRow,
): Promise<LinkStanding> {
  const here = keeper.standing(link.deviceId);
  if (here || link.state !== "live") return here ?? link;
  if (isFollowedElsewhere(link.owner, await membership.living(tx), membership.id)) return link;
  const { reason } = unfollowed(link);
  return { state: "waiting", reason, blindness: { sinceMs: link.confirmedMs, cause: takeoverStanding.cause } };
}
