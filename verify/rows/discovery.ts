import { summaryOf } from "../client/answer-summary.ts";
import { claim } from "../outcome.ts";
import type { Row } from "../row.ts";

const path = "/.well-known/oauth-authorization-server";

export const discovery: Row = {
  name: "discovery",
  group: "Reach",
  title: "It says what it can do",
  proves: "Clients that look before they ask (RFC 8414) find the right addresses, codes and PKCE with S256.",
  isEssential: false,
  needs: [],
  after: [],
  async run({ deployment }) {
    const answer = await deployment.call(path);
    const { json: found } = answer;
    claim(answer.status === 200 && typeof found === "object" && found !== null, () => ({
      seen: `GET ${path} was ${summaryOf(answer)}, not JSON.`,
      side: "between",
      next: "Let what stands before the service pass /.well-known/ on.",
    }));
    claim(found.issuer === deployment.url, () => ({
      seen: `The issuer is ${found.issuer}, while verify asked at ${deployment.url}.`,
      side: "client",
      next: `Give --url ${found.issuer}, or set BREEZEWAY_BASE_URL to the address that clients use.`,
    }));
    const wrong = Object.entries({
      authorization_endpoint: "/oauth2/authorize",
      token_endpoint: "/oauth2/access_token",
      revocation_endpoint: "/oauth2/revoke_token",
    }).find(([name, where]) => found[name] !== `${deployment.url}${where}`);
    claim(wrong === undefined, () => ({
      seen: `${wrong?.[0]} is ${found[wrong?.[0] ?? ""]}, not ${deployment.url}${wrong?.[1]}.`,
      side: "service",
      next: "Set BREEZEWAY_BASE_URL to the address that clients use.",
    }));
    const lacks = [
      found.response_types_supported?.includes("code") ? "" : "response type code",
      found.code_challenge_methods_supported?.includes("S256") ? "" : "PKCE with S256",
    ].filter((lack) => lack !== "");
    claim(lacks.length === 0, () => ({
      seen: `It doesn't offer ${lacks.join(" and ")}.`,
      side: "service",
      next: "Compare the running version with the one you meant to deploy.",
    }));
    return { seen: "Issuer and addresses fit; codes and PKCE with S256 are offered." };
  },
};
