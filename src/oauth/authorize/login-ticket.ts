import { randomUUID } from "node:crypto";
import { hashOf, isSame, newSecret } from "../../identity/secrets.ts";
import type { AuthorizationRequest } from "./request.ts";

/** Seals text that only this deployment can open. */
export interface Sealer extends PlainSealer {
  /** A sealer with a subkey for this purpose. */
  derive(purpose: string): PlainSealer;
}

interface PlainSealer {
  seal(text: string, context: string): string;
  open(sealed: string, context: string): string;
}

/**
 * The state of a login page. It is sealed into the page itself, so that opening login pages does not fill the store. It
 * is valid only in the browser that got the page.
 */
export interface LoginTicket {
  readonly id: string;
  readonly browserHash: string;
  readonly csrf: string;
  readonly expiresMs: number;
  readonly request: AuthorizationRequest;
}

/** A checked authorization request on its way to the login page. Nobody is signed in yet, so any browser may open it. */
export interface RequestTicket {
  readonly request: AuthorizationRequest;
  readonly expiresMs: number;
}

const context = "login";
/** The purpose of the tickets' subkey: tickets are public, so they must not be sealed with the key of stored tokens. */
const purpose = "login ticket";
const requestPurpose = "authorization request";

export function newLoginTicket(request: AuthorizationRequest, browserSecret: string, expiresMs: number): LoginTicket {
  return { id: randomUUID(), browserHash: hashOf(browserSecret), csrf: newSecret(""), expiresMs, request };
}

/** Nodes of the previous version open tickets with the main key only, and a load balancer may send the form to one. */
export function sealTicket(sealer: Sealer, { request, ...ticket }: LoginTicket, areOlderNodesGone: boolean): string {
  const chosen = areOlderNodesGone ? sealer.derive(purpose) : sealer;
  // Encoded, since a state of control characters would grow sixfold in JSON.
  const state = Buffer.from(request.state).toString("base64url");
  return chosen.seal(JSON.stringify({ ...ticket, request: { ...request, state } }), context);
}

/** Undefined when the ticket is not ours or the CSRF token is wrong. The caller checks the browser and the expiry. */
export function openTicket(sealer: Sealer, sealed: string, csrf: string): LoginTicket | undefined {
  try {
    const { request, ...ticket } = JSON.parse(openWithAnyKey(sealer, sealed)) as LoginTicket;
    const state = Buffer.from(request.state, "base64url").toString();
    return isSame(csrf, ticket.csrf) ? { ...ticket, request: { ...request, state } } : undefined;
  } catch {
    return undefined;
  }
}

/** The state follows the JSON as plain text: its address must fit into the small header buffers of proxies. */
export function sealRequest(sealer: Sealer, { request, expiresMs }: RequestTicket): string {
  const { state, ...stateless } = request;
  const json = JSON.stringify({ request: stateless, expiresMs });
  return sealer.derive(requestPurpose).seal(`${json}\n${state}`, context);
}

/** Undefined when the ticket is not ours. The caller checks the expiry. */
export function openRequest(sealer: Sealer, sealed: string): RequestTicket | undefined {
  try {
    const text = sealer.derive(requestPurpose).open(sealed, context);
    const end = text.indexOf("\n");
    const { request, expiresMs } = JSON.parse(text.slice(0, end)) as RequestTicket;
    return { request: { ...request, state: text.slice(end + 1) }, expiresMs };
  } catch {
    return undefined;
  }
}

/** Nodes of the previous version seal with the main key: their pages stay valid until they expire. */
function openWithAnyKey(sealer: Sealer, sealed: string): string {
  try {
    return sealer.derive(purpose).open(sealed, context);
  } catch {
    return sealer.open(sealed, context);
  }
}

export function isOfBrowser({ browserHash }: LoginTicket, browserSecret: string): boolean {
  return isSame(hashOf(browserSecret), browserHash);
}
