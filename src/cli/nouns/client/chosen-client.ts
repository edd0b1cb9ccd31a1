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

export async function chosenClient(clients: AdministrationParts["clients"], input: Input): Promise<Client> {
  const all = await clients.listClients();
  const known = all.map(({ id, name }) => ({ id, words: name }));
  const chosen = idByPrefix("client", text(input, "client"), known);
  return all.find(({ id }) => id === chosen)!;
}
