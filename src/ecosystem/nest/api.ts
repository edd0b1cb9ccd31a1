import type { IncomingMessage } from "node:http";
import type { StreamEnd } from "../connector.ts";
import { judgeRedirect, type RedirectRules } from "./redirects.ts";
import { type Outgoing, send } from "./request.ts";

/** What a call came to before its body: an answer with status 200, or why there is none. */
export type Opening =
  | { readonly isOpen: true; readonly response: IncomingMessage }
  | { readonly isOpen: false; readonly end: StreamEnd };

/** What is asked of the ecosystem for one account; the token goes with it wherever it is sent on to. */
export interface Call extends Pick<Outgoing, "method" | "body"> {
  /** Below the ecosystem's address; `/` is the whole account. */
  readonly path: string;
  readonly accept: string;
}

/** An answer of any status but a redirect, or why there is none. */
type Answered =
  | { readonly isAnswered: true; readonly response: IncomingMessage }
  | { readonly isAnswered: false; readonly end: StreamEnd };

/** What is asked for as this goes on until somebody ends it. */
export const eventStream = "text/event-stream";

const mostHops = 3;

/** Only a bound against endless growth: hosts are remembered for tokens in use, and forgotten with each lost stream. */
const mostRemembered = 50_000;

/**
 * The ecosystem's address as one account meets it. The first call may be sent on to another host (307); that host is
 * remembered for the token until any other answer than 200 or a lost stream. Ordinary clients drop the token on the way
 * to another host, so redirects are followed by hand.
 */
export class NestApi {
  readonly #rules: RedirectRules;
  readonly #hostOf = new Map<string, string>();

  constructor(rules: RedirectRules) {
    this.#rules = rules;
  }

  /** Asks for the whole account, as the media type says: once, or as a stream. Never throws. */
  async open(token: string, accept: string, signal: AbortSignal): Promise<Opening> {
    const call: Call = { method: "GET", path: "/", accept };
    const hadHost = this.#hostOf.has(token);
    const opening = openingOf(await this.call(token, call, signal));
    // A host that no longer serves this account would say 401 too, and that would cost the user the link.
    if (opening.isOpen || opening.end.reason !== "unauthorized" || !hadHost) return opening;
    return openingOf(await this.call(token, call, signal));
  }

  /** Makes one call, wherever the ecosystem sends it on to. Never throws, and never repeats what was answered. */
  call(token: string, call: Call, signal: AbortSignal): Promise<Answered> {
    if (!isSendable(token))
      return Promise.resolve(noAnswer("unauthorized", "the token has characters that no token has"));
    const { apiUrl } = this.#rules;
    const path = `${apiUrl.pathname.replace(/\/$/, "")}${call.path}`;
    return this.#follow(new URL(path, this.#hostOf.get(token) ?? apiUrl.origin), token, call, signal);
  }

  /** The stream that the token's host served is lost: the next call starts from the ecosystem's own address. */
  forgetHost(token: string): void {
    this.#hostOf.delete(token);
  }

  async #follow(start: URL, token: string, call: Call, signal: AbortSignal): Promise<Answered> {
    let url = start;
    for (let hops = 0; hops <= mostHops; hops += 1) {
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
    return noAnswer("refused", `redirected more than ${mostHops} times`);
  }

  #rememberHost(token: string, { origin }: URL): void {
    if (origin === this.#rules.apiUrl.origin) return;
    this.#hostOf.set(token, origin);
    const [oldest] = this.#hostOf.keys();
    if (oldest !== undefined && this.#hostOf.size > mostRemembered) this.forgetHost(oldest);
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

/** Only 200 opens; only 401 speaks of the token; every other status is a no for now. */
function openingOf(answered: Answered): Opening {
  if (!answered.isAnswered) return { isOpen: false, end: answered.end };
  const { response } = answered;
  const { statusCode } = response;
  if (statusCode === 200) return { isOpen: true, response };
  response.destroy();
  const reason = statusCode === 401 ? "unauthorized" : "refused";
  return { isOpen: false, end: { reason, detail: `the ecosystem answered ${statusCode}` } };
}

/** Only the code: the message may quote an address, and a parse error even carries what was received. */
function codeOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return typeof code === "string" ? ` (${code})` : "";
}

/** A redirect's host is for the operator to see, but the other side chose it: it could spell the token. */
function withoutToken(detail: string, token: string): string {
  return detail.toLowerCase().includes(token.toLowerCase()) ? "redirected to a host that is not allowed" : detail;
}
