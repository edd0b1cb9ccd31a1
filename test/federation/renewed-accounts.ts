import type { RenewedEcosystem } from "./made-renewal.ts";

/** A simulated ecosystem behind its real connector. */
export interface RenewedAccounts extends RenewedEcosystem {
  /** When each renewal was sent. */
  readonly renewalsMs: readonly number[];
  /** How often a renewal was sent while another one of the same token was in progress. */
  readonly overlaps: number;
  /** How often a token was presented that is not valid. */
  readonly wrongTokens: number;
  stop(): Promise<void>;
}
