import type { DeviceId, UserId } from "../model/ids.ts";
import type { Ownership } from "../store/tables/links.ts";

/** Identifies a link and the ownership with which its owner node writes it. */
export interface LinkKey {
  readonly userId: UserId;
  readonly deviceId: DeviceId;
  readonly ecosystem: string;
  readonly ownership: Ownership;
}

/** The context that a token is sealed with: it opens only for this user's link to this ecosystem. */
export function tokenContext(userId: UserId, ecosystem: string): string {
  return `link of user ${userId} to ${ecosystem}`;
}

/** The context that a credential is sealed with. It differs from the token's, so that neither opens as the other. */
export function credentialContext(userId: UserId, ecosystem: string): string {
  return `credential of user ${userId} for ${ecosystem}`;
}
