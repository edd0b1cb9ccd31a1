import { linkEntry } from "../devices/log-entries.ts";
import type { KnownThing } from "../ecosystems/feed.ts";
import { storedTraits } from "../home/stored-thing.ts";
import { decodeDescriptor, decodeState } from "../home/thing-text.ts";
import { OwnershipLost } from "../model/errors.ts";
import { limits } from "../model/limits.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { BlindInterval } from "../store/tables/blind-intervals.ts";
import { decodeIndexMap } from "../virtual-device/stored-index-map.ts";
import type { Mirrored } from "./lane.ts";
import type { LinkKey } from "./link-key.ts";
import type { LinkStanding } from "./link-record.ts";
import { marksOf } from "./thing-marks.ts";

export type StoredLinkTables = Pick<
  Transaction,
  "users" | "attributes" | "things" | "links" | "blindIntervals" | "log"
>;

const blindIntervalsKeptMs = 90 * 24 * 3_600_000;

/**
 * Reads what the store holds of a link's account. Under the user's lock, because an own commit that seemed to fail may
 * still be in progress and holds the lock until it ends.
 */
export function loadMirrored(store: Store<StoredLinkTables>, link: LinkKey): Promise<Mirrored> {
  return store.transaction(
    async (tx) => {
      const [, row, attributes, things] = await Promise.all([
        tx.users.lock(link.userId),
        tx.links.ofDevice(link.userId, link.deviceId),
        tx.attributes.all(link.userId, link.deviceId),
        tx.things.marks(link.userId, link.deviceId),
      ]);
      if (!row || row.owner !== link.ownership.owner || row.epoch !== link.ownership.epoch) throw lostLink(link);
      const values = attributes.flatMap(({ key, value }) => (value === null ? [] : [key, value]));
      return { indexMap: decodeIndexMap(row.indexMap), notices: row.notices, values, things: marksOf(things) };
    },
    { background: true },
  );
}

/** The link's things as they are stored, by key. */
export async function loadThings(
  store: Store<Pick<StoredLinkTables, "things">>,
  { userId, deviceId }: LinkKey,
): Promise<ReadonlyMap<string, KnownThing>> {
  const first = { afterDevice: 0, afterThing: "" };
  const devices = [{ userId, id: deviceId }];
  const rows = await store.read((tx) => tx.things.ofDevices(devices, first, limits.thingsPerLink));
  return new Map(
    rows.map((row) => {
      const descriptor = decodeDescriptor(row);
      return [row.key, { name: descriptor.name, traits: storedTraits(descriptor, decodeState(row.state)) }];
    }),
  );
}

/** Stores the standing and the ended blind intervals; throws OwnershipLost when this node no longer owns the link. */
export function writeStanding(
  store: Store<StoredLinkTables>,
  link: LinkKey,
  standing: LinkStanding,
  ended: readonly BlindInterval[],
  confirmedMs: number,
): Promise<void> {
  const { userId, deviceId, ecosystem, ownership } = link;
  return store.transaction(
    async (tx) => {
      const [nowMs, isOwned] = await Promise.all([tx.users.lock(userId), tx.links.holds(userId, deviceId, ownership)]);
      if (nowMs === undefined || !isOwned) throw lostLink(link);
      await tx.links.setState(userId, deviceId, standing);
      // A node that takes over a live link counts it as blind since the confirmation time, which must not lie before
      // the interval that ends here.
      if (standing.state === "live") {
        await tx.links.confirm(ownership.owner, [{ deviceId, epoch: ownership.epoch, confirmedMs }]);
      }
      for (const interval of ended) await tx.blindIntervals.add(userId, deviceId, interval);
      if (ended.length > 0) await tx.blindIntervals.removeEndedBefore(userId, deviceId, nowMs - blindIntervalsKeptMs);
      await tx.log.append(linkEntry(userId, deviceId, nowMs, { ...standing, ecosystem }));
    },
    { background: true },
  );
}

function lostLink(link: LinkKey): OwnershipLost {
  return new OwnershipLost(`Node ${link.ownership.owner} no longer owns the link of device ${link.deviceId}.`);
}
