import { checkAssistants } from "../assistants/check-assistants.ts";
import { checkGoogle } from "../google/check-google.ts";
import { checkHostile } from "../home-assistant/check-hostile.ts";
import { checkInstances } from "../home-assistant/check-instances.ts";
import { checkOwnThings } from "../own-things/check-own-things.ts";
import { retainedLog } from "../store/retained-log.ts";
import { checkAlerts } from "./check-alerts.ts";
import { checkBlindIntervals } from "./check-blindness.ts";
import { checkPolls, checkReads, checkWrites } from "./check-clients.ts";
import { type ReplayedDevice, replay, sameStates } from "./check-commits.ts";
import { checkCredentials } from "./check-credentials.ts";
import { checkClaims, checkDeliveries, checkLeftDeliveries } from "./check-deliveries.ts";
import { checkFans, unsettledFans } from "./check-fans.ts";
import { checkFirings, checkThingFirings } from "./check-firings.ts";
import { checkIndexes } from "./check-indexes.ts";
import { checkLinkCalls, checkRemovedLinks, checkRevocations } from "./check-link-calls.ts";
import { checkReaders } from "./check-readers.ts";
import { checkOrder, checkReceived } from "./check-received.ts";
import { checkRemovals } from "./check-removals.ts";
import { checkThings, wrongThing } from "./check-things.ts";
import {
  alarmsIn,
  expectedValues,
  fanRequests,
  parseStoredMap,
  type StoredMap,
  type StoredSlot,
} from "./expected-device.ts";
import type { CommittedTransaction, HomeTruth, LinkStanding, RunRecord } from "./history.ts";
import { demand, Violation } from "./violation.ts";

/**
 * Returns the broken guarantee as a sentence, or undefined. The checker shares no code with the core: it knows only what
 * was committed, sent, received and answered, and the rules of the interface.
 */
export function check(record: RunRecord): string | undefined {
  try {
    const devices = replay(record.history);
    for (const { id, lastTimeMs, states } of record.devices) {
      const replayed = devices.get(id);
      demand(
        (replayed?.timeMs ?? 0) === lastTimeMs && sameStates(replayed?.states ?? new Map(), states),
        () => `device ${id} is stored otherwise than its log tells`,
      );
    }
    checkIndexes(record.history);
    checkWrites(record.writes, devices);
    checkReads(record.reads, devices);
    checkPolls(record.polls, new Map([...devices].filter(([id]) => !record.unpolled.includes(id))));
    checkReceived(record.receipts, record.standings, devices);
    checkOrder(record.arrivals, record.standings, devices);
    checkRemovals(record.history, record.remains);
    checkThings(record.history);
    const ofNest = withoutOtherLinks(record.history);
    checkLinkCalls(record.calls, ofNest);
    checkRevocations(record.revocations, ofNest);
    checkRemovedLinks(record.calls, record.credentials.uses, ofNest);
    checkCredentials(record.credentials, ofNest, record.visibility);
    checkInstances(record.history, record.hostile.users);
    checkHostile(record.hostile, record.history);
    if (record.google) checkGoogle(record.google, record.history);
    checkBlindIntervals(record.history, record.standings, record.visibility);
    checkFanRequests(record.standings, devices);
    checkFans(record.fans, record.history);
    checkAlerts(record.history);
    checkFirings(record.watches, record);
    checkThingFirings(record.thingWatches, record);
    if (record.ownThings) checkOwnThings(record.history, record.ownThings, record.visibility !== undefined);
    if (record.assistants) checkAssistants(record.assistants, record.history);
    const log = retainedLog(record.history);
    checkReaders(record.readers, log);
    checkDeliveries(record.attempts, record.history, log);
    checkLeftDeliveries(record.deliveries, record.history, log);
    if (record.visibility) checkClaims(record.attempts, record.visibility.frozen);
    return undefined;
  } catch (error) {
    if (error instanceof Violation) return error.message;
    throw error;
  }
}

/** The history without the rows of links to other ecosystems than the first one, whose calls and tokens are recorded. */
function withoutOtherLinks(history: readonly CommittedTransaction[]): readonly CommittedTransaction[] {
  return history.map((transaction) => ({
    ...transaction,
    writes: transaction.writes.filter(({ table, before, after }) => {
      return table !== "links" || (after ?? before)?.ecosystem === "nest";
    }),
  }));
}

/** The first thing that is missing until every home is mirrored exactly, by one node; undefined when converged. */
export function convergence(standings: readonly LinkStanding[]): string | undefined {
  for (const standing of standings) {
    const missing = missingOf(standing);
    if (missing !== undefined) return `user ${standing.userId}: ${missing}`;
  }
  return undefined;
}

function missingOf(standing: LinkStanding): string | undefined {
  const { home, link, values, followers, openStreams, isWanted, strays } = standing;
  if (strays.length > 0) return strays.join("; ");
  if (!isWanted && !link) return openStreams > 0 ? `unlinked, and ${openStreams} streams are open` : undefined;
  if (!isWanted || !link) return isWanted ? "there is no link" : "the link is still there";
  if (followers.length !== 1) return `${followers.length} nodes follow (${followers.map(({ node }) => node)})`;
  const [follower] = followers;
  if (link.owner !== follower?.node) return `${follower?.node} follows what is ${link.owner}'s`;
  if (link.state !== "live" || follower?.state !== "live") return `link ${link.state}, follower ${follower?.state}`;
  if (link.blindness !== null) return `live and blind since ${JSON.stringify(link.blindness)}`;
  if (openStreams !== 1) return `${openStreams} streams are open`;
  const map = parseStoredMap(link.indexMap as string);
  const unplaced = wrongIndex(home, map);
  if (unplaced !== undefined) return unplaced;
  for (const [number, expected] of expectedValues(home, map)) {
    const value = values.get(number) ?? null;
    if (value !== expected) return `attribute ${number} is ${value}, the home says ${expected}`;
  }
  return wrongThing(standing) ?? unsettledFans(standing);
}

/** Every existing device has an index while indexes are free, and nothing else is present. */
function wrongIndex(home: HomeTruth, map: StoredMap): string | undefined {
  const ids = (devices: ReadonlyMap<string, { readonly structureId: string | null }>, structureId: string) =>
    [...devices].filter(([, device]) => device.structureId === structureId).map(([id]) => id);
  const wrong = wrongSlot("structures", [...home.structures.keys()], map.structures, 2);
  if (wrong !== undefined) return wrong;
  for (const structure of map.structures) {
    if (!structure?.isPresent) continue;
    const { id, thermostats, alarms } = structure;
    const wrongDevice =
      wrongSlot(`thermostats of ${id}`, ids(home.thermostats, id), thermostats, 20) ??
      wrongSlot(`alarms of ${id}`, alarmsIn(home, structure).placed, alarms, 18);
    if (wrongDevice !== undefined) return wrongDevice;
  }
  return undefined;
}

function wrongSlot(
  what: string,
  there: readonly string[],
  slots: readonly (StoredSlot | null)[],
  limit: number,
): string | undefined {
  const seated = slots.flatMap((slot) => (slot?.isPresent ? [slot.id] : []));
  const ghost = seated.find((id) => !there.includes(id));
  if (ghost !== undefined) return `${what}: ${ghost} is gone, but has a present index`;
  if (seated.length === Math.min(limit, there.length)) return undefined;
  return `${what}: ${there.length} are there, ${seated.length} have an index`;
}

/** A fan request belongs to the thermostat for which it was written, and disappears with it. */
function checkFanRequests(standings: readonly LinkStanding[], devices: ReadonlyMap<number, ReplayedDevice>): void {
  for (const { link } of standings) {
    const device = link ? devices.get(link.deviceId as number) : undefined;
    if (!device) continue;
    const expected = new Map<number, string | null>();
    for (const { changes } of device.versions) {
      const changed = new Map(changes);
      for (const { deviceId, request } of fanRequests) {
        if (changed.has(deviceId)) expected.set(request, null);
        else if (changed.has(request)) expected.set(request, changed.get(request) ?? null);
      }
    }
    for (const { request } of fanRequests) {
      const shown = device.states.get(request)?.value ?? null;
      demand(
        shown === (expected.get(request) ?? null),
        () => `fan request ${request} of device ${link?.deviceId} is ${shown}; written was ${expected.get(request)}`,
      );
    }
  }
}
