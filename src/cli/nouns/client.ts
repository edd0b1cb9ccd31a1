import { NotFound } from "../../model/errors.ts";
import type { Client } from "../../oauth/clients.ts";
import type { AdminCommand } from "../admin-command.ts";
import { isGiven, number, optional, text, texts } from "../input.ts";
import type { Noun } from "../noun.ts";
import { counted, rows, table } from "../output.ts";
import { chosenTenant, ofTenant, tenantNames } from "./of-tenant.ts";

const add: AdminCommand = {
  name: "client add",
  meaning: "register a cloud that may ask users for access; its secret is shown once",
  examples: ['client add --tenant Acme --name "Voice" --redirect-uri https://voice.example/callback'],
  options: (command) =>
    command
      .requiredOption("--tenant <name or id>", "the tenant whose users it may ask")
      .requiredOption("--name <name>", "the name that users read before they let it in")
      .option("--redirect-uri <uri...>", "where it takes users back to: https, exactly as it will send it")
      .addOption(
        command
          .createOption("--kind <kind>", "user: acts for each user that lets it in; enterprise: for the whole tenant")
          .choices(["user", "enterprise"])
          .default("user"),
      )
      .option("--require-pkce", "refuse its requests without PKCE"),
  async act({ clients }, input) {
    const { client, secret } = await clients.addClient({
      tenant: text(input, "tenant"),
      name: text(input, "name"),
      kind: optional(input, "kind") === "enterprise" ? "enterprise" : "user",
      redirectUris: texts(input, "redirect-uri"),
      requiresPkce: isGiven(input, "require-pkce"),
    });
    const { tenantId, id: clientId, name, kind, redirectUris, requiresPkce } = client;
    const detail = { name, kind, "redirect-uri": redirectUris, "require-pkce": requiresPkce || undefined };
    return { answer: { client_id: clientId, client_secret: secret }, changed: { tenantId, clientId, detail } };
  },
  tell: (answer, { name }) => `Added client ${name}.\n\n${credentials(answer)}`,
};

const list: AdminCommand = {
  name: "client list",
  meaning: "list clients",
  examples: ["client list", "client list --tenant Acme"],
  options: ofTenant,
  async act({ identity, clients }, input) {
    const found = await clients.listClients(await chosenTenant(identity, input));
    const names = await tenantNames(identity);
    return { answer: { clients: found.map((one) => shown(one, names.get(one.tenantId))) } };
  },
  tell({ clients }) {
    if (clients.length === 0) return "There are no clients yet. See: breezeway client add --help";
    return table(
      ["CLIENT", "NAME", "TENANT", "KIND", "PKCE", "REDIRECT ADDRESSES"],
      (clients as Record<string, string>[]).map((one) => [
        one.client_id,
        one.name,
        one.tenant,
        one.kind,
        one.require_pkce ? "required" : "optional",
        one.redirect_uris,
      ]),
    );
  },
};

const show: AdminCommand = {
  name: "client show",
  meaning: "tell all about one client, but for its secret",
  examples: ["client show bwc_…"],
  arguments: [{ name: "client", meaning: "the client's id; see: breezeway client list" }],
  options: (command) => command.option("--client <id>", "the same as an option"),
  async act({ identity, clients }, input) {
    const wanted = text(input, "client");
    const found = (await clients.listClients()).find(({ id }) => id === wanted);
    if (!found) throw new NotFound(`There is no client ${wanted}. See all with: breezeway client list`);
    return { answer: shown(found, (await tenantNames(identity)).get(found.tenantId)) };
  },
  tell: (answer) =>
    rows([
      ["client", answer.client_id],
      ["name", answer.name],
      ["tenant", answer.tenant],
      ["kind", answer.kind],
      ["PKCE", answer.require_pkce ? "required" : "optional"],
      ["redirect addresses", answer.redirect_uris],
      ["created", answer.created],
    ]),
};

const rotateSecret: AdminCommand = {
  name: "client rotate-secret",
  meaning: "give a client a new secret, shown once; the old one goes on for a while",
  examples: ["client rotate-secret bwc_… --overlap 48"],
  arguments: [{ name: "client", meaning: "the client's id; see: breezeway client list" }],
  options: (command) =>
    command
      .option("--client <id>", "the same as an option")
      .option("--overlap <hours>", "how long the old secret goes on; 0 ends it at once", "24"),
  async act({ clients }, input) {
    const overlapHours = number({ overlap: "24", ...input }, "overlap", 0, 720);
    const { client, secret } = await clients.rotateSecret(text(input, "client"), overlapHours * 3_600_000);
    return {
      answer: { client_id: client.id, client_secret: secret },
      changed: { tenantId: client.tenantId, clientId: client.id, detail: { overlap: overlapHours } },
    };
  },
  tell(answer, { overlap }) {
    const hours = Number(overlap);
    const old = hours === 0 ? "The old secret has ended." : `The old secret goes on for ${counted(hours, "hour")}.`;
    return `${credentials(answer)}\n${old}`;
  },
};

const remove: AdminCommand = {
  name: "client remove",
  meaning: "remove a client; all that it was ever given ends at once",
  examples: ["client remove bwc_…"],
  arguments: [{ name: "client", meaning: "the client's id; see: breezeway client list" }],
  options: (command) => command.option("--client <id>", "the same as an option"),
  async act({ clients }, input) {
    const { client, grants } = await clients.removeClient(text(input, "client"));
    const { tenantId, id: clientId, name } = client;
    return { answer: { client_id: clientId, name, grants }, changed: { tenantId, clientId, detail: { name, grants } } };
  },
  tell({ name, grants }) {
    const ended = grants === 0 ? "It had been given nothing." : `${counted(grants, "grant")} ended, with every token.`;
    return `Removed client ${name}. ${ended}`;
  },
};

function shown({ id, name, kind, redirectUris, requiresPkce, createdMs }: Client, tenant: string | undefined) {
  return {
    client_id: id,
    name,
    tenant,
    kind,
    redirect_uris: redirectUris,
    require_pkce: requiresPkce,
    created: new Date(createdMs).toISOString(),
  };
}

/** What its developers need, and when they will see it again. */
function credentials({ client_id, client_secret }: Record<string, string>): string {
  const shown = rows([
    ["  client_id", client_id],
    ["  client_secret", client_secret],
  ]);
  return `${shown}\n\nThe secret is shown this once: only a hash of it is kept.`;
}

export const client: Noun = {
  name: "client",
  alias: "clients",
  meaning: "clouds that may ask a tenant's users for access",
  commands: [add, list, show, rotateSecret, remove],
};
