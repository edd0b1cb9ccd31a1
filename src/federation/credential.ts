import type { Connector } from "../ecosystems/connector.ts";
import type { Credential } from "../ecosystems/credential.ts";
import type { LinkRow } from "../store/tables/links.ts";
import { credentialContext, tokenContext } from "./link-key.ts";

/** Seals and opens the secrets of links. `place` is the context that a value is bound to. */
export interface TokenSealing {
  seal(text: string, place: string): string;
  open(sealed: string, place: string): string;
}

/** The sealed columns of a link. Nodes of the version before credentials read only the token. */
export type SealedCredential = Pick<LinkRow, "sealedToken" | "sealedCredential">;

type LinkName = Pick<LinkRow, "userId" | "ecosystem">;

/** What the sealed columns of a link hold. */
export interface OpenedCredential {
  readonly credential: Credential;
  /** False when the link has only a token: then there is nothing to renew it with. */
  readonly isRenewable: boolean;
  /** The reason why a stored credential can't be used; the token is used alone. */
  readonly fault?: unknown;
}

/** Seals a token alone, or a credential with its access token as a node of an earlier version stores it. */
export function sealCredential(
  seal: TokenSealing["seal"],
  { userId, ecosystem }: LinkName,
  tokenOrCredential: string | Credential,
): SealedCredential {
  const isToken = typeof tokenOrCredential === "string";
  return {
    sealedToken: seal(isToken ? tokenOrCredential : tokenOrCredential.accessToken, tokenContext(userId, ecosystem)),
    sealedCredential: isToken ? null : seal(JSON.stringify(tokenOrCredential), credentialContext(userId, ecosystem)),
  };
}

/**
 * Opens the credential of a link. The token decides: a node of an earlier version replaces the token and leaves the
 * credential behind, so a credential with another access token is outdated and is ignored. Comparing the opened tokens
 * also holds after a key rotation, which changes both sealed texts. Throws when the token can't be opened.
 */
export function openCredential(
  open: TokenSealing["open"],
  { userId, ecosystem, sealedToken, sealedCredential }: LinkName & SealedCredential,
): OpenedCredential {
  const accessToken = open(sealedToken, tokenContext(userId, ecosystem));
  const onlyToken = { credential: { accessToken }, isRenewable: false };
  if (sealedCredential === null) return onlyToken;
  try {
    const credential = parseCredential(open(sealedCredential, credentialContext(userId, ecosystem)));
    return credential.accessToken === accessToken ? { credential, isRenewable: true } : onlyToken;
  } catch (fault) {
    return { ...onlyToken, fault };
  }
}

/** The text with which a connector's calls are made: the access token, or what the connector makes of the credential. */
export function callTokenOf(connector: Pick<Connector, "callTokenOf">, tokenOrCredential: string | Credential): string {
  const credential = typeof tokenOrCredential === "string" ? { accessToken: tokenOrCredential } : tokenOrCredential;
  return connector.callTokenOf?.(credential) ?? credential.accessToken;
}

/** The text with which calls for a stored link are made; undefined when its token can't be opened. Its status says why. */
export function storedCallToken(
  { open }: Pick<TokenSealing, "open">,
  connector: Pick<Connector, "callTokenOf">,
  link: LinkName & SealedCredential,
): string | undefined {
  try {
    return callTokenOf(connector, openCredential(open, link).credential);
  } catch {
    return undefined;
  }
}

/** Whether a connector's answer can be stored and used. A connector gets it from outside. */
export function isCredential(value: unknown): value is Credential {
  if (typeof value !== "object" || value === null) return false;
  const { accessToken, refreshToken, expiresMs } = value as Record<string, unknown>;
  return (
    typeof accessToken === "string" &&
    accessToken !== "" &&
    (refreshToken === undefined || typeof refreshToken === "string") &&
    (expiresMs === undefined || Number.isFinite(expiresMs))
  );
}

/** The texts of a credential that no log, error or status may show. */
export function secretsOf(credential: Credential | undefined): readonly string[] {
  if (!credential) return [];
  const { accessToken, refreshToken, ...further } = credential;
  const tokens = [accessToken, refreshToken ?? ""].filter((token) => token !== "");
  return [...tokens, ...textsIn(further).filter((text) => text.length >= shortestSecret)];
}

/** Shorter further texts are names or units, and would match unrelated words. */
const shortestSecret = 8;

function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function parseCredential(json: string): Credential {
  const value: unknown = JSON.parse(json);
  if (!isCredential(value)) throw new Error("a stored credential has no access token");
  return value;
}
