import type { Command } from "commander";
import type { Client } from "../../../oauth/clients.ts";
import type { AdministrationParts } from "../../administration/admin-command.ts";
import { idByPrefix } from "../../id-prefix.ts";
import { type Input, text } from "../../input.ts";

export const clientArgument = {
  name: "client",
  meaning: "the client's id or the beginning of it; see: breezeway client list",
};

export const returnUrlMeaning = "an address to which link pages send users back: https, exactly as the client sends it";
export const vouchesMeaning = "it has signed its users in itself: link pages do not ask them to; see docs/linking.md";

/** `--issuer` and `--no-issuer`. */
export const withIssuerOption = (command: Command): Command =>
  command
    .option(
      "--issuer",
      "name this service by iss when users are sent back (RFC 9207), as every client gets it by default",
    )
    .option(
      "--no-issuer",
      "send no iss: for a client that refuses parameters it does not know; see docs/oauth-clients.md",
    );

/** The value of `--issuer` or `--no-issuer`; undefined when neither was given. */
export function readIssuer({ issuer }: Input): boolean | undefined {
  return issuer === undefined ? undefined : issuer !== false;
}

export async function chosenClient(clients: AdministrationParts["clients"], input: Input): Promise<Client> {
  const all = await clients.listClients();
  const known = all.map(({ id, name }) => ({ id, words: name }));
  const chosen = idByPrefix("client", text(input, "client"), known);
  return all.find(({ id }) => id === chosen)!;
}
