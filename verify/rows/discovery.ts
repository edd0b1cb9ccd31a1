import { summaryOf } from "../client/answer-summary.ts";
import { ensure } from "../outcome.ts";
import type { Row } from "../row.ts";

const path = "/.well-known/oauth-authorization-server";

export const discovery: Row = {
  name: "discovery",
  group: "The service itself",
  title: "Server metadata is published",
  proves: "The metadata (RFC 8414) has the right addresses, response type code and PKCE with S256.",
  isEssential: false,
  needs: [],
  after: [],
  async run({ deployment }) {
    const answer = await deployment.call(path);
    const { json: metadata } = answer;
    ensure(answer.status === 200 && typeof metadata === "object" && metadata !== null, () => ({
      seen: `GET ${path} was ${summaryOf(answer)}, not JSON.`,
      side: "between",
      next: "Let the proxy in front of the service pass /.well-known/ on.",
    }));
    ensure(metadata.issuer === deployment.url, () => ({
      seen: `The issuer is ${metadata.issuer}, but verify called ${deployment.url}.`,
      side: "client",
      next: `Give --url ${metadata.issuer}, or set BREEZEWAY_BASE_URL to the address that clients use.`,
    }));
    const wrong = Object.entries({
      authorization_endpoint: "/oauth2/authorize",
      token_endpoint: "/oauth2/access_token",
      revocation_endpoint: "/oauth2/revoke_token",
    }).find(([name, endpointPath]) => metadata[name] !== `${deployment.url}${endpointPath}`);
    ensure(wrong === undefined, () => ({
      seen: `${wrong?.[0]} is ${metadata[wrong?.[0] ?? ""]}, not ${deployment.url}${wrong?.[1]}.`,
      side: "service",
      next: "Set BREEZEWAY_BASE_URL to the address that clients use.",
    }));
    const missing = [
      metadata.response_types_supported?.includes("code") ? "" : "response type code",
      metadata.code_challenge_methods_supported?.includes("S256") ? "" : "PKCE with S256",
    ].filter((text) => text !== "");
    ensure(missing.length === 0, () => ({
      seen: `The metadata does not offer ${missing.join(" and ")}.`,
      side: "service",
      next: "Compare the running version with the one you meant to deploy.",
    }));
    return { seen: "Issuer and addresses match; codes and PKCE with S256 are offered." };
  },
};
