import { createHash } from "node:crypto";
import type { Credential } from "../ecosystems/credential.ts";
import { derivedSecret, hashOf, isSame, newSecret, withOwner } from "../identity/secrets.ts";
import type { UserId } from "../model/ids.ts";
import type { LinkSessionKey, LinkSessionRow } from "../store/tables/link-sessions.ts";

/** Seals text that only this deployment can open. */
export interface Sealer {
  seal(text: string, context: string): string;
  open(sealed: string, context: string): string;
}

/** What is sealed in the row of a session. All other secrets are derived from `root`, so that they need not be stored. */
export interface SessionSecrets {
  readonly root: string;
  /** The address of the account, as the user has typed it. */
  readonly address?: string;
  /** The same address as the connector writes it. */
  readonly canonicalAddress?: string;
  /** The ecosystem's credential, until the account is linked. */
  readonly credential?: Credential;
}

export function newSessionSecrets(): SessionSecrets {
  return { root: newSecret("") };
}

/** The context that a session's secrets are sealed with: they open only for this session. */
export function sessionContext(sessionId: string): string {
  return `link session ${sessionId}`;
}

export function sealSecrets(sealer: Sealer, sessionId: string, secrets: SessionSecrets): string {
  return sealer.seal(JSON.stringify(secrets), sessionContext(sessionId));
}

export function openSecrets(sealer: Sealer, { id, sealed }: Pick<LinkSessionRow, "id" | "sealed">): SessionSecrets {
  return JSON.parse(sealer.open(sealed, sessionContext(id))) as SessionSecrets;
}

/** The secret in the address of the session's page. It contains the owner, so that the session can be looked up. */
export function pageToken({ root }: SessionSecrets, { ownerId }: Pick<LinkSessionKey, "ownerId">): string {
  return withOwner(derivedSecret(root, "page"), ownerId);
}

/**
 * The state of one consent. It depends on the address: a code of one account's server must never be sent to another one
 * (mix-up attack). A double click gives the same state.
 */
export function consentState(
  { root, address = "" }: SessionSecrets,
  { ownerId, attempt }: Pick<LinkSessionRow, "ownerId" | "attempt">,
): string {
  return withOwner(derivedSecret(root, `state ${attempt} ${address}`), ownerId);
}

/** The PKCE verifier of one consent. */
export function codeVerifier({ root, address = "" }: SessionSecrets, attempt: number): string {
  return derivedSecret(root, `verifier ${attempt} ${address}`);
}

/** PKCE, method S256. */
export function challengeOf(verifier: string): string {
  return createHash("sha256").update(verifier).digest("base64url");
}

/**
 * The cookie's secret after signing in. It differs from the one before, so that a planted cookie is useless (session
 * fixation), and it is derived, so that a double click gives the same one.
 */
export function signedInSecret({ root }: SessionSecrets, browserSecret: string, userId: UserId): string {
  return derivedSecret(root, `browser ${hashOf(browserSecret)} ${userId}`);
}

/** The CSRF token of the session's forms. */
export function csrfOf(browserSecret: string, sessionId: string): string {
  return derivedSecret(browserSecret, `csrf ${sessionId}`);
}

/** Whether the session is bound to the browser with this cookie. */
export function isOfBrowser(
  { browserHash }: Pick<LinkSessionRow, "browserHash">,
  browserSecret: string | undefined,
): browserSecret is string {
  return browserHash !== null && browserSecret !== undefined && isSame(hashOf(browserSecret), browserHash);
}
