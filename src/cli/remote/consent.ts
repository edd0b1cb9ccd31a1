import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ConfigurationError } from "../../config/config.ts";
import type { CodeFlow } from "../../ecosystems/code-flow.ts";
import type { EcosystemConfiguration, Protocol } from "../../ecosystems/protocol.ts";
import { protocolOf } from "../../ecosystems/registry.ts";
import { BadParameter, BreezewayError, EcosystemRefused, EcosystemUnreachable, NotFound } from "../../model/errors.ts";
import type { Answer } from "../administration/admin-command.ts";
import type { Call } from "../command.ts";
import { ecosystemsOf } from "../ecosystems.ts";
import { Redirected } from "./service-errors.ts";

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
  const consent = codeFlowOf(ecosystem, protocolOf(ecosystem));
  const state = randomBytes(16).toString("base64url");
  const returned = await listenForReturn(state);
  try {
    const address = new URL(consent.authUrl);
    const question = { response_type: "code", client_id: consent.clientId, state, redirect_uri: returned.address };
    for (const [name, value] of Object.entries(question)) address.searchParams.set(name, value);
    const minutes = consentTimeoutMs / 60_000;
    print.words(
      `Open this address in a browser, and give your consent there. This command waits ${minutes} minutes for it; Ctrl-C ends.\n\n  ${address}\n`,
    );
    const code = await print.during(`waiting up to ${minutes} minutes for the account's owner`, returned.code);
    return await print.during("getting the token", exchange(consent, code, returned.address));
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
    else settled.reject(new Declined("The account's owner declined. Nothing was linked."));
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

async function exchange(consent: CodeFlow, code: string, redirectUri: string): Promise<string> {
  const body = new URLSearchParams({
    grant_type: "authorization_code",
    code,
    client_id: consent.clientId,
    client_secret: consent.clientSecret,
    redirect_uri: redirectUri,
  });
  let answer: Response;
  try {
    answer = await fetch(consent.tokenUrl, { method: "POST", body, redirect: "manual" });
  } catch (error) {
    throw new EcosystemUnreachable(`Nothing answers at ${consent.tokenUrl}.`, { cause: error });
  }
  if (answer.status >= 300 && answer.status < 400) {
    void answer.body?.cancel();
    throw new Redirected(
      `${consent.tokenUrl} answered with a redirect. It was not followed, because the request carries a secret. Correct tokenUrl in BREEZEWAY_ECOSYSTEMS.`,
    );
  }
  const tokens: Answer = await answer.json().catch(() => ({}));
  if (typeof tokens.access_token === "string") return tokens.access_token;
  throw new EcosystemRefused(
    `The ecosystem gave no token: ${tokens.error_description ?? `it answered ${answer.status}`}.`,
  );
}

class Declined extends BreezewayError {
  readonly code = "access_denied";
  readonly exitCode = 4;
}
