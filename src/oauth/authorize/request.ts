import { BadParameter } from "../../model/errors.ts";
import { askedScopes, scopeText } from "../../model/scopes.ts";
import type { Client } from "../clients.ts";
import { Parameters, type SentParameters } from "../parameters.ts";

/** What a client asks for at authorize, checked. */
export interface AuthorizationRequest {
  readonly clientId: string;
  readonly redirectUri: string;
  /** Whether the client named the address: then it must name it again when it exchanges the code. */
  readonly isRedirectUriSent: boolean;
  readonly state: string;
  readonly challenge: string | null;
  /** The known scopes that are asked for, as text. Null, or absent in a request from before scopes: all. */
  readonly scope?: string | null;
}

/** It can't be told where the browser should go back to: the person is told here. */
export class UnsafeRequest extends Error {}

/** The client is known and so is its address: what is wrong goes back to it. */
export class RefusedRequest extends Error {
  readonly redirectUri: string;
  readonly state: string | undefined;
  readonly error: string;

  constructor(redirectUri: string, state: string | undefined, { error, sentence }: Problem) {
    super(sentence);
    this.redirectUri = redirectUri;
    this.state = state;
    this.error = error;
  }
}

export const longestState = 2_048;

/** What the steps look at: a parameter that was sent twice is refused by whoever asks for it. */
interface Asked {
  readonly client: Client;
  readonly parameters: Parameters;
}

interface Problem {
  readonly error: string;
  readonly sentence: string;
}

/** What is checked once it is known where to send the browser back to, in this order. */
const steps: readonly ((asked: Asked) => Problem | undefined)[] = [
  responseTypeIsCode,
  stateIsThere,
  scopeIsOne,
  challengeIsSound,
  challengeIsThereIfRequired,
];

/** Reads a request to authorize. Throws UnsafeRequest or RefusedRequest. */
export async function readAuthorizationRequest(
  sent: SentParameters,
  findClient: (clientId: string) => Promise<Client | undefined>,
): Promise<{ readonly client: Client; readonly request: AuthorizationRequest }> {
  const parameters = new Parameters(sent);
  const client = await knownClient(parameters, findClient);
  const { redirectUri, isRedirectUriSent } = registeredAddress(parameters, client);
  for (const step of steps) {
    const problem = problemOf(step, { client, parameters });
    if (problem) throw new RefusedRequest(redirectUri, returnableState(parameters), problem);
  }
  return {
    client,
    request: {
      clientId: client.id,
      redirectUri,
      isRedirectUriSent,
      state: parameters.required("state"),
      challenge: parameters.optional("code_challenge") ?? null,
      scope: scopeText(askedScopes(parameters.optional("scope"))),
    },
  };
}

async function knownClient(parameters: Parameters, findClient: (clientId: string) => Promise<Client | undefined>) {
  const clientId = safely(() => parameters.optional("client_id"));
  const client = clientId === undefined ? undefined : await findClient(clientId);
  if (!client) throw new UnsafeRequest("The app that sent you here is not known here.");
  return client;
}

/** Compared character by character: no prefix, no case folding, no tidying (RFC 9700 2.1). */
function registeredAddress(parameters: Parameters, { redirectUris }: Client) {
  const sentUri = safely(() => parameters.optional("redirect_uri"));
  const redirectUri = sentUri ?? (redirectUris.length === 1 ? redirectUris[0] : undefined);
  if (redirectUri === undefined || !redirectUris.includes(redirectUri)) {
    throw new UnsafeRequest("The address that the app wants you to be sent back to is not registered for it.");
  }
  return { redirectUri, isRedirectUriSent: sentUri !== undefined };
}

function responseTypeIsCode({ parameters }: Asked): Problem | undefined {
  const type = parameters.required("response_type");
  if (type === "code") return undefined;
  return { error: "unsupported_response_type", sentence: "The parameter response_type must be code." };
}

function stateIsThere({ parameters }: Asked): Problem | undefined {
  const state = parameters.required("state");
  if (Buffer.byteLength(state) <= longestState) return undefined;
  return invalid(`The parameter state must have at most ${longestState} bytes.`);
}

/** Any text is accepted, once: unknown words are ignored. */
function scopeIsOne({ parameters }: Asked): Problem | undefined {
  parameters.optional("scope");
  return undefined;
}

/** RFC 7636: S256 alone; a challenge without a method would mean plain. */
function challengeIsSound({ parameters }: Asked): Problem | undefined {
  const challenge = parameters.optional("code_challenge");
  const method = parameters.optional("code_challenge_method");
  if (challenge === undefined) {
    return method === undefined ? undefined : invalid("The parameter code_challenge is missing.");
  }
  if (method !== "S256") return invalid("The parameter code_challenge_method must be S256.");
  if (!/^[A-Za-z0-9_-]{43}$/.test(challenge)) {
    return invalid("The parameter code_challenge must be 43 characters of A-Z, a-z, 0-9, - and _.");
  }
  return undefined;
}

function challengeIsThereIfRequired({ client, parameters }: Asked): Problem | undefined {
  if (!client.requiresPkce || parameters.optional("code_challenge") !== undefined) return undefined;
  return invalid("This client must send code_challenge (PKCE).");
}

function invalid(sentence: string): Problem {
  return { error: "invalid_request", sentence };
}

function problemOf(step: (asked: Asked) => Problem | undefined, asked: Asked): Problem | undefined {
  try {
    return step(asked);
  } catch (error) {
    if (error instanceof BadParameter) return invalid(error.message);
    throw error;
  }
}

/** A client_id or redirect_uri that was sent twice: nobody can say whom to tell but the person. */
function safely(read: () => string | undefined): string | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof BadParameter) throw new UnsafeRequest(error.message);
    throw error;
  }
}

/** A state that is itself what is wrong is not sent back. */
function returnableState(parameters: Parameters): string | undefined {
  try {
    const state = parameters.optional("state");
    return state !== undefined && Buffer.byteLength(state) <= longestState ? state : undefined;
  } catch {
    return undefined;
  }
}
