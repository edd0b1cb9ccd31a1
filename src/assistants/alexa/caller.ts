import type { ScopedPrincipal, UserPrincipal } from "../../identity/principal.ts";
import { InvalidToken } from "../../model/errors.ts";
import type { Outlet, Outlets } from "../outlets.ts";
import { type AlexaError, alexaError } from "./errors.ts";
import type { AlexaSettings } from "./settings.ts";

export interface CallerParts {
  readonly accessTokens: {
    verify(accessToken: string): Promise<ScopedPrincipal>;
    clientOf(accessToken: string): Promise<string>;
    /** Whether the token was valid and has expired. */
    isExpired(accessToken: string): Promise<boolean>;
  };
  readonly outlets: Pick<Outlets, "ofClient">;
}

/** The user behind a directive, and the outlet that the user has linked. */
export interface AlexaCaller {
  readonly user: ScopedPrincipal & UserPrincipal;
  readonly outlet: Outlet;
  readonly settings: AlexaSettings;
}

/** The token must be one of a user, and of the client of an Alexa outlet. */
export async function callerOf(
  { accessTokens, outlets }: CallerParts,
  token: string,
): Promise<AlexaCaller | AlexaError> {
  try {
    const user = await accessTokens.verify(token);
    const outlet = await outlets.ofClient("alexa", await accessTokens.clientOf(token));
    if (user.kind !== "user" || !outlet) return invalidCredential;
    return { user, outlet, settings: outlet.settings as AlexaSettings };
  } catch (error) {
    if (!(error instanceof InvalidToken)) throw error;
    if (error.suspended) return alexaError("INVALID_AUTHORIZATION_CREDENTIAL", error.message);
    return (await accessTokens.isExpired(token)) ? expiredCredential : invalidCredential;
  }
}

const invalidCredential = alexaError(
  "INVALID_AUTHORIZATION_CREDENTIAL",
  "The access token is not valid for this skill. The user must link the account again.",
);
const expiredCredential = alexaError(
  "EXPIRED_AUTHORIZATION_CREDENTIAL",
  "The access token has expired. Get a new one with the refresh token.",
);
