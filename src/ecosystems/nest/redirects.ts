/** To which hosts a token may be sent, from the ecosystem's configuration. */
export interface RedirectRules {
  readonly apiUrl: URL;
  /** `host` or `host:port`; without a port, the scheme's default port. */
  readonly allowedHosts: readonly string[];
}

export type Redirect =
  | { readonly isAllowed: true; readonly url: URL }
  | { readonly isAllowed: false; readonly detail: string };

/**
 * Decides whether a 307 may be followed with the token. Hosts are compared in the normal form of the URL standard, so a
 * decimal address, an IPv6-mapped one or a user name that looks like a host can't deceive.
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

/** A token that was sent encrypted must not be sent in the clear. */
function isSchemeAllowed(url: URL, apiUrl: URL): boolean {
  return url.protocol === "https:" || (url.protocol === "http:" && apiUrl.protocol === "http:");
}

function isHostAllowed(url: URL, allowedHosts: readonly string[]): boolean {
  const ownPort = url.protocol === "https:" ? "443" : "80";
  const spellings = [`${url.hostname}:${url.port || ownPort}`];
  if (url.port === "") spellings.push(url.hostname);
  return allowedHosts.some((host) => spellings.includes(host.toLowerCase()));
}
