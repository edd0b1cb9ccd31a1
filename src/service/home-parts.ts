import type { HomeParts, HomeThing, ThingCursor } from "../cli/administration/homes/home-parts.ts";
import type { ReadThing } from "../devices/read-thing.ts";
import type { ThingControl } from "../devices/thing-control.ts";
import type { RunningFederation } from "../federation/federation.ts";
import type { Identity } from "../identity/identity.ts";
import type { LinkSessions } from "../link-sessions/link-sessions.ts";
import { NotFederated } from "../model/errors.ts";
import type { UserId } from "../model/ids.ts";
import { ownSource } from "../own-things/own-things.ts";
import type { ThingPage, ThingPlace, ThingReading } from "../own-things/thing-reading.ts";
import type { OpenStore } from "../store/seam.ts";

interface Sources {
  readonly store: Pick<OpenStore, "read">;
  readonly federation: RunningFederation;
  readonly things: ThingReading;
  readonly control: ThingControl;
  readonly linkSessions: LinkSessions;
  readonly identity: Pick<Identity, "findUser">;
}

/** Things of one user that a page of the console shows. */
const mostThings = 1_000;
const firstPlace: ThingPlace = { afterDevice: 0, afterThing: "" };

/** What operators see of homes, and do there. */
export function homeParts({ store, federation, things, control, linkSessions, identity }: Sources): HomeParts {
  const ofUser = (userId: UserId) => ({ kind: "user", userId }) as const;
  const isVirtual = (thing: ReadThing) => thing.source !== ownSource;
  const withFreshness = async (found: readonly ReadThing[]): Promise<readonly HomeThing[]> => {
    const freshness = await federation.thingFreshnessOfEach(found.filter(isVirtual));
    return found.map((thing) => {
      if (!isVirtual(thing)) return { ...thing, isStale: false, confirmedMs: null };
      const { isStale, confirmedTimeMs } = freshness.get(thing.deviceId) ?? { isStale: true, confirmedTimeMs: null };
      return { ...thing, isStale, confirmedMs: confirmedTimeMs };
    });
  };
  const withUserNames = async (found: readonly HomeThing[]) => {
    const users = await store.read((tx) => tx.users.some([...new Set(found.map(({ userId }) => userId))]));
    const names = new Map(users.map(({ id, name }) => [id, name]));
    return found.map((thing) => ({ ...thing, userName: names.get(thing.userId) ?? "" }));
  };
  return {
    async status(userId, ecosystem) {
      const [status, links] = await Promise.all([
        federation.status(userId, ecosystem),
        federation.shownLinksOf(userId),
      ]);
      const shown = links.find((link) => link.deviceId === status.deviceId);
      if (!shown) throw new NotFederated(ecosystem);
      return { ...status, shown };
    },
    async things(userId) {
      const found: ReadThing[] = [];
      for (let place: ThingPlace | undefined = firstPlace; place && found.length < mostThings; ) {
        const page = await things.page(ofUser(userId), place);
        found.push(...page.things);
        place = page.next;
      }
      return withFreshness(found);
    },
    async findThings({ tenantIds, kind, isWanted, after, limit, portions }) {
      const found: HomeThing[] = [];
      const tenants = tenantIds.toSorted((a, b) => a - b).filter((tenantId) => tenantId >= (after?.tenantId ?? 0));
      let left = portions;
      let next: ThingCursor | undefined;
      for (const tenantId of tenants) {
        let place: ThingPlace | undefined = after?.tenantId === tenantId ? { ...after } : firstPlace;
        while (place && left > 0 && found.length < limit) {
          left -= 1;
          const page: ThingPage = await things.page(
            { kind: "enterprise", tenantId },
            { ...place, kind },
            limit - found.length,
          );
          found.push(...(await withFreshness(page.things)).filter(isWanted));
          place = page.next;
        }
        next = place && { tenantId, afterDevice: place.afterDevice, afterThing: place.afterThing, own: place.own };
        if (next) break;
        const following = tenants[tenants.indexOf(tenantId) + 1];
        next = following === undefined ? undefined : { tenantId: following, ...firstPlace };
        if (left === 0 || found.length >= limit) break;
      }
      return { next, things: await withUserNames(found) };
    },
    async alarms(tenantIds, limit) {
      const sounding = await things.sounding({ tenantIds }, limit);
      return { ...sounding, things: await withUserNames(await withFreshness(sounding.things)) };
    },
    soundingDevices: async (links) => new Set(await store.read((tx) => tx.things.soundingDevices(links))),
    receipts: (userId, thingId) => control.receipts(ofUser(userId), thingId),
    command: (userId, thingId, command) => control.command(ofUser(userId), thingId, { command, clientId: null }),
    unlink: (userId, ecosystem) => federation.unlink(userId, ecosystem),
    async linkPage(userId, { clientId, ecosystem, mode }) {
      const { tenantId } = await identity.findUser(userId);
      return linkSessions.create({ kind: "enterprise", tenantId, clientId }, { ecosystem, userId, mode });
    },
  };
}
