import { importPKCS8, SignJWT } from "jose";
import type { Runtime } from "../../runtime/runtime.ts";
import type { Outcome } from "../assistant.ts";
import { type CallMaker, type MakerAnswer, retryAfterMs } from "../maker-call.ts";
import type { GoogleSettings, ServiceAccount } from "./settings.ts";

export type HomeGraphMethod = "reportStateAndNotification" | "requestSync" | "query";

const scope = "https://www.googleapis.com/auth/homegraph";
const lifetimeSeconds = 3_600;
/** A token is replaced this long before it expires. */
const marginMs = 60_000;
/** More outlets than one service has; a token that is missing here is asked for again. */
const keptTokens = 1_000;

/** A token, or why there is none and what an operator can do. */
type Issued = { readonly token: string } | { readonly fault: string; readonly remedy: string };

/** What an operator does when Google gives no answer, or one that is not about the outlet's settings. */
export const tryAgain = "Check that this machine reaches Google, and try again.";
const newKey = "Download a new key of the service account and add the outlet again.";

/** Calls Home Graph with the service account of an outlet. Tokens are kept in memory, one for each service account. */
export class HomeGraph {
  readonly #call: CallMaker;
  readonly #runtime: Runtime;
  readonly #tokens = new Map<string, { readonly token: string; readonly untilMs: number }>();

  constructor(call: CallMaker, runtime: Runtime) {
    this.#call = call;
    this.#runtime = runtime;
  }

  /** One call. A refused token is renewed once. */
  async post(settings: GoogleSettings, method: HomeGraphMethod, body: object, signal: AbortSignal): Promise<Outcome> {
    const first = await this.#post(settings, method, body, signal);
    if (first.status !== 401) return first;
    this.#tokens.delete(keyOf(settings.serviceAccount));
    return this.#post(settings, method, body, signal);
  }

  /** Asks Google for a token, also when one is kept: the key may have been deleted since. */
  async newToken({ serviceAccount }: GoogleSettings, signal: AbortSignal): Promise<Issued> {
    const { elapsedMs } = this.#runtime;
    let assertion: string;
    try {
      assertion = await this.#assertion(serviceAccount);
    } catch {
      // The message may quote the key.
      return { fault: "the key of the service account can't be used", remedy: newKey };
    }
    const form = { grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion };
    const requestedMs = elapsedMs();
    const answer = await this.#call({ method: "POST", url: serviceAccount.tokenUrl, form }, signal);
    if (!answer.isAnswered) return { fault: `no token for the service account: ${answer.detail}`, remedy: tryAgain };
    const { access_token: token, expires_in: seconds } = answer.document;
    if (answer.status !== 200 || typeof token !== "string") {
      const isRefused = answer.status === 400 || answer.status === 401;
      return { fault: `no token for the service account: ${describe(answer)}`, remedy: isRefused ? newKey : tryAgain };
    }
    const livesMs = (typeof seconds === "number" ? seconds : lifetimeSeconds) * 1_000;
    this.#tokens.set(keyOf(serviceAccount), {
      token,
      untilMs: requestedMs + Math.max(livesMs - marginMs, livesMs / 2),
    });
    if (this.#tokens.size > keptTokens) this.#tokens.delete(this.#tokens.keys().next().value!);
    return { token };
  }

  #token(settings: GoogleSettings, signal: AbortSignal): Issued | Promise<Issued> {
    const kept = this.#tokens.get(keyOf(settings.serviceAccount));
    return kept && this.#runtime.elapsedMs() < kept.untilMs ? { token: kept.token } : this.newToken(settings, signal);
  }

  async #post(settings: GoogleSettings, method: HomeGraphMethod, body: object, signal: AbortSignal): Promise<Outcome> {
    const issued = await this.#token(settings, signal);
    if ("fault" in issued) return { result: "retry", status: null, text: issued.fault };
    const url = `${settings.homeGraphUrl}/v1/devices:${method}`;
    const answer = await this.#call({ method: "POST", url, token: issued.token, body }, signal);
    return outcomeOf(answer);
  }

  async #assertion({ email, keyId, privateKey, tokenUrl }: ServiceAccount): Promise<string> {
    const issuedAt = Math.floor(this.#runtime.nowMs() / 1_000);
    return new SignJWT({ scope })
      .setProtectedHeader({ alg: "RS256", typ: "JWT", ...(keyId !== undefined && { kid: keyId }) })
      .setIssuer(email)
      .setAudience(tokenUrl)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + lifetimeSeconds)
      .sign(await importPKCS8(privateKey, "RS256"));
  }
}

/** Only an outlet that has the private key may use the token that was given for it. */
function keyOf({ email, privateKey, tokenUrl }: ServiceAccount): string {
  return JSON.stringify([email, privateKey, tokenUrl]);
}

/**
 * What an answer means. 404: the user is not linked. 403: the service account may not call Home Graph, which an operator
 * can mend, so that the message is kept.
 */
function outcomeOf(answer: MakerAnswer): Outcome {
  if (!answer.isAnswered) return { result: "retry", status: null, text: answer.detail };
  const { status } = answer;
  if (status >= 200 && status < 300) return { result: "taken", status };
  const text = describe(answer);
  if (status === 404) return { result: "forget", status, text };
  if (status === 401 || status === 403 || status === 429 || status >= 500) {
    return { result: "retry", status, text, afterMs: retryAfterMs(answer) };
  }
  return { result: "refused", status, text };
}

/** The status and Google's name of the error, without its message: it may quote what was sent. */
function describe({ status, document }: Extract<MakerAnswer, { readonly isAnswered: true }>): string {
  const { error } = document;
  const name = typeof error === "object" && error !== null ? (error as { status?: unknown }).status : error;
  return `Google answered ${status}${typeof name === "string" && /^[A-Za-z_]{1,40}$/.test(name) ? ` ${name}` : ""}`;
}
