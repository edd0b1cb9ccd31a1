import type { IncomingMessage } from "node:http";
import { type Outgoing, send } from "../../runtime/network/request.ts";
import type { StreamEnd } from "../connector.ts";
import { judgeRedirect, type RedirectRules } from "./redirects.ts";

/** The result of a call before its body is read: an answer with status 200, or why there is none. */
export type Opening =
  | { readonly isOpen: true; readonly response: IncomingMessage }
  | { readonly isOpen: false; readonly end: StreamEnd };

/** A call to the ecosystem for one account. The token is also sent to the host of a redirect. */
export interface Call extends Pick<Outgoing, "method" | "body"> {
  /** Below the ecosystem's address; `/` is the whole account. */
  readonly path: string;
  readonly accept: string;
}

/** An answer of any status except a redirect, or why there is none. */
type Answered =
  | { readonly isAnswered: true; readonly response: IncomingMessage }
  | { readonly isAnswered: false; readonly end: StreamEnd };

/** The media type of a stream, which stays open until one side ends it. */
export const eventStream = "text/event-stream";

const maximalRedirects = 3;

/** Bound on memory. Hosts are remembered for tokens in use, and forgotten when the stream is lost. */
const maximalHosts = 50_000;

/**
 * Makes calls for an account. The ecosystem may redirect the first call to another host (307). That host is remembered
 * for the token until an answer other than 200 or a lost stream. Redirects are followed by hand, because ordinary
 * clients drop the token on the way to another host.
 */
export class NestApi {
  readonly #rules: RedirectRules;
  readonly #hostOf = new Map<string, string>();

  constructor(rules: RedirectRules) {
    this.#rules = rules;
  }

  /** Requests the whole account, once or as a stream, as the media type says. Never throws. */
  async open(token: string, accept: string, signal: AbortSignal): Promise<Opening> {
    const call: Call = { method: "GET", path: "/", accept };
    const hadHost = this.#hostOf.has(token);
    const opening = openingOf(await this.call(token, call, signal));
    // A host that no longer serves this account may answer 401 too. So ask the ecosystem's own address before the link
    // is lost.
    if (opening.isOpen || opening.end.reason !== "unauthorized" || !hadHost) return opening;
    return openingOf(await this.call(token, call, signal));
  }

  /**
   * Makes a call that changes something, at most once: a call that was answered with 401 was not carried out. As in
   * `open`, the answer of a remembered host alone does not tell that the token is invalid.
   */
  async write(token: string, call: Call, signal: AbortSignal): Promise<Answered> {
    const hadHost = this.#hostOf.has(token);
    const answered = await this.call(token, call, signal);
    if (!answered.isAnswered || answered.response.statusCode !== 401 || !hadHost) return answered;
    answered.response.destroy();
    return this.call(token, call, signal);
  }

  /** Makes one call and follows redirects. Never throws, and never repeats a call that was answered. */
  call(token: string, call: Call, signal: AbortSignal): Promise<Answered> {
    if (!isSendable(token))
      return Promise.resolve(noAnswer("unauthorized", "the token has characters that no token has"));
    const { apiUrl } = this.#rules;
    const path = `${apiUrl.pathname.replace(/\/$/, "")}${call.path}`;
    return this.#follow(new URL(path, this.#hostOf.get(token) ?? apiUrl.origin), token, call, signal);
  }

  /** Called when a stream is lost: the next call starts at the ecosystem's own address. */
  forgetHost(token: string): void {
    this.#hostOf.delete(token);
  }

  async #follow(start: URL, token: string, call: Call, signal: AbortSignal): Promise<Answered> {
    let url = start;
    for (let hops = 0; hops <= maximalRedirects; hops += 1) {
      const answer = await answerFrom(url, token, call, signal);
      if (answer.isAnswered && answer.response.statusCode === 200) {
        this.#rememberHost(token, url);
        return answer;
      }
      this.forgetHost(token);
      if (!answer.isAnswered || answer.response.statusCode !== 307) return answer;
      const { location } = answer.response.headers;
      answer.response.destroy();
      const redirect = judgeRedirect(location, url, this.#rules);
      if (!redirect.isAllowed) return noAnswer("refused", withoutToken(redirect.detail, token));
      url = redirect.url;
    }
    return noAnswer("refused", `redirected more than ${maximalRedirects} times`);
  }

  #rememberHost(token: string, { origin }: URL): void {
    if (origin === this.#rules.apiUrl.origin) return;
    this.#hostOf.set(token, origin);
    const [oldest] = this.#hostOf.keys();
    if (oldest !== undefined && this.#hostOf.size > maximalHosts) this.forgetHost(oldest);
  }
}

function isSendable(token: string): boolean {
  return /^[\x21-\x7e]+$/.test(token);
}

function noAnswer(reason: StreamEnd["reason"], detail: string): Answered {
  return { isAnswered: false, end: { reason, detail } };
}

async function answerFrom(url: URL, token: string, call: Call, signal: AbortSignal): Promise<Answered> {
  try {
    const { method, body, accept } = call;
    const content =
      body === undefined ? {} : { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) };
    const headers = { Accept: accept, Authorization: `Bearer ${token}`, ...content };
    const outgoing = body === undefined ? { method, headers } : { method, headers, body };
    return { isAnswered: true, response: await send(url, outgoing, signal) };
  } catch (error) {
    return noAnswer("unreachable", `no answer${codeOf(error)}`);
  }
}

/** Only 200 is a success; only 401 means an invalid token; every other status is a temporary refusal. */
function openingOf(answered: Answered): Opening {
  if (!answered.isAnswered) return { isOpen: false, end: answered.end };
  const { response } = answered;
  const { statusCode } = response;
  if (statusCode === 200) return { isOpen: true, response };
  response.destroy();
  const reason = statusCode === 401 ? "unauthorized" : "refused";
  return { isOpen: false, end: { reason, detail: `the ecosystem answered ${statusCode}` } };
}

/** Only the error code: the message may quote an address, and a parse error carries the received bytes. */
function codeOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return typeof code === "string" ? ` (${code})` : "";
}

/**
 * Redacts the token from the detail that operators see: the other side chose the host name, which could contain the
 * token.
 */
function withoutToken(detail: string, token: string): string {
  return detail.toLowerCase().includes(token.toLowerCase()) ? "redirected to a host that is not allowed" : detail;
}
