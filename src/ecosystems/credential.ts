/**
 * What an ecosystem has issued for one account. Further members belong to the connector and are kept as they are. All
 * members must be JSON.
 */
export interface Credential {
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** When the access token expires, by the store's clock (`Runtime.nowMs`); undefined when it does not expire. */
  readonly expiresMs?: number;
  /** When Breezeway received the credential, by the store's clock. Breezeway writes it. */
  readonly issuedMs?: number;
  readonly [member: string]: unknown;
}

/**
 * The outcome of a renewal. `refused`: the ecosystem no longer accepts the refresh token (`invalid_grant`), and only
 * consent of the user helps. `unanswered`: no usable answer, so that it is unknown whether the ecosystem has issued a new
 * credential. `reason` and `detail` are shown to operators and never hold a token.
 */
export type RenewalOutcome =
  | { readonly state: "renewed"; readonly credential: Credential }
  | { readonly state: "refused"; readonly reason: string }
  | { readonly state: "unanswered"; readonly detail: string };
