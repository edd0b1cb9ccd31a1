import type { TenantId } from "../model/ids.ts";
import type { OpenStore, Transaction } from "../store/seam.ts";
import {
  type JoinedNames,
  mostJoinedThings,
  type NamedDevice,
  type NamedThing,
  type NamePlace,
} from "../store/tables/home-names.ts";

/** The names that one search compares, and the reads that it makes. Beyond that it says that not all were compared. */
export const mostCompared = 250_000;
const mostReads = 5_000;
/** Devices whose names one read takes; fewer where they have many things, so that no read takes long. */
const mostDevices = 500;
const namesAtOnce = 2_500;

export interface FoundNames {
  readonly things: readonly NamedThing[];
  readonly devices: readonly NamedDevice[];
  /** False: the search ended at its bound before it had compared all names. */
  readonly areAllCompared: boolean;
}

/**
 * Compares the names of things and own devices of these tenants, whatever the case. It ends when it has `enough` of both.
 * Each portion is a read of its own, so that others run in between.
 */
export async function findNames(
  store: Pick<OpenStore, "read">,
  text: string,
  tenantIds: readonly TenantId[],
  enough: number,
  { most = mostCompared } = {},
): Promise<FoundNames> {
  const wanted = text.toLowerCase();
  const things: NamedThing[] = [];
  const devices: NamedDevice[] = [];
  let [compared, reads, limit] = [0, 0, mostDevices];
  for (const tenantId of tenantIds.toSorted((a, b) => a - b)) {
    for (let place: Omit<NamePlace, "limit"> | undefined = { tenantId, afterType: 0 }; place; ) {
      const lacks = { things: things.length < enough, devices: devices.length < enough };
      if (!lacks.things && !lacks.devices) return { things, devices, areAllCompared: true };
      if (compared >= most || reads >= mostReads) return { things, devices, areAllCompared: false };
      const at: NamePlace = { ...place, limit };
      const found = await store.read((tx) => portion(tx, at, wanted, lacks));
      reads += 1;
      if (found) {
        things.push(...found.things);
        devices.push(...found.devices);
        compared += found.compared;
        if (found.last) limit = clamped((namesAtOnce * limit) / Math.max(1, found.compared));
        place = nextPlace(at, found.last);
      } else limit = clamped(limit / 4);
    }
  }
  return { things, devices, areAllCompared: true };
}

/** Further devices of the last one's type come first, then those of all later types. Undefined at the end. */
function nextPlace({ tenantId, afterType, afterId }: NamePlace, last: JoinedNames["last"]) {
  if (last) return { tenantId, afterType: last.type, afterId: last.id };
  return afterId === undefined ? undefined : { tenantId, afterType };
}

/** Undefined when the devices have too many things for one read. */
async function portion(
  { homeNames }: Pick<Transaction, "homeNames">,
  place: NamePlace,
  wanted: string,
  lacks: { readonly things: boolean; readonly devices: boolean },
) {
  const joined = await homeNames.joined(place, lacks.things);
  if (joined.things === mostJoinedThings && place.limit > 1) return undefined;
  const isIn = (name: string) => name.toLowerCase().includes(wanted);
  const hasThing = lacks.things && isIn(joined.thingNames);
  const hasDevice = lacks.devices && isIn(joined.deviceNames);
  return {
    last: joined.last,
    compared: joined.things + joined.devices,
    things: hasThing ? (await homeNames.things(place)).filter(({ name }) => isIn(name)) : [],
    devices: hasDevice ? (await homeNames.devices(place)).filter(({ name }) => isIn(name)) : [],
  };
}

function clamped(devices: number): number {
  return Math.max(1, Math.min(mostDevices, Math.floor(devices)));
}
