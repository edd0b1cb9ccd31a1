/** Who may be sent a token, as the ecosystem's configuration says. */
export interface RedirectRules {
  readonly apiUrl: URL;
  /** `host` or `host:port`; without a port, the scheme's own is meant. */
  readonly allowedHosts: readonly string[];
}

export type Redirect =
  | { readonly isAllowed: true; readonly url: URL }
  | { readonly isAllowed: false; readonly detail: string };

/**
 * Whether a 307 may be followed with the token in hand. Hosts are compared as the URL standard writes them, so that a
 * decimal address, an IPv6-mapped one or a user name that looks like a host is what it really leads to.
 */
export function judgeRedirect(location: string | undefined, from: URL, rules: RedirectRules): Redirect {
  const url = location === undefined ? null : URL.parse(location, from);
  if (url === null) return refusal("redirected to no address");
  if (!isSchemeAllowed(url, rules.apiUrl)) return refusal("redirected to another scheme");
  if (url.username !== "" || url.password !== "") return refusal("redirected to an address with a user name");
  if (!isHostAllowed(url, rules.allowedHosts))
    return refusal(`redirected to ${url.host}, which is not an allowed host`);
  return { isAllowed: true, url };
}

function refusal(detail: string): Redirect {
  return { isAllowed: false, detail };
}

/** A token that travelled encrypted must not go on in the clear. */
function isSchemeAllowed(url: URL, apiUrl: URL): boolean {
  return url.protocol === "https:" || (url.protocol === "http:" && apiUrl.protocol === "http:");
}

function isHostAllowed(url: URL, allowedHosts: readonly string[]): boolean {
  const ownPort = url.protocol === "https:" ? "443" : "80";
  const spellings = [`${url.hostname}:${url.port || ownPort}`];
  if (url.port === "") spellings.push(url.hostname);
  return allowedHosts.some((host) => spellings.includes(host.toLowerCase()));
}
