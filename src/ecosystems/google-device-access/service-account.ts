import { createPrivateKey, type KeyObject, sign } from "node:crypto";
import { readFile } from "node:fs/promises";
import { InvalidSetting } from "../../model/setting-checks.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { isJsonObject, parseJson } from "../kit/parse-json.ts";
import { callJson, describeRefusal } from "./json-call.ts";

export interface ServiceAccountKey {
  readonly email: string;
  readonly keyId: string | undefined;
  readonly key: KeyObject;
  readonly tokenUrl: string;
}

/** Reads the key file as Google's console creates it. `tokenUrl`: instead of the one in the file. */
export async function readServiceAccount(file: string, tokenUrl: string): Promise<ServiceAccountKey> {
  const problem = `the service account's key file ${file}`;
  const text = await readFile(file, "utf8").catch((error) => {
    throw new InvalidSetting(`names ${problem}, which can't be read (${error.code})`);
  });
  const document = parseJson(text);
  const { client_email: email, private_key: pem, private_key_id: keyId } = isJsonObject(document) ? document : {};
  if (typeof email !== "string" || typeof pem !== "string") {
    throw new InvalidSetting(`names ${problem}, which has no client_email and private_key`);
  }
  return { email, keyId: typeof keyId === "string" ? keyId : undefined, key: readKey(pem, problem), tokenUrl };
}

function readKey(pem: string, problem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    // The cause is left out: it may quote the key.
    throw new InvalidSetting(`names ${problem}, whose private_key can't be read`);
  }
}

const scope = "https://www.googleapis.com/auth/pubsub";
const lifetimeSeconds = 3_600;
/** A token is replaced this long before it expires. */
const marginMs = 60_000;

/** Access tokens for the service account: a signed assertion is exchanged for a token (RFC 7523). */
export class ServiceAccountTokens {
  readonly #account: ServiceAccountKey;
  readonly #runtime: Runtime;
  #issued: { readonly token: string; readonly untilMs: number } | undefined;

  constructor(account: ServiceAccountKey, runtime: Runtime) {
    this.#account = account;
    this.#runtime = runtime;
  }

  /** A token that is valid now, or why there is none. Never throws. */
  async token(signal: AbortSignal): Promise<{ readonly token: string } | { readonly fault: string }> {
    const { elapsedMs } = this.#runtime;
    if (this.#issued && elapsedMs() < this.#issued.untilMs) return { token: this.#issued.token };
    const form = { grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion: this.#assertion() };
    const askedMs = elapsedMs();
    const answer = await callJson({ method: "POST", url: this.#account.tokenUrl, form }, signal);
    if (!answer.isAnswered) return { fault: `no token for the service account: ${answer.detail}` };
    const { access_token: token, expires_in: seconds } = answer.document;
    if (answer.status !== 200 || typeof token !== "string") {
      return { fault: `no token for the service account: ${describeRefusal(answer.status, answer.document)}` };
    }
    const livesMs = (typeof seconds === "number" ? seconds : lifetimeSeconds) * 1_000;
    this.#issued = { token, untilMs: askedMs + Math.max(livesMs - marginMs, livesMs / 2) };
    return { token };
  }

  /** Google has refused the token. */
  forget(): void {
    this.#issued = undefined;
  }

  #assertion(): string {
    const { email, keyId, key, tokenUrl } = this.#account;
    const issuedAt = Math.floor(this.#runtime.nowMs() / 1_000);
    const header = { alg: "RS256", typ: "JWT", ...(keyId !== undefined && { kid: keyId }) };
    const claims = { iss: email, scope, aud: tokenUrl, iat: issuedAt, exp: issuedAt + lifetimeSeconds };
    const signed = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
    return `${signed}.${sign("RSA-SHA256", Buffer.from(signed), key).toString("base64url")}`;
  }
}
