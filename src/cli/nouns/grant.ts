import { readText } from "../../identity/names.ts";
import { BadParameter, NotFound } from "../../model/errors.ts";
import type { UserId } from "../../model/ids.ts";
import type { GrantQuestion, GrantRecord } from "../../oauth/grant-administration.ts";
import type { AdminCommand, AdministrationParts, Answer } from "../administration/admin-command.ts";
import { wantedPage } from "../administration/paging.ts";
import { ago } from "../devices/times.ts";
import { type Input, id, optional, text } from "../input.ts";
import type { Noun } from "../noun.ts";
import { table, whole } from "../terminal/output.ts";
import { chosenClient } from "./client/chosen-client.ts";

/** Without a page, as on a command line. */
const mostListed = 1_000;

const list: AdminCommand = {
  name: "grant list",
  meaning: "list the access that users gave to a client, or the clients that have access to a user",
  examples: ["grant list --client bwc_…", "grant list --user 3"],
  options: (command) =>
    command
      .option("--client <id>", "the client's id or the beginning of it; see: breezeway client list")
      .option("--user <id>", "the user's id; see: breezeway user list"),
  async act(parts, input) {
    const page = wantedPage(input);
    const limit = page?.limit ?? mostListed;
    const of = await subjectOf(parts, input);
    const found = await parts.grants.listGrants({
      of,
      afterId: readText("cursor", page?.after ?? ""),
      limit: limit + 1,
    });
    const names = await namesOf(parts, found);
    const grants = found.slice(0, limit).map((grant) => shown(grant, names));
    return { answer: { grants, ...(found.length > limit && { cursor: grants.at(-1)!.grantId }) } };
  },
  toText({ grants }, _typed, width) {
    if (grants.length === 0) return "There are no grants.";
    return table(
      [whole("GRANT"), "USER", whole("CLIENT"), "NAME", "SCOPE", "SINCE", "LAST USED"],
      (grants as Answer[]).map((one) => [
        one.grantId,
        one.userId ?? (one.covers === "tenant" ? "all of the tenant" : "-"),
        one.clientId,
        one.clientName ?? "-",
        one.scope ?? "everything",
        ago(Date.parse(one.created)),
        one.lastUsed === null ? "not known" : ago(Date.parse(one.lastUsed)),
      ]),
      width,
    );
  },
};

const end: AdminCommand = {
  name: "grant end",
  meaning: "end one grant: its client loses the access at once, on every node",
  examples: ["grant end g_… --user 3", "grant end g_… --client bwc_…"],
  arguments: [{ name: "grant", meaning: "the grant's id; see: breezeway grant list" }],
  options: (command) =>
    command
      .option("--grant <id>", "the same, as an option")
      .option("--client <id>", "the client that has the access")
      .option("--user <id>", "the user who gave it"),
  async act(parts, input) {
    const grantId = text(input, "grant");
    const grant = await find(parts, await subjectOf(parts, input), grantId);
    await parts.grants.endGrant(grant);
    const { tenantId, userId, clientId } = grant;
    return {
      answer: { grantId, userId, clientId },
      changed: { tenantId, userId, clientId, detail: { grant: grantId } },
    };
  },
  toText: ({ grantId, clientId }) => `Grant ${grantId} has ended: client ${clientId} has lost this access.`,
};

/** A grant is found through its client or its user, whom the caller must reach. */
async function subjectOf({ identity, clients }: AdministrationParts, input: Input): Promise<GrantQuestion["of"]> {
  const [client, user] = [optional(input, "client"), optional(input, "user")];
  if ((client === undefined) === (user === undefined)) {
    throw new BadParameter("client", "Name either a client or a user: --client or --user.");
  }
  if (client !== undefined) return { clientId: (await chosenClient(clients, input)).id };
  return { userId: (await identity.findUser(id<UserId>(input, "user"))).userId };
}

async function find({ grants }: AdministrationParts, of: GrantQuestion["of"], grantId: string): Promise<GrantRecord> {
  const [found] = await grants.listGrants({ of, id: readText("grant", grantId), afterId: "", limit: 1 });
  if (!found) throw new NotFound("There is no such grant.");
  return found;
}

async function namesOf({ clients }: AdministrationParts, found: readonly GrantRecord[]): Promise<Map<string, string>> {
  if (found.length === 0) return new Map();
  return new Map((await clients.listClients()).map(({ id: clientId, name }) => [clientId, name]));
}

function shown(grant: GrantRecord, names: ReadonlyMap<string, string>) {
  const { id: grantId, userId, clientId, covers, scope, createdMs, usedMs } = grant;
  const created = new Date(createdMs).toISOString();
  const lastUsed = usedMs === null ? null : new Date(usedMs).toISOString();
  return { grantId, userId, clientId, clientName: names.get(clientId) ?? null, covers, scope, created, lastUsed };
}

export const grant: Noun = {
  name: "grant",
  alias: "grants",
  meaning: "the access that users gave to clients",
  commands: [list, end],
};
