import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ConfigurationError } from "../../config/config.ts";
import type { CodeFlow } from "../../ecosystems/code-flow.ts";
import type { ConsentOutcome } from "../../ecosystems/consent.ts";
import { codeFlowConsent } from "../../ecosystems/kit/code-flow-consent.ts";
import type { EcosystemConfiguration, Protocol } from "../../ecosystems/protocol.ts";
import { protocolOf } from "../../ecosystems/registry.ts";
import { BadParameter, BreezewayError, EcosystemRefused, EcosystemUnreachable, NotFound } from "../../model/errors.ts";
import type { Call } from "../command.ts";
import { ecosystemsOf } from "../ecosystems.ts";

/** How long the command waits for the owner's consent. */
const consentTimeoutMs = 10 * 60_000;

/**
 * Gets the consent of an account's owner in a browser, as a client does: the ecosystem redirects the browser to an
 * address on this machine with a code, which is exchanged for the token. Only a redirect with our state counts.
 */
export async function consentOf(call: Call, ecosystemName: string): Promise<string> {
  const { print } = call;
  const ecosystems = ecosystemsOf(call.config(), call.sources);
  const ecosystem = ecosystems.find(({ name }) => name === ecosystemName.toLowerCase());
  if (!ecosystem) {
    const known = ecosystems.map(({ name }) => name).join(", ");
    throw new NotFound(`There is no ecosystem ${ecosystemName}. Known: ${known}.`);
  }
  const consent = codeFlowConsent(codeFlowOf(ecosystem, protocolOf(ecosystem)));
  const codeVerifier = randomBytes(32).toString("base64url");
  const state = randomBytes(16).toString("base64url");
  const returned = await listenForReturn(state);
  try {
    const { signal } = new AbortController();
    const redirectUri = returned.address;
    const codeChallenge = createHash("sha256").update(codeVerifier).digest("base64url");
    const start = await consent.begin({ redirectUri, state, codeChallenge }, signal);
    if (!("url" in start)) throw new BadParameter("consent", start.detail);
    const minutes = consentTimeoutMs / 60_000;
    print.words(
      `Open this address in a browser, and give your consent there. This command waits ${minutes} minutes for it; Ctrl-C ends.\n\n  ${start.url}\n`,
    );
    const code = await print.during(`waiting up to ${minutes} minutes for the account's owner`, returned.code);
    const exchanging = consent.exchange({ code, redirectUri, codeVerifier }, signal);
    return tokenOf(await print.during("getting the token", exchanging));
  } finally {
    returned.stop();
  }
}

/** The code flow of an ecosystem. Throws when its protocol has none, or when it is not configured. */
export function codeFlowOf(
  { name, consent }: EcosystemConfiguration,
  { consent: ways }: Pick<Protocol, "consent">,
): CodeFlow {
  if (ways === "token") {
    throw new BadParameter("consent", `${name} has no consent in a browser. Pipe a token of the account in.`);
  }
  if (consent) return consent;
  throw new ConfigurationError([
    `BREEZEWAY_ECOSYSTEMS must give authUrl, tokenUrl, clientId and clientSecret of ${name}, to ask its users. Or pipe a token in`,
  ]);
}

async function listenForReturn(state: string) {
  const settled = Promise.withResolvers<string>();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://127.0.0.1");
    const isOurs = pathname === "/callback" && searchParams.get("state") === state;
    const code = searchParams.get("code");
    response.writeHead(isOurs ? 200 : 404, { "content-type": "text/plain; charset=utf-8", connection: "close" });
    if (!isOurs) return response.end("There is nothing here.\n");
    response.end(code ? "Thank you. Go back to the terminal.\n" : "You declined. Go back to the terminal.\n");
    if (code) settled.resolve(code);
    else settled.reject(new Declined("The account's owner declined. Nothing was connected."));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const late = new Declined(
    "The browser did not come back within ten minutes. Try again with: breezeway link --consent",
  );
  const timer = setTimeout(() => settled.reject(late), consentTimeoutMs);
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    code: settled.promise,
    stop() {
      clearTimeout(timer);
      server.close();
      server.closeAllConnections();
    },
  };
}

/** The outcome of an exchange, for the command line. */
function tokenOf(outcome: ConsentOutcome): string {
  if (outcome.state === "granted") return outcome.credential.accessToken;
  if (outcome.state === "refused") throw new EcosystemRefused(`The ecosystem gave no token: ${outcome.reason}.`);
  throw new EcosystemUnreachable(`No token came: ${outcome.detail}. See tokenUrl in BREEZEWAY_ECOSYSTEMS.`);
}

class Declined extends BreezewayError {
  readonly code = "access_denied";
  readonly exitCode = 4;
}
