import { BadParameter } from "../model/errors.ts";
import { isLoopbackHost } from "../model/loopback-host.ts";
import type { ClientKind } from "../store/tables/clients.ts";

const longestUri = 2_000;
const mostUris = 20;

/** Addresses to which the authorization server sends users back with a code. */
export function checkRedirectUris(uris: readonly string[], kind: ClientKind): void {
  // An enterprise client may use client_credentials only.
  if (uris.length === 0 && kind === "user") {
    throw new BadParameter("redirect-uri", "A client needs at least one --redirect-uri.");
  }
  checkAddresses(uris, "redirect-uri", "redirect");
}

/** Addresses to which link pages send users back. */
export function checkReturnUrls(urls: readonly string[]): void {
  checkAddresses(urls, "return-url", "return");
}

/** Absolute, without a fragment, and https except for loopback addresses (RFC 6749 3.1.2; RFC 8252 7.3). */
function checkAddresses(uris: readonly string[], parameter: string, word: "redirect" | "return"): void {
  const refuse = (sentence: string) => {
    throw new BadParameter(parameter, sentence);
  };
  if (uris.length > mostUris) refuse(`A client may have at most ${mostUris} ${word} addresses.`);
  if (new Set(uris).size < uris.length) refuse(`A ${word} address was given twice.`);
  for (const uri of uris) {
    const url = readStrictly(uri);
    if (!url || uri.length > longestUri) refuse(`A ${word} address must be an absolute address in ASCII characters.`);
    else if (uri.includes("#")) refuse(`A ${word} address must have no fragment (#).`);
    else if (url.username || url.password) refuse(`A ${word} address must hold no user name or password.`);
    else if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopbackHost(url.hostname))) {
      refuse(`A ${word} address must begin with https:// (http:// only for 127.0.0.1, [::1] and localhost).`);
    }
  }
}

/** Parses an address. Undefined when a browser would normalise it, and so might open another address. */
function readStrictly(uri: string): URL | undefined {
  if (!/^[\x21-\x7e]+$/.test(uri) || /["<>\\^`{|}]/.test(uri) || !URL.canParse(uri)) return undefined;
  const url = new URL(uri);
  return uri.toLowerCase().startsWith(`${url.protocol}//${url.host}`) || url.username ? url : undefined;
}
