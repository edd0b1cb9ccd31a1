import type { FollowedCredential } from "../../src/federation/link-credential.ts";

/** A token that no renewal can replace. */
export function lastingToken(token: string): FollowedCredential {
  return {
    token,
    accepted: () => undefined,
    refused: () => undefined,
    isRefused: () => false,
    canReplace: () => false,
    replace: async () => undefined,
  };
}
