import type { CommitTables, DeviceUpdate } from "../devices/commit.ts";
import type { ThingWrite } from "../devices/thing-writes.ts";
import type { ComparedAccount, Connector } from "../ecosystems/connector.ts";
import type { Home } from "../home/home.ts";
import { reportedThings } from "../home/reported-things.ts";
import { printOf } from "../home/thing-print.ts";
import type { Store } from "../store/seam.ts";
import type { LinkRow } from "../store/tables/links.ts";
import { blankValues, mirrorChanges } from "../virtual-device/attribute-values.ts";
import { assignIndexes } from "../virtual-device/index-map.ts";
import { mirror } from "../virtual-device/mirror.ts";
import { isPresent } from "../virtual-device/slots.ts";
import { decodeIndexMap, encodeIndexMap } from "../virtual-device/stored-index-map.ts";
import { disableAlertsOn } from "./alerts-on-lost-slots.ts";
import { storedCallToken, type TokenSealing } from "./credential.ts";
import type { Feeds } from "./feeds/feeds.ts";
import type { FederationTables } from "./keeper.ts";
import { toAttributeChange } from "./lane.ts";
import { encodeNotices } from "./notices.ts";

export interface ComparingParts {
  readonly store: Store<Pick<FederationTables, "things">>;
  readonly sealing: TokenSealing;
  readonly feeds?: Pick<Feeds, "accountOf">;
}

/** What a new credential has read. */
export interface FoundAccount {
  readonly callToken: string;
  readonly home: Home;
}

/**
 * Whether a new credential is that of another account than the link shows. Only then is the read that proved the
 * credential mirrored. For a new credential of the same account the stream goes on: it may have brought a newer state
 * than that read.
 */
export async function isAnotherAccount(
  parts: ComparingParts,
  connector: Pick<Connector, "callTokenOf" | "isSameAccount">,
  link: LinkRow,
  { callToken, home }: FoundAccount,
): Promise<boolean> {
  if (!connector.isSameAccount) return hasOtherStructures(home, link);
  const linked = await linkedAccount(parts, connector, link);
  if (linked.keys.size === 0) return false;
  const { read, unread } = reportedThings(home);
  return !connector.isSameAccount(linked, { callToken, keys: new Set([...read.map(({ key }) => key), ...unread]) });
}

/** Whether the account has structures, but none of those that the link shows. */
export function hasOtherStructures({ structures }: Home, { indexMap }: Pick<LinkRow, "indexMap">): boolean {
  if (!structures.isWhole || structures.byId.size === 0) return false;
  const shown = decodeIndexMap(indexMap).structures.filter(isPresent);
  return shown.length > 0 && shown.every(({ id }) => !structures.byId.has(id));
}

/**
 * Changes attributes and index map to another account in one transaction, so that a client never reads a mixture. The
 * other account inherits no value, also if a structure of it has the same id.
 */
export async function switchAccount(tx: CommitTables, link: LinkRow, home: Home): Promise<DeviceUpdate> {
  const { userId, deviceId, indexMap } = link;
  const values = [...blankValues];
  for (const { key, value } of await tx.attributes.all(userId, deviceId)) values[key as number] = value;
  const { map, overLimit, evicted } = assignIndexes(decodeIndexMap(indexMap), home);
  if (evicted.length > 0) await disableAlertsOn(tx, { userId, deviceId }, evicted);
  await tx.links.setIndexMap(userId, deviceId, encodeIndexMap(map), encodeNotices(overLimit, home, map));
  const changes = mirrorChanges(values, mirror(home, map, blankValues)).map(toAttributeChange);
  return { deviceId, changes, things: await presenceOfOther(tx, link, home) };
}

async function linkedAccount(
  { store, sealing, feeds }: ComparingParts,
  connector: Pick<Connector, "callTokenOf">,
  link: LinkRow,
): Promise<ComparedAccount> {
  const [things, feedAccount] = await Promise.all([
    store.read((tx) => tx.things.marks(link.userId, link.deviceId)),
    feeds?.accountOf(link),
  ]);
  const keys = new Set(things.filter(({ goneMs }) => goneMs === null).map(({ key }) => key));
  return { callToken: storedCallToken(sealing, connector, link), feedAccount, keys };
}

const blankPresence = { available: false, state: { state: null, word: null }, capabilities: {} };

/**
 * The other account's presence, for a home that the old account has under the same key. It is blank where the report lacks
 * it: a trait that a report lacks is kept.
 */
async function presenceOfOther(
  tx: CommitTables,
  { userId, deviceId, ecosystem }: LinkRow,
  home: Home,
): Promise<readonly ThingWrite[]> {
  const marks = (await tx.things.marks(userId, deviceId)).filter(({ goneMs }) => goneMs === null);
  return reportedThings(home).read.flatMap(({ key, thing, homeName }) => {
    const stored = marks.find((mark) => mark.key === key);
    if (!stored || thing.kind !== "home") return [];
    const { presence = blankPresence } = thing.traits;
    const reported = { key, thing: { ...thing, traits: { ...thing.traits, presence } }, homeName };
    return [{ thingId: stored.thingId, source: ecosystem, reported, print: printOf(reported) }];
  });
}
