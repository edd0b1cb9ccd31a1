import { NotFederated } from "../model/errors.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import type { Store } from "../store/seam.ts";
import type { BlindInterval } from "../store/tables/blind-intervals.ts";
import type { LinkState } from "../store/tables/links.ts";
import type { Freshness } from "./freshness.ts";
import type { FederationTables, LinkKeeper } from "./keeper.ts";
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

export async function linkStatus(
  store: Store<FederationTables>,
  keeper: LinkKeeper,
  freshness: (userId: UserId, deviceId: DeviceId) => Promise<Freshness>,
  userId: UserId,
  ecosystem: string,
): Promise<LinkStatus> {
  const { link, ended } = await store.read(async (tx) => {
    const link = await tx.links.find(userId, ecosystem);
    if (!link) throw new NotFederated(ecosystem);
    return { link, ended: await tx.blindIntervals.ofDevice(userId, link.deviceId) };
  });
  const { deviceId } = link;
  const standing = keeper.standing(deviceId) ?? link;
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
