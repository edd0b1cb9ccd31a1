import { createHash } from "node:crypto";
import type { Credential } from "../credential.ts";

/** What a call to an instance needs: where it is, and the access token. */
export interface InstanceAccess {
  readonly url: URL;
  readonly token: string;
  /** The same for all access tokens of one consent: they are renewed while a session goes on. */
  readonly consentKey: string;
  /** When the access token expires, if it does. */
  readonly expiresMs?: number;
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

/**
 * A credential as one text, in parts without spaces: address, access token, and for a credential that is renewed its
 * expiry and a digest of the refresh token.
 */
export function accessText({ accessToken, refreshToken, expiresMs, [addressMember]: address }: Credential): string {
  const access = `${typeof address === "string" ? address : ""} ${accessToken}`;
  if (refreshToken === undefined) return access;
  return `${access} ${expiresMs ?? ""} ${createHash("sha256").update(refreshToken).digest("base64url")}`;
}

/** Undefined for a text that holds no address: a link that was stored without one. */
export function accessIn(text: string): InstanceAccess | undefined {
  const [address = "", token = "", expiresMs = "", digest = ""] = text.split(" ");
  const url = URL.parse(address);
  if (!url) return undefined;
  return {
    url,
    token,
    consentKey: `${address} ${digest || token}`,
    ...(expiresMs && { expiresMs: Number(expiresMs) }),
  };
}
