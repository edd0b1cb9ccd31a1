import type { CommandReceipt } from "../../../devices/command-receipts.ts";
import type { ReadThing } from "../../../devices/read-thing.ts";
import type { FoundLink, ShownLink } from "../../../federation/link-overview.ts";
import type { LinkStatus } from "../../../federation/link-status.ts";
import type { Command } from "../../../home/command-plan.ts";
import type { DeviceId, TenantId, UserId } from "../../../model/ids.ts";
import { type CheckUser, checkedBy } from "./checked-user.ts";

/**
 * What operators see of homes, and do there. Most functions are about one user, their first parameter; `findThings`,
 * `alarms` and `soundingDevices` are not.
 */
export interface HomeParts {
  /** The link with the state that it shows, and its blind intervals. */
  status(userId: UserId, ecosystem: string): Promise<LinkStatus & { readonly shown: ShownLink }>;
  /** The things of all the user's devices; `isStale`: their values may be out of date. */
  things(userId: UserId): Promise<readonly HomeThing[]>;
  /**
   * Things of all users of these tenants, in the order of their cursors, after one cursor. With a filter, one call examines
   * a limited number of things: its answer may have few things or none, and still a cursor to go on from.
   */
  findThings(question: ThingQuestion): Promise<FoundThings>;
  /** Things of all users of these tenants, or of all, that show a smoke or CO warning or alarm: at most `limit`. */
  alarms(tenantIds: readonly TenantId[] | undefined, limit: number): Promise<FoundAlarms>;
  /** The devices of those of these links in whose homes an alarm sounds. */
  soundingDevices(links: readonly FoundLink[]): Promise<ReadonlySet<DeviceId>>;
  /** The newest receipts of a thing, newest first. */
  receipts(userId: UserId, thingId: string): Promise<readonly CommandReceipt[]>;
  command(userId: UserId, thingId: string, command: Command): Promise<CommandReceipt>;
  unlink(userId: UserId, ecosystem: string): Promise<{ readonly isTokenRevoked: boolean }>;
  /** A page on which the account's owner links it, or renews the link. */
  linkPage(
    userId: UserId,
    page: { readonly clientId: string; readonly ecosystem: string; readonly mode: "link" | "renew" },
  ): Promise<{ readonly url: string; readonly expiresMs: number }>;
}

export interface ThingQuestion {
  readonly tenantIds: readonly TenantId[];
  readonly kind?: string | undefined;
  readonly isWanted: (thing: HomeThing) => boolean;
  /** Undefined for the beginning. */
  readonly after: ThingCursor | undefined;
  readonly limit: number;
  /** How many portions of at most `limit` things are examined. */
  readonly portions: number;
}

export interface ThingCursor {
  readonly tenantId: TenantId;
  readonly afterDevice: number;
  readonly afterThing: string;
  /** Among the things of own devices, which follow those of linked accounts. */
  readonly own?: { readonly type?: number; readonly afterDevice?: number } | undefined;
}

export interface FoundThings {
  readonly things: readonly (HomeThing & { readonly userName: string })[];
  /** Undefined at the end. */
  readonly next: ThingCursor | undefined;
}

export interface HomeThing extends ReadThing {
  readonly isStale: boolean;
  readonly confirmedMs: number | null;
}

/** Things that show a warning or an alarm, with their users. */
export interface FoundAlarms extends Pick<FoundThings, "things"> {
  /** False when more alarms may sound. */
  readonly isComplete: boolean;
}

/** The same for an operator who reaches some tenants only. Each function first checks that it reaches the user's tenant. */
export function homesWithin(homes: HomeParts, reached: readonly TenantId[], check: CheckUser): HomeParts {
  const checked = checkedBy(check);
  const isReached = (tenantId: TenantId) => reached.includes(tenantId);
  return {
    status: checked(homes.status),
    things: checked(homes.things),
    findThings: (question) =>
      homes.findThings({ ...question, tenantIds: question.tenantIds.filter((tenantId) => isReached(tenantId)) }),
    alarms: (tenantIds, limit) => homes.alarms(tenantIds?.filter(isReached) ?? reached, limit),
    soundingDevices: (links) => homes.soundingDevices(links.filter(({ tenantId }) => isReached(tenantId))),
    receipts: checked(homes.receipts),
    command: checked(homes.command),
    unlink: checked(homes.unlink),
    linkPage: checked(homes.linkPage),
  };
}
