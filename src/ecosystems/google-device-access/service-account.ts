import { createPrivateKey, type KeyObject, sign } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isJsonObject, parseUntrusted } from "../../runtime/json/untrusted-json.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import type { CallJson } from "../kit/json-call.ts";
import { describeRefusal } from "./refusal.ts";

export interface ServiceAccount {
  /** The key file, as Google's console creates it. */
  readonly file: string;
  readonly tokenUrl: string;
}

interface ServiceAccountKey {
  readonly email: string;
  readonly keyId: string | undefined;
  readonly key: KeyObject;
}

const scope = "https://www.googleapis.com/auth/pubsub";
/** Of an assertion, and of a token for which Google tells none. */
const lifetimeSeconds = 3_600;
/** A token is replaced this long before it expires. */
const marginMs = 60_000;

/**
 * Access tokens for the service account: a signed assertion is exchanged for a token (RFC 7523). The key file is read for
 * each token, so that it can be replaced while the service runs. A wrong file is a fault of the feed alone: commands of
 * an administrator work without it.
 */
export class ServiceAccountTokens {
  readonly #account: ServiceAccount;
  readonly #call: CallJson;
  readonly #runtime: Runtime;
  #issued: { readonly token: string; readonly untilMs: number } | undefined;

  constructor(account: ServiceAccount, call: CallJson, runtime: Runtime) {
    this.#account = account;
    this.#call = call;
    this.#runtime = runtime;
  }

  /** A token that is valid now, or why there is none. Never throws. */
  async token(signal: AbortSignal): Promise<{ readonly token: string } | { readonly fault: string }> {
    const { elapsedMs } = this.#runtime;
    if (this.#issued && elapsedMs() < this.#issued.untilMs) return { token: this.#issued.token };
    const key = await readKeyFile(this.#account.file);
    if ("fault" in key) return key;
    const form = { grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion: this.#assertion(key) };
    const requestedMs = elapsedMs();
    const answer = await this.#call({ method: "POST", url: this.#account.tokenUrl, form }, signal);
    if (!answer.isAnswered) return { fault: `no token for the service account: ${answer.detail}` };
    const { access_token: token, expires_in: seconds } = answer.document;
    if (answer.status !== 200 || typeof token !== "string") {
      return { fault: `no token for the service account: ${describeRefusal(answer.status, answer.document)}` };
    }
    const livesMs = (typeof seconds === "number" ? seconds : lifetimeSeconds) * 1_000;
    this.#issued = { token, untilMs: requestedMs + Math.max(livesMs - marginMs, livesMs / 2) };
    return { token };
  }

  /** Called when Google has refused the token: the next call gets another one. */
  forget(): void {
    this.#issued = undefined;
  }

  #assertion({ email, keyId, key }: ServiceAccountKey): string {
    const issuedAt = Math.floor(this.#runtime.nowMs() / 1_000);
    const header = { alg: "RS256", typ: "JWT", ...(keyId !== undefined && { kid: keyId }) };
    const claims = { iss: email, scope, aud: this.#account.tokenUrl, iat: issuedAt, exp: issuedAt + lifetimeSeconds };
    const signed = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
    return `${signed}.${sign("RSA-SHA256", Buffer.from(signed), key).toString("base64url")}`;
  }
}

async function readKeyFile(file: string): Promise<ServiceAccountKey | { readonly fault: string }> {
  try {
    const document = parseUntrusted(await readFile(file, "utf8"));
    const { client_email: email, private_key: pem, private_key_id: keyId } = isJsonObject(document) ? document : {};
    if (typeof email !== "string" || typeof pem !== "string") {
      return { fault: "the service account's key file has no client_email and private_key" };
    }
    return { email, keyId: typeof keyId === "string" ? keyId : undefined, key: createPrivateKey(pem) };
  } catch (error) {
    // The message is left out: it may quote the key.
    const { code = "unknown" } = error as NodeJS.ErrnoException;
    return { fault: `the service account's key file can't be read (${code})` };
  }
}
