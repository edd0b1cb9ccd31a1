/** The address that sends a browser back to the client, with our name in every answer (RFC 9207). */
export function returnAddress(
  redirectUri: string,
  issuer: string,
  parameters: Readonly<Record<string, string | undefined>>,
): string {
  const pairs = Object.entries({ ...parameters, iss: issuer })
    .filter(([, value]) => value !== undefined)
    // Not as a form does it: some clients take a plus for a plus.
    .map(([name, value]) => `${name}=${encodeURIComponent(value ?? "")}`);
  // The registered address may have a query of its own, which stays as it is (RFC 6749 3.1.2).
  return `${redirectUri}${redirectUri.includes("?") ? "&" : "?"}${pairs.join("&")}`;
}

/** What a client hears when it gets nothing. */
export const denied = {
  declined: { error: "access_denied", error_description: "The user declined." },
  notAdmin: { error: "access_denied", error_description: "Only an administrator of the tenant can give this access." },
};
