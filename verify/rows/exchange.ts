import { summaryOf } from "../client/answer-summary.ts";
import { exchangeCode, tokensIn } from "../client/authorization.ts";
import { ensure } from "../outcome.ts";
import type { Row } from "../row.ts";

/** The service refuses a shorter lifetime, with which voice assistants would refresh all the time. */
const minSeconds = 360;

export const exchange: Row = {
  name: "exchange",
  group: "Linking a user",
  title: "A code becomes tokens",
  proves:
    "The code, with the PKCE verifier, is exchanged for an access token and a refresh token; the answer may not be cached.",
  isEssential: true,
  needs: [],
  after: ["state"],
  async run(context) {
    const { shared } = context;
    const answer = await exchangeCode(context, shared.returned!);
    ensure(answer.status === 200 && answer.json !== undefined, () => ({
      seen: `The token address answered ${summaryOf(answer)}, not 200 with JSON.`,
      side: answer.json?.error === "invalid_client" ? "client" : "service",
      next:
        answer.json?.error === "invalid_client"
          ? "Check the client's secret; breezeway client rotate-secret gives a new one."
          : "Look for the answer's request id in the service's log.",
    }));
    const { access_token, refresh_token, token_type, expires_in } = answer.json;
    const missing = Object.entries({ access_token, refresh_token, token_type, expires_in })
      .filter(([, value]) => value === undefined || value === "")
      .map(([name]) => name);
    ensure(missing.length === 0, () => ({
      seen: `The token answer lacks ${missing.join(" and ")}.`,
      side: "between",
      next: "Call the service directly; a proxy removes members. Without a refresh token the link ends in an hour.",
    }));
    ensure(String(token_type).toLowerCase() === "bearer" && expires_in >= minSeconds, () => ({
      seen: `token_type is ${token_type} and expires_in ${expires_in}, not Bearer and at least ${minSeconds}.`,
      side: "service",
      next: "Check BREEZEWAY_ACCESS_TOKEN_SECONDS.",
    }));
    ensure(/\bno-store\b/.test(answer.headers.get("cache-control") ?? ""), () => ({
      seen: "The token answer may be cached: it has no Cache-Control: no-store.",
      side: "between",
      next: "Pass the header on, and cache no answers of /oauth2.",
    }));
    shared.tokens = tokensIn(answer);
    return { seen: `Both tokens, valid for ${expires_in} seconds, with Cache-Control: no-store.` };
  },
};
