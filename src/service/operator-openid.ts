import type { Config } from "../config/config.ts";
import type { OnLimitReached } from "../model/limits.ts";
import { type OpenIdSignIn, openIdSignInOn } from "../operators/openid/openid-sign-in.ts";
import { openIdProvider } from "../operators/openid/provider.ts";
import type { OutgoingCalls } from "../runtime/network/outgoing-calls.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Sealing } from "../store/keys/sealing.ts";
import type { OpenStore } from "../store/seam.ts";

export interface OpenIdServiceParts {
  readonly config: Config;
  readonly store: OpenStore;
  readonly sealing: Sealing;
  readonly outgoing: OutgoingCalls;
  readonly runtime: Pick<Runtime, "elapsedMs">;
  readonly onLimitReached: OnLimitReached;
  readonly baseUrl: () => string;
}

/** The sign-in of operators at the OpenID provider of the settings; undefined without one. */
export function openIdOf(parts: OpenIdServiceParts): OpenIdSignIn | undefined {
  const { config, store, sealing, outgoing, runtime, onLimitReached, baseUrl } = parts;
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret, oidcRoles: rules } = config;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return undefined;
  return openIdSignInOn({
    store,
    provider: openIdProvider({ issuer, clientId, clientSecret, outgoing }),
    rules,
    label: new URL(issuer).host,
    sealer: sealing.derive("operator-openid"),
    elapsedMs: runtime.elapsedMs,
    redirectUri: () => `${baseUrl()}/console/openid/callback`,
    onLimitReached,
  });
}
