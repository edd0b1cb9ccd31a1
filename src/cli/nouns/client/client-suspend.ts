import type { AdminCommand } from "../../administration/admin-command.ts";
import { chosenClient, clientArgument } from "./chosen-client.ts";

/** Suspends a client, or brings it back. */
export const clientSuspensions: readonly AdminCommand[] = [
  suspension(
    "suspend",
    "refuse a client's secret and tokens on every node, within a second; nothing is deleted",
    "is suspended: its secret, tokens, streams, webhooks and assistants are refused.",
  ),
  suspension(
    "resume",
    "end the suspension of a client; all its access works again",
    "is not suspended. All its access works again.",
  ),
];

function suspension(verb: "suspend" | "resume", meaning: string, outcome: string): AdminCommand {
  return {
    name: `client ${verb}`,
    meaning,
    examples: [`client ${verb} bwc_…`],
    arguments: [clientArgument],
    options: (command) => command.option("--client <id>", "the same, as an option"),
    async act({ clients }, input) {
      const { id } = await chosenClient(clients, input);
      const client = await (verb === "suspend" ? clients.suspendClient(id) : clients.resumeClient(id));
      const { tenantId, id: clientId, name, suspendedMs } = client;
      const answer = { client_id: clientId, name, suspended: suspendedMs !== null };
      return { answer, changed: { tenantId, clientId, detail: { name } } };
    },
    toText: ({ name }) => `Client ${name} ${outcome}`,
  };
}
