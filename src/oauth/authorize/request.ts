import { BadParameter } from "../../model/errors.ts";
import { requestedScope } from "../../model/scopes.ts";
import { suspendedSentences } from "../../model/suspension.ts";
import type { Client } from "../clients.ts";
import { Parameters, type SentParameters } from "../parameters.ts";

/** A checked authorization request. */
export interface AuthorizationRequest {
  readonly clientId: string;
  readonly redirectUri: string;
  /** Whether the client sent redirect_uri. Then it must send it again when it exchanges the code. */
  readonly isRedirectUriSent: boolean;
  /** Empty if the client sent none. */
  readonly state: string;
  readonly challenge: string | null;
  /** The scopes of the request, as text. Null means everything; so does undefined, in a ticket from before scopes. */
  readonly scope?: string | null;
}

/** Invalid client or redirect_uri: show a page, never redirect. */
export class UnsafeRequest extends Error {}

/** The client and its redirect_uri are valid: redirect to the client with the error. */
export class RefusedRequest extends Error {
  readonly client: Client;
  readonly redirectUri: string;
  readonly state: string | undefined;
  readonly error: string;

  constructor(client: Client, redirectUri: string, state: string | undefined, { error, sentence }: Problem) {
    super(sentence);
    this.client = client;
    this.redirectUri = redirectUri;
    this.state = state;
    this.error = error;
  }
}

export const longestState = 2_048;

/** The input of the checks. Reading a parameter that was sent twice throws BadParameter. */
interface ReceivedRequest {
  readonly client: Client;
  readonly parameters: Parameters;
}

interface Problem {
  readonly error: string;
  readonly sentence: string;
}

/** The checks after client and redirect_uri are known to be valid, in this order. */
const checks: readonly ((received: ReceivedRequest) => Problem | undefined)[] = [
  checkSuspended,
  checkResponseType,
  checkState,
  checkScope,
  checkChallenge,
  checkPkceRequired,
];

/** Reads a request to authorize. Throws UnsafeRequest or RefusedRequest. */
export async function readAuthorizationRequest(
  sent: SentParameters,
  findClient: (clientId: string) => Promise<Client | undefined>,
): Promise<{ readonly client: Client; readonly request: AuthorizationRequest }> {
  const parameters = new Parameters(sent);
  const client = await knownClient(parameters, findClient);
  const { redirectUri, isRedirectUriSent } = registeredRedirectUri(parameters, client);
  for (const check of checks) {
    const problem = problemOf(check, { client, parameters });
    if (problem) throw new RefusedRequest(client, redirectUri, returnableState(parameters), problem);
  }
  return {
    client,
    request: {
      clientId: client.id,
      redirectUri,
      isRedirectUriSent,
      state: parameters.optional("state") ?? "",
      challenge: parameters.optional("code_challenge") ?? null,
      scope: requestedScope(parameters.optional("scope"), client),
    },
  };
}

async function knownClient(parameters: Parameters, findClient: (clientId: string) => Promise<Client | undefined>) {
  const clientId = readOrThrowUnsafe(() => parameters.optional("client_id"));
  const client = clientId === undefined ? undefined : await findClient(clientId);
  if (!client) throw new UnsafeRequest("The app that sent you here is not known here.");
  return client;
}

/** Exact comparison, without normalisation (RFC 9700 2.1). */
function registeredRedirectUri(parameters: Parameters, { redirectUris }: Client) {
  const sentUri = readOrThrowUnsafe(() => parameters.optional("redirect_uri"));
  const redirectUri = sentUri ?? (redirectUris.length === 1 ? redirectUris[0] : undefined);
  if (redirectUri === undefined || !redirectUris.includes(redirectUri)) {
    throw new UnsafeRequest("The address that the app wants you to be sent back to is not registered for it.");
  }
  return { redirectUri, isRedirectUriSent: sentUri !== undefined };
}

function checkSuspended({ client }: ReceivedRequest): Problem | undefined {
  if (client.suspendedMs === null) return undefined;
  return { error: "unauthorized_client", sentence: suspendedSentences.client };
}

function checkResponseType({ parameters }: ReceivedRequest): Problem | undefined {
  const type = parameters.required("response_type");
  if (type === "code") return undefined;
  return { error: "unsupported_response_type", sentence: "The parameter response_type must be code." };
}

/** A PKCE challenge prevents cross-site request forgery too: a request with one needs no state. */
function checkState({ parameters }: ReceivedRequest): Problem | undefined {
  const isRequired = parameters.optional("code_challenge") === undefined;
  const state = isRequired ? parameters.required("state") : parameters.optional("state");
  if (Buffer.byteLength(state ?? "") <= longestState) return undefined;
  return invalid(`The parameter state must have at most ${longestState} bytes.`);
}

/** Any scope is accepted if it was sent once; unknown words are ignored. The call only throws for a duplicate. */
function checkScope({ parameters }: ReceivedRequest): Problem | undefined {
  parameters.optional("scope");
  return undefined;
}

/** RFC 7636: only S256 is accepted. A challenge without a method would mean plain. */
function checkChallenge({ parameters }: ReceivedRequest): Problem | undefined {
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

function checkPkceRequired({ client, parameters }: ReceivedRequest): Problem | undefined {
  if (!client.requiresPkce || parameters.optional("code_challenge") !== undefined) return undefined;
  return invalid("This client must send code_challenge (PKCE).");
}

function invalid(sentence: string): Problem {
  return { error: "invalid_request", sentence };
}

function problemOf(
  check: (received: ReceivedRequest) => Problem | undefined,
  received: ReceivedRequest,
): Problem | undefined {
  try {
    return check(received);
  } catch (error) {
    if (error instanceof BadParameter) return invalid(error.message);
    throw error;
  }
}

/** For client_id and redirect_uri: a duplicate is an UnsafeRequest, since there is no trusted address to redirect to. */
function readOrThrowUnsafe(read: () => string | undefined): string | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof BadParameter) throw new UnsafeRequest(error.message);
    throw error;
  }
}

/** The state for an error redirect; undefined when the state itself is invalid. */
function returnableState(parameters: Parameters): string | undefined {
  try {
    const state = parameters.optional("state");
    return state !== undefined && Buffer.byteLength(state) <= longestState ? state : undefined;
  } catch {
    return undefined;
  }
}
