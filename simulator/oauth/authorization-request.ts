import { type Client, chooseReturn } from "../clients/client.ts";
import type { Clients } from "../clients/clients.ts";
import { Refusal } from "../refusal.ts";

/** A client's request for an owner's consent. */
export interface AuthRequest {
  readonly client: Client;
  readonly state: string;
  /** The unchanged parameter; empty when left out. */
  readonly requestedUri: string;
  /** Null: the owner gets a PIN instead. */
  readonly returnsTo: string | null;
}

const maxStateLength = 4000;

/** Parses a request. Throws for a page, never a redirect: the redirect address of a bad request can't be trusted. */
export function readAuthRequest(clients: Clients, parameters: URLSearchParams): AuthRequest {
  const client = clients.find(parameters.get("client_id") ?? "");
  if (client === undefined) throw badRequest("No app is registered here under this client_id.");
  const requestedUri = parameters.get("redirect_uri") ?? "";
  const returnsTo = chooseReturn(client, requestedUri);
  if (returnsTo === undefined) throw badRequest("The app may not return to this redirect_uri.");
  const state = parameters.get("state") ?? "";
  if (state === "") throw badRequest("The app must send a state.");
  if (state.length > maxStateLength) throw badRequest(`state may have at most ${maxStateLength} characters.`);
  return { client, state, requestedUri, returnsTo };
}

export function badRequest(sentence: string): Refusal {
  return new Refusal(400, "bad_request", sentence);
}
