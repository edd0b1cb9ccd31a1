import { randomUUID } from "node:crypto";
import { hashOf, isSame, newSecret } from "../../identity/secrets.ts";
import type { AuthorizationRequest } from "./request.ts";

/** Seals what only this deployment may read again. */
export interface Sealer extends PlainSealer {
  /** Seals with a subkey that serves this purpose alone. */
  derive(purpose: string): PlainSealer;
}

interface PlainSealer {
  seal(text: string, place: string): string;
  open(sealed: string, place: string): string;
}

/**
 * A login page that was given out. It travels sealed in the page itself, so that nobody fills the store by opening login
 * pages; it is good only in the browser that it was given to.
 */
export interface LoginTicket {
  readonly id: string;
  readonly browserHash: string;
  readonly csrf: string;
  readonly expiresMs: number;
  readonly request: AuthorizationRequest;
}

const place = "login";
/** The label of the tickets' subkey. Strangers see many sealed tickets: none is sealed with the key of stored tokens. */
const purpose = "login ticket";

export function newLoginTicket(request: AuthorizationRequest, browserSecret: string, expiresMs: number): LoginTicket {
  return { id: randomUUID(), browserHash: hashOf(browserSecret), csrf: newSecret(""), expiresMs, request };
}

/** Nodes of the version before open tickets with the main key only, and a load balancer may send the form to one. */
export function sealTicket(sealer: Sealer, { request, ...ticket }: LoginTicket, areOlderNodesGone: boolean): string {
  const its = areOlderNodesGone ? sealer.derive(purpose) : sealer;
  // As it is, a state of control characters would grow sixfold in JSON.
  const state = Buffer.from(request.state).toString("base64url");
  return its.seal(JSON.stringify({ ...ticket, request: { ...request, state } }), place);
}

/** Undefined when it isn't ours or isn't that page's. Whose browser it is, and how old, is looked at by the caller. */
export function openTicket(sealer: Sealer, sealed: string, csrf: string): LoginTicket | undefined {
  try {
    const { request, ...ticket } = JSON.parse(opened(sealer, sealed)) as LoginTicket;
    const state = Buffer.from(request.state, "base64url").toString();
    return isSame(csrf, ticket.csrf) ? { ...ticket, request: { ...request, state } } : undefined;
  } catch {
    return undefined;
  }
}

/** Nodes of the version before seal with the main key: their pages are good until they expire. */
function opened(sealer: Sealer, sealed: string): string {
  try {
    return sealer.derive(purpose).open(sealed, place);
  } catch {
    return sealer.open(sealed, place);
  }
}

export function isOfBrowser({ browserHash }: LoginTicket, browserSecret: string): boolean {
  return isSame(hashOf(browserSecret), browserHash);
}
