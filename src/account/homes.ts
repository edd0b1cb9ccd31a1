import type { ReadThing } from "../devices/read-thing.ts";
import type { RunningFederation } from "../federation/federation.ts";
import type { ShownLink } from "../federation/link-overview.ts";
import type { Audit } from "../identity/audit.ts";
import type { LinkSessions, SignedInLinkSession } from "../link-sessions/link-sessions.ts";
import { NotFederated } from "../model/errors.ts";
import { ownSource } from "../own-things/own-things.ts";
import type { ThingReading } from "../own-things/thing-reading.ts";
import type { AccountUser } from "./sessions.ts";

/** A linked account of an ecosystem, as its owner sees it. */
export interface AccountHome extends ShownLink {
  /** How the ecosystem calls an account. */
  readonly accountName: string;
  /** The names of the homes that the account shows, as far as they are known. */
  readonly names: readonly string[];
  /** Whether the owner can consent again in a browser. */
  readonly isRenewable: boolean;
}

/** A thing of the user's that shows a smoke or CO warning or emergency. */
export interface AccountAlarm {
  readonly thing: Pick<ReadThing, "name" | "room" | "homeName" | "state">;
  readonly isStale: boolean;
  /** When the ecosystem last confirmed it; null when that is not known. */
  readonly confirmedMs: number | null;
}

/** Alarms that the page names. */
const mostAlarms = 20;

export interface AccountHomes {
  homes(user: AccountUser): Promise<readonly AccountHome[]>;
  /** At most 20. */
  alarms(user: AccountUser): Promise<readonly AccountAlarm[]>;
  /** Starts a link session in which the owner consents again. Rejects with NotFederated. */
  renew(user: AccountUser, ecosystem: string, source: string): Promise<SignedInLinkSession>;
  /** Removes the link with its device, attributes and alerts. Returns whether there was one. */
  unlink(user: AccountUser, ecosystem: string, source: string): Promise<boolean>;
}

export interface HomeParts {
  readonly federation: Pick<RunningFederation, "shownLinksOf" | "unlinkStored" | "thingFreshnessOfEach">;
  readonly things: Pick<ThingReading, "page" | "sounding">;
  readonly linkSessions: Pick<LinkSessions, "createForAccount">;
  readonly audit: Pick<Audit, "record">;
  readonly ecosystems: {
    /** How the ecosystem calls an account. */
    nameOf(ecosystem: string): string;
    /** Whether owners consent on a page of the ecosystem. */
    hasConsent(ecosystem: string): boolean;
  };
}

/** Pages of things that are read for the names of homes; a user has few homes. */
const mostPages = 3;

export function accountHomesOn({ federation, things, linkSessions, audit, ecosystems }: HomeParts): AccountHomes {
  async function homeNames({ userId }: AccountUser) {
    const names: { readonly deviceId: number; readonly name: string }[] = [];
    let place: Parameters<typeof things.page>[1] | undefined = { afterDevice: 0, afterThing: "", kind: "home" };
    for (let pages = 0; place && pages < mostPages; pages++) {
      const page: Awaited<ReturnType<typeof things.page>> = await things.page({ kind: "user", userId }, place);
      for (const { deviceId, name } of page.things) if (name !== null) names.push({ deviceId, name });
      place = page.next;
    }
    return names;
  }
  /** Only names from the store are used further: the one in the form may be any text. */
  const isLinked = async ({ userId }: AccountUser, ecosystem: string) =>
    (await federation.shownLinksOf(userId)).some((link) => link.ecosystem === ecosystem);
  const record = ({ tenantId, userId }: AccountUser, source: string, did: string, ecosystem: string) =>
    audit.record({ act: "account", tenantId, userId, source, detail: { did, ecosystem } });
  return {
    async homes(user) {
      const [links, names] = await Promise.all([federation.shownLinksOf(user.userId), homeNames(user)]);
      return links.map((link) => ({
        ...link,
        accountName: ecosystems.nameOf(link.ecosystem),
        names: names.filter(({ deviceId }) => deviceId === link.deviceId).map(({ name }) => name),
        isRenewable: ecosystems.hasConsent(link.ecosystem),
      }));
    },
    async alarms({ userId }) {
      const { things: found } = await things.sounding({ userId }, mostAlarms);
      const freshness = await federation.thingFreshnessOfEach(found.filter(({ source }) => source !== ownSource));
      return found.map((thing) => {
        if (thing.source === ownSource) return { thing, isStale: false, confirmedMs: null };
        const { isStale, confirmedTimeMs } = freshness.get(thing.deviceId) ?? { isStale: true, confirmedTimeMs: null };
        return { thing, isStale, confirmedMs: confirmedTimeMs };
      });
    },
    async renew(user, ecosystem, source) {
      if (!(await isLinked(user, ecosystem))) throw new NotFederated("this ecosystem");
      const created = await linkSessions.createForAccount(user, { ecosystem, mode: "renew" });
      await record(user, source, "renew", ecosystem);
      return created;
    },
    async unlink(user, ecosystem, source) {
      if (!(await isLinked(user, ecosystem))) return false;
      try {
        await federation.unlinkStored(user.userId, ecosystem);
      } catch (error) {
        // A second click was faster.
        if (error instanceof NotFederated) return false;
        throw error;
      }
      await record(user, source, "unlink", ecosystem);
      return true;
    },
  };
}
