import type { IncomingMessage } from "node:http";
import type { StreamEnd } from "../connector.ts";
import { get } from "./get.ts";
import { judgeRedirect, type RedirectRules } from "./redirects.ts";

/** What a call came to before its body: an answer with status 200, or why there is none. */
export type Opening =
  | { readonly isOpen: true; readonly response: IncomingMessage }
  | { readonly isOpen: false; readonly end: StreamEnd };

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
    if (!isSendable(token)) return noAnswer("unauthorized", "the token has characters that no token has");
    const remembered = this.#hostOf.get(token);
    if (remembered === undefined) return this.#follow(this.#rules.apiUrl, token, accept, signal);
    const opening = await this.#follow(at(remembered, this.#rules.apiUrl), token, accept, signal);
    if (opening.isOpen || opening.end.reason !== "unauthorized") return opening;
    // A host that no longer serves this account would say 401 too, and that would cost the user the link.
    return this.#follow(this.#rules.apiUrl, token, accept, signal);
  }

  /** The stream that the token's host served is lost: the next call starts from the ecosystem's own address. */
  forgetHost(token: string): void {
    this.#hostOf.delete(token);
  }

  async #follow(start: URL, token: string, accept: string, signal: AbortSignal): Promise<Opening> {
    let url = start;
    for (let hops = 0; hops <= mostHops; hops += 1) {
      const answer = await answerFrom(url, token, accept, signal);
      if (answer.isOpen && answer.response.statusCode === 200) {
        this.#rememberHost(token, url);
        return answer;
      }
      this.forgetHost(token);
      if (!answer.isOpen) return answer;
      const { statusCode, headers } = answer.response;
      answer.response.destroy();
      if (statusCode !== 307) return refusal(statusCode);
      const redirect = judgeRedirect(headers.location, url, this.#rules);
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

function at(origin: string, url: URL): URL {
  return new URL(`${url.pathname}${url.search}`, origin);
}

function noAnswer(reason: StreamEnd["reason"], detail: string): Opening {
  return { isOpen: false, end: { reason, detail } };
}

async function answerFrom(url: URL, token: string, accept: string, signal: AbortSignal): Promise<Opening> {
  try {
    const headers = { Accept: accept, Authorization: `Bearer ${token}` };
    return { isOpen: true, response: await get(url, headers, signal) };
  } catch (error) {
    return noAnswer("unreachable", `no answer${codeOf(error)}`);
  }
}

/** Only 401 speaks of the token; every other status is a no for now. */
function refusal(status: number | undefined): Opening {
  return noAnswer(status === 401 ? "unauthorized" : "refused", `the ecosystem answered ${status}`);
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
