import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientError,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  ResponseBodyError,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from "openid-client";
import { sourceOf } from "../../identity/source.ts";
import { EcosystemUnreachable, TooManyRequests } from "../../model/errors.ts";
import type { OutgoingCalls } from "../../runtime/network/outgoing-calls.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { OpenIdRefused, OpenIdUnavailable } from "./openid-errors.ts";

export interface ProviderSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly outgoing: OutgoingCalls;
}

/** The values that bind the provider's answer to the request. They stay in the browser's sealed cookie. */
export interface Checks {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** The person must have signed in at the provider within this time. */
  readonly maxAgeSeconds?: number | undefined;
}

/** What an ID token says of a person. */
export type Claims = Readonly<Record<string, unknown>> & {
  readonly iss: string;
  readonly sub: string;
  readonly auth_time?: number | undefined;
};

/** The OpenID provider at which operators sign in. */
export interface OpenIdProvider {
  newChecks(maxAgeSeconds?: number): Checks;
  /** The address at the provider to which the browser goes. Rejects with OpenIdUnavailable. */
  authorizeUrl(redirectUri: string, checks: Checks): Promise<string>;
  /** Checks the answer and exchanges its code. Rejects with OpenIdRefused or OpenIdUnavailable. */
  claims(answerUrl: string, checks: Checks, caller: ExchangeCaller): Promise<Claims>;
}

export interface ExchangeCaller {
  readonly source: string;
  /** Aborts when the browser closes its connection: an exchange that still waits ends. */
  readonly disconnected?: AbortSignal | undefined;
}

/** Time limit of each request: the library applies it to the answer's body too. One exchange makes three at most. */
const timeLimitSeconds = 10;
/** Sign-ins share the bounds of a tenant. */
const tenant = "operators";

export function openIdProvider({ issuer, clientId, clientSecret, outgoing }: ProviderSettings): OpenIdProvider {
  let known: Promise<Configuration> | undefined;

  /** The provider's metadata, read once, by one call at a time. A failed attempt is forgotten. */
  function metadata(): Promise<Configuration> {
    known ??= outgoing.run({ user: "OpenID discovery", tenant }, discover).catch((error) => {
      known = undefined;
      throw new OpenIdUnavailable(`The OpenID provider ${issuer} could not be read.`, error);
    });
    return known;
  }

  async function discover(): Promise<Configuration> {
    // Plain http is for a provider on this machine; the settings refuse it elsewhere.
    const execute = issuer.startsWith("http:") ? [allowInsecureRequests] : [];
    const found = await discovery(new URL(issuer), clientId, clientSecret, undefined, {
      execute,
      timeout: timeLimitSeconds,
      [customFetch]: boundedFetch,
    });
    const server = found.serverMetadata();
    const { token_endpoint_auth_methods_supported: methods = ["client_secret_basic"] } = server;
    const authentication = methods.includes("client_secret_basic") ? ClientSecretBasic : ClientSecretPost;
    const configuration = new Configuration(server, clientId, undefined, authentication(clientSecret));
    configuration.timeout = timeLimitSeconds;
    configuration[customFetch] = boundedFetch;
    // Without it the library trusts an ID token because it came over TLS. The keys are read at most once a minute.
    enableNonRepudiationChecks(configuration);
    for (const change of execute) change(configuration);
    return configuration;
  }

  return {
    newChecks: (maxAgeSeconds) => ({
      state: randomState(),
      nonce: randomNonce(),
      verifier: randomPKCECodeVerifier(),
      maxAgeSeconds,
    }),
    async authorizeUrl(redirectUri, { state, nonce, verifier, maxAgeSeconds }) {
      return buildAuthorizationUrl(await metadata(), {
        redirect_uri: redirectUri,
        scope: "openid profile email",
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
        state,
        nonce,
        ...(maxAgeSeconds !== undefined && { max_age: String(maxAgeSeconds) }),
      }).href;
    },
    async claims(answerUrl, checks, { source, disconnected }) {
      const configuration = await metadata();
      // A stranger can cause an exchange. The addresses take turns.
      const cause = { user: `source ${sourceOf(source)}`, tenant, disconnected };
      const run = outgoing.run(cause, () => exchange(configuration, answerUrl, checks));
      return run.catch((error: unknown) => {
        const isLate = error instanceof TooManyRequests || error instanceof EcosystemUnreachable;
        throw isLate ? new OpenIdUnavailable("Too many people sign in at this moment.", error) : error;
      });
    },
  };
}

async function exchange(configuration: Configuration, answerUrl: string, checks: Checks): Promise<Claims> {
  const { state, nonce, verifier, maxAgeSeconds } = checks;
  try {
    const tokens = await authorizationCodeGrant(configuration, new URL(answerUrl), {
      pkceCodeVerifier: verifier,
      expectedState: state,
      expectedNonce: nonce,
      idTokenExpected: true,
      ...(maxAgeSeconds !== undefined && { maxAge: maxAgeSeconds }),
    });
    const claims = tokens.claims() as Claims;
    if (configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
    // Many providers tell names and groups only there.
    return { ...(await fetchUserInfo(configuration, tokens.access_token, claims.sub)), ...claims };
  } catch (error) {
    throw refusalOf(error);
  }
}

/** The provider said no, or its answer is not valid; everything else is a provider that can't be reached. */
function refusalOf(error: unknown): Error {
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError) {
    return new OpenIdRefused(`The OpenID provider answered: ${error.error.slice(0, 100)}.`, error);
  }
  const code = error instanceof ClientError ? error.code : undefined;
  if (code !== undefined && !unanswered.includes(code)) {
    return new OpenIdRefused("The answer of the OpenID provider is not valid.", error);
  }
  return new OpenIdUnavailable("The OpenID provider gave no usable answer.", error);
}

/** Errors of the library that mean no answer, or one that is no answer of a provider. */
const unanswered = ["OAUTH_TIMEOUT", "OAUTH_ABORT", "OAUTH_PARSE_ERROR", "OAUTH_RESPONSE_IS_NOT_JSON"];
