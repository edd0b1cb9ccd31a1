import type { Credential } from "../credential.ts";

/** What a call to an instance needs: where it is, and the access token. */
export interface Access {
  readonly url: URL;
  readonly token: string;
}

/** Further members of the credential: the address of the account's instance. */
const addressMember = "address";

const longestAddress = 2_048;

/** What is wrong with an address. The sentence follows a name, such as "The address". */
export interface AddressProblem {
  readonly problem: "malformed" | "forbidden";
  readonly sentence: string;
}

/**
 * The canonical form of an address that a person told. It comes from outside: it must be https unless the setting allows
 * private networks.
 */
export function canonicalAddress(text: string, allowsPrivate: boolean): { readonly address: string } | AddressProblem {
  const url = text.length <= longestAddress ? URL.parse(text) : null;
  if (url?.protocol === "http:" && !allowsPrivate) return notHttps("forbidden");
  if (!url || (url.protocol !== "https:" && url.protocol !== "http:")) return notHttps("malformed");
  if (url.username || url.password || url.search || url.hash) {
    return { problem: "malformed", sentence: "must have no user name, password, query or fragment." };
  }
  return { address: `${url.origin}${url.pathname.replace(/\/+$/, "")}` };
}

function notHttps(problem: AddressProblem["problem"]): AddressProblem {
  return { problem, sentence: "must be an https address, such as https://home.example." };
}

/** The credential of an account: its token, and the address that its owner told; or what is wrong with the address. */
export function credentialFrom(
  token: string,
  text: string | undefined,
  allowsPrivate: boolean,
): { readonly credential: Credential } | { readonly problem: string } {
  if (text === undefined) return { problem: "is missing. Send the address of the account's instance." };
  const checked = canonicalAddress(text, allowsPrivate);
  if ("problem" in checked) return { problem: checked.sentence };
  return { credential: { accessToken: token, [addressMember]: checked.address } };
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
