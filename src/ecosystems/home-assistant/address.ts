import type { Credential } from "../credential.ts";

/** What a call to an instance needs: where it is, and the access token. */
export interface Access {
  readonly url: URL;
  readonly token: string;
}

/** Further members of the credential: the address of the account's instance. */
const addressMember = "address";

const longestAddress = 2_048;

/**
 * The credential of an account: its token, and the address that its owner told; or what is wrong with the address. The
 * address comes from outside: it must be https unless the setting allows private networks.
 */
export function credentialFrom(
  token: string,
  address: string | undefined,
  allowsPrivate: boolean,
): { readonly credential: Credential } | { readonly problem: string } {
  if (address === undefined) return { problem: "is missing. Send the address of the account's instance." };
  const url = address.length <= longestAddress ? URL.parse(address) : null;
  const isAllowed = url?.protocol === "https:" || (allowsPrivate && url?.protocol === "http:");
  if (!url || !isAllowed) return { problem: "must be an https address, such as https://home.example." };
  if (url.username || url.password || url.search || url.hash) {
    return { problem: "must have no user name, password, query or fragment." };
  }
  return { credential: { accessToken: token, [addressMember]: `${url.origin}${url.pathname.replace(/\/+$/, "")}` } };
}

/** A credential as one text. Neither an address nor a token has a space. */
export function accessText({ accessToken, [addressMember]: address }: Credential): string {
  return `${typeof address === "string" ? address : ""} ${accessToken}`;
}

/** Undefined for a text that holds no address: a link that was stored without one. */
export function accessIn(text: string): Access | undefined {
  const space = text.indexOf(" ");
  const url = URL.parse(text.slice(0, Math.max(0, space)));
  return url ? { url, token: text.slice(space + 1) } : undefined;
}
