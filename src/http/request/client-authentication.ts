import { BadParameter, InvalidClient } from "../../model/errors.ts";
import type { Client, ClientCredentials } from "../../oauth/clients.ts";
import type { Callers } from "./caller.ts";
import type { Incoming } from "./incoming.ts";
import { bodyParameters } from "./oauth-parameters.ts";

/** The caller of a route whose rule is `client` (RFC 6749 2.3.1): id and secret come by HTTP Basic or in the body. */
export function callingClient(incoming: Incoming, callers: Callers): Promise<Client> {
  return callers.byClientSecret(credentialsOf(incoming));
}

function credentialsOf(incoming: Incoming): ClientCredentials {
  for (const [name] of incoming.query) {
    // Addresses end up in logs and histories: a secret in one is no longer secret.
    if (name === "client_secret" || name === "client_id") {
      throw new BadParameter(name, `The parameter ${name} must not be sent in the address.`);
    }
  }
  const parameters = bodyParameters(incoming);
  const id = parameters.optional("client_id");
  const secret = parameters.optional("client_secret");
  const basic = incoming.basic === undefined ? undefined : readBasic(incoming.basic);
  if (!basic) {
    if (id === undefined) throw missing("client_id");
    if (secret === undefined) throw missing("client_secret");
    return { clientId: id, secret, source: incoming.source, disconnected: incoming.disconnected };
  }
  if (secret !== undefined) {
    throw new BadParameter("client_secret", "Send the client's secret in the Authorization header or in the body.");
  }
  if (id !== undefined && id !== basic.clientId) {
    throw new BadParameter("client_id", "The parameter client_id differs from the Authorization header.");
  }
  return { ...basic, source: incoming.source, disconnected: incoming.disconnected };
}

function missing(name: string): InvalidClient {
  return new InvalidClient(
    `The parameter ${name} is missing. Send it in the body, or the client's id and secret by HTTP Basic.`,
  );
}

/** Parses HTTP Basic credentials. Both halves are form-encoded before they are joined (RFC 6749 2.3.1). */
function readBasic(sent: string): Pick<ClientCredentials, "clientId" | "secret"> {
  // Node ignores characters that aren't base64.
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(sent)) throw new InvalidClient();
  const text = Buffer.from(sent, "base64").toString("utf8");
  const [, id, secret] = /^([^:]*):(.*)$/s.exec(text) ?? [];
  if (!id || !secret) throw new InvalidClient();
  return { clientId: formDecoded(id), secret: formDecoded(secret) };
}

function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw new InvalidClient();
  }
}
