import type { DeviceId, UserId } from "../model/ids.ts";
import type { Ownership } from "../store/tables/links.ts";

/** A link as its owner holds it: whose it is, which virtual device, and by which right it is written. */
export interface LinkKey {
  readonly userId: UserId;
  readonly deviceId: DeviceId;
  readonly ecosystem: string;
  readonly ownership: Ownership;
}

/** What an ecosystem's token is sealed for: it opens for this user's link to this ecosystem and nowhere else. */
export function tokenContext(userId: UserId, ecosystem: string): string {
  return `link of user ${userId} to ${ecosystem}`;
}
