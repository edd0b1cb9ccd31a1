import { summaryOf } from "../client/answer-summary.ts";
import { exchange as askFor, tokensIn } from "../client/authorization.ts";
import { claim } from "../outcome.ts";
import type { Row } from "../row.ts";

/** Less would make assistants refresh all the time; the service refuses such a setting. */
const shortestSeconds = 360;

export const exchange: Row = {
  name: "exchange",
  group: "Linking a user",
  title: "A code becomes tokens",
  proves:
    "The code, with the PKCE verifier, is exchanged for an access token and a refresh token that nobody may cache.",
  isEssential: true,
  needs: [],
  after: ["state"],
  async run(context) {
    const { found } = context;
    const answer = await askFor(context, found.returned!);
    claim(answer.status === 200 && answer.json !== undefined, () => ({
      seen: `The token address answered ${summaryOf(answer)}, not 200 with JSON.`,
      side: answer.json?.error === "invalid_client" ? "client" : "service",
      next:
        answer.json?.error === "invalid_client"
          ? "Check the client's secret; breezeway client rotate-secret gives a new one."
          : "Look for the answer's request id in the service's log.",
    }));
    const { access_token, refresh_token, token_type, expires_in } = answer.json;
    const lacks = Object.entries({ access_token, refresh_token, token_type, expires_in })
      .filter(([, value]) => value === undefined || value === "")
      .map(([name]) => name);
    claim(lacks.length === 0, () => ({
      seen: `The token answer lacks ${lacks.join(" and ")}.`,
      side: "between",
      next: "Ask the service itself; something between takes members out. Without a refresh token the link ends in an hour.",
    }));
    claim(String(token_type).toLowerCase() === "bearer" && expires_in >= shortestSeconds, () => ({
      seen: `token_type is ${token_type} and expires_in ${expires_in}, not Bearer and at least ${shortestSeconds}.`,
      side: "service",
      next: "Check BREEZEWAY_ACCESS_TOKEN_SECONDS.",
    }));
    claim(/\bno-store\b/.test(answer.headers.get("cache-control") ?? ""), () => ({
      seen: "The token answer may be cached: it has no Cache-Control: no-store.",
      side: "between",
      next: "Let the header through, and let nothing cache /oauth2.",
    }));
    found.tokens = tokensIn(answer);
    return { seen: `Both tokens, for ${expires_in} seconds, not to be cached.` };
  },
};
