import { type Client, chooseReturn } from "../clients/client.ts";
import type { Clients } from "../clients/clients.ts";
import { Refusal } from "../refusal.ts";

/** A client's question to an owner. */
export interface Question {
  readonly client: Client;
  readonly state: string;
  /** As it came; empty when it was left out. */
  readonly requestedUri: string;
  /** Null: the owner is shown a PIN instead. */
  readonly returnsTo: string | null;
}

const longestState = 4000;

/** Reads a question. Whoever can't be sent back safely sees a page instead, whatever else is wrong. */
export function readQuestion(clients: Clients, parameters: URLSearchParams): Question {
  const client = clients.find(parameters.get("client_id") ?? "");
  if (client === undefined) throw unclear("No app is registered here under this client_id.");
  const requestedUri = parameters.get("redirect_uri") ?? "";
  const returnsTo = chooseReturn(client, requestedUri);
  if (returnsTo === undefined) throw unclear("The app may not return to this redirect_uri.");
  const state = parameters.get("state") ?? "";
  if (state === "") throw unclear("The app must send a state.");
  if (state.length > longestState) throw unclear(`state may have at most ${longestState} characters.`);
  return { client, state, requestedUri, returnsTo };
}

export function unclear(sentence: string): Refusal {
  return new Refusal(400, "bad_request", sentence);
}
