/** The redirect to the client with these parameters and, unless undefined, the issuer (RFC 9207). */
export function clientRedirectUrl(
  redirectUri: string,
  issuer: string | undefined,
  parameters: Readonly<Record<string, string | undefined>>,
): string {
  const pairs = Object.entries({ ...parameters, iss: issuer })
    .filter(([, value]) => value !== undefined && value !== "")
    // Spaces become %20, not "+" as in forms: some clients don't decode "+".
    .map(([name, value]) => `${name}=${encodeURIComponent(value ?? "")}`);
  // A query in the registered address is kept (RFC 6749 3.1.2).
  return `${redirectUri}${redirectUri.includes("?") ? "&" : "?"}${pairs.join("&")}`;
}

/** Errors for the client when access is denied. */
export const denied = {
  expired: { error: "access_denied", error_description: "The sign-in has expired." },
  declined: { error: "access_denied", error_description: "The user declined." },
  notAdmin: { error: "access_denied", error_description: "Only an administrator of the tenant can give this access." },
};
