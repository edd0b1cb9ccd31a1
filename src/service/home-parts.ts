import type { HomeParts, HomeThing } from "../cli/administration/homes/home-parts.ts";
import type { ReadThing } from "../devices/read-thing.ts";
import type { ThingControl } from "../devices/thing-control.ts";
import type { RunningFederation } from "../federation/federation.ts";
import type { Identity } from "../identity/identity.ts";
import type { LinkSessions } from "../link-sessions/link-sessions.ts";
import { NotFederated } from "../model/errors.ts";
import type { UserId } from "../model/ids.ts";
import { ownSource } from "../own-things/own-things.ts";
import type { ThingPlace, ThingReading } from "../own-things/thing-reading.ts";

interface Sources {
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
export function homeParts({ federation, things, control, linkSessions, identity }: Sources): HomeParts {
  const ofUser = (userId: UserId) => ({ kind: "user", userId }) as const;
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
      const isVirtual = (thing: ReadThing) => thing.source !== ownSource;
      const freshness = await federation.thingFreshnessOfEach(found.filter(isVirtual));
      return found.map((thing): HomeThing => {
        if (!isVirtual(thing)) return { ...thing, isStale: false, confirmedMs: null };
        const { isStale, confirmedTimeMs } = freshness.get(thing.deviceId) ?? { isStale: true, confirmedTimeMs: null };
        return { ...thing, isStale, confirmedMs: confirmedTimeMs };
      });
    },
    receipts: (userId, thingId) => control.receipts(ofUser(userId), thingId),
    command: (userId, thingId, command) => control.command(ofUser(userId), thingId, { command, clientId: null }),
    unlink: (userId, ecosystem) => federation.unlink(userId, ecosystem),
    async linkPage(userId, { clientId, ecosystem, mode }) {
      const { tenantId } = await identity.findUser(userId);
      return linkSessions.create({ kind: "enterprise", tenantId, clientId }, { ecosystem, userId, mode });
    },
  };
}
