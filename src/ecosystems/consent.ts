import type { Credential } from "./credential.ts";

/**
 * How an account's owner consents in a browser: Breezeway sends the browser to the ecosystem, and the ecosystem sends it
 * back to Breezeway's callback with a code. A connector without it can be linked only with a token that a client brings.
 */
export interface Consent {
  /** True when the owner must first say where the account is: each account has an address of its own. */
  readonly asksForAddress: boolean;
  /** The page of the ecosystem to which the browser is sent, or what is wrong with the owner's address. Never throws. */
  begin(request: ConsentRequest, signal: AbortSignal): Promise<ConsentStart>;
  /** Exchanges the code for a credential, once. Never throws. */
  exchange(answer: ConsentAnswer, signal: AbortSignal): Promise<ConsentOutcome>;
}

export interface ConsentRequest {
  /** Breezeway's callback, as it is registered with the ecosystem. */
  readonly redirectUri: string;
  /** Random; the ecosystem sends it back with the code. */
  readonly state: string;
  /** PKCE (S256). An ecosystem that does not know PKCE ignores it. */
  readonly codeChallenge: string;
  /** What the owner typed, if `asksForAddress`. */
  readonly address?: string;
}

/**
 * `problem`: a code. `detail`: a sentence for the account's owner. `address`: the address in canonical form, for the
 * exchange.
 */
export type ConsentStart =
  | { readonly url: string; readonly address?: string }
  | { readonly problem: "malformed" | "forbidden" | "unreachable"; readonly detail: string };

export interface ConsentAnswer {
  readonly code: string;
  readonly redirectUri: string;
  readonly codeVerifier: string;
  readonly address?: string;
}

/** `refused`: the ecosystem does not accept the code. `unanswered`: no usable answer. Neither holds a secret. */
export type ConsentOutcome =
  | { readonly state: "granted"; readonly credential: Credential }
  | { readonly state: "refused"; readonly reason: string }
  | { readonly state: "unanswered"; readonly detail: string };
