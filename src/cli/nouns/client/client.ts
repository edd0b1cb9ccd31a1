import { OutcomeUnknown } from "../../../model/errors.ts";
import type { Client } from "../../../oauth/clients.ts";
import type { AdminCommand, AdministrationParts } from "../../administration/admin-command.ts";
import { pageOf } from "../../administration/paging.ts";
import { hasFlag, number, optional, text, texts } from "../../input.ts";
import type { Noun } from "../../noun.ts";
import { counted, rows, table, whole } from "../../terminal/output.ts";
import { chosenTenant, tenantNames, withTenantOption } from "../tenant-option.ts";
import {
  chosenClient,
  clientArgument,
  readIssuer,
  returnUrlMeaning,
  vouchesMeaning,
  withIssuerOption,
} from "./chosen-client.ts";
import { edit } from "./client-edit.ts";
import { clientSuspensions } from "./client-suspend.ts";

const add: AdminCommand = {
  name: "client add",
  meaning: "register a cloud that may ask users for access; its secret is shown once",
  examples: ['client add --tenant Acme --name "Voice" --redirect-uri https://voice.example/callback'],
  options: (command) =>
    withIssuerOption(
      command
        .requiredOption("--tenant <name or id>", "the tenant whose users it may ask")
        .requiredOption("--name <name>", "the name that users read before they give it access")
        .option(
          "--redirect-uri <uri...>",
          "an address to which users are sent back: https, exactly as the client sends it",
        )
        .addOption(
          command
            .createOption(
              "--kind <kind>",
              "user: acts for each user who gives it access; enterprise: acts for the whole tenant",
            )
            .choices(["user", "enterprise"])
            .default("user"),
        )
        .option("--require-pkce", "refuse its requests without PKCE")
        .option("--return-url <url...>", returnUrlMeaning)
        .option("--vouches-for-users", vouchesMeaning),
    ),
  async act({ clients }, input) {
    const { client, secret } = await clients.addClient({
      tenant: text(input, "tenant"),
      name: text(input, "name"),
      kind: optional(input, "kind") === "enterprise" ? "enterprise" : "user",
      redirectUris: texts(input, "redirect-uri"),
      requiresPkce: hasFlag(input, "require-pkce"),
      returnUrls: texts(input, "return-url"),
      vouchesForUsers: hasFlag(input, "vouches-for-users"),
      sendsIssuer: readIssuer(input) ?? true,
    });
    const { tenantId, id: clientId, name, kind, redirectUris, requiresPkce } = client;
    const detail = {
      name,
      kind,
      "redirect-uri": redirectUris,
      "require-pkce": requiresPkce || undefined,
      ...linkPagesOf(client),
      issuer: client.sendsIssuer ? undefined : false,
    };
    return { answer: { client_id: clientId, client_secret: secret }, changed: { tenantId, clientId, detail } };
  },
  toText: (answer, { name }) => `Added client ${name}.\n\n${credentials(answer)}`,
};

/** What link pages know of a client, for the audit log. */
function linkPagesOf({ returnUrls, vouchesForUsers }: Client) {
  return {
    "return-url": returnUrls.length > 0 ? returnUrls : undefined,
    "vouches-for-users": vouchesForUsers || undefined,
  };
}

const list: AdminCommand = {
  name: "client list",
  meaning: "list clients",
  examples: ["client list", "client list --tenant Acme"],
  options: withTenantOption,
  async act({ identity, clients }, input) {
    const words = { key: (one: Client) => one.id, words: (one: Client) => one.name };
    const all = await clients.listClients(await chosenTenant(identity, input));
    const { rows: found, ...rest } = pageOf(all, input, words);
    const names = await tenantNames(identity);
    return { answer: { clients: found.map((one) => fieldsOf(one, names.get(one.tenantId))), ...rest } };
  },
  toText({ clients }, _typed, width) {
    if (clients.length === 0) return "There are no clients yet. See: breezeway client add --help";
    return table(
      [whole("CLIENT"), "NAME", "TENANT", "KIND", "STATE", whole("REDIRECT ADDRESS")],
      (clients as ReturnType<typeof fieldsOf>[]).map((one) => [
        one.client_id,
        one.name,
        one.tenant,
        one.kind,
        one.suspended ? "suspended" : "active",
        firstOf(one.redirect_uris),
      ]),
      width,
    );
  },
};

/** The first of many addresses; `client show` lists all. */
function firstOf([first = "-", ...others]: readonly string[]): string {
  return others.length === 0 ? first : `${first} and ${others.length} more`;
}

const show: AdminCommand = {
  name: "client show",
  meaning: "show one client, without its secret",
  examples: ["client show bwc_…"],
  arguments: [clientArgument],
  options: (command) => command.option("--client <id>", "the same, as an option"),
  async act({ identity, clients }, input) {
    const found = await chosenClient(clients, input);
    const client = fieldsOf(found, (await tenantNames(identity)).get(found.tenantId));
    return { answer: { ...client, grants: await clients.grantsByScope(found.id) } };
  },
  toText: (answer, _typed, width) =>
    rows(
      [
        ["client", answer.client_id],
        ["name", answer.name],
        ["tenant", answer.tenant],
        ["kind", answer.kind],
        ["PKCE", answer.require_pkce ? "required" : "optional"],
        ["redirect addresses", answer.redirect_uris],
        ["return addresses", answer.return_urls.length === 0 ? "none" : answer.return_urls],
        ["vouches for users", answer.vouches_for_users ? "yes" : "no"],
        ["gets iss", answer.sends_issuer ? "yes" : "no"],
        ["state", answer.suspended ? "suspended" : "active"],
        ["created", answer.created],
        ["grants", grantsInWords(answer.grants)],
      ],
      width,
    ),
};

type Grants = Awaited<ReturnType<AdministrationParts["clients"]["grantsByScope"]>>;

/** `3 of everything, 1 of devices:read alerts`. */
function grantsInWords(grants: Grants): string {
  if (grants.length === 0) return "none";
  return grants.map(({ scope, grants: count }) => `${count} of ${scope ?? "everything"}`).join(", ");
}

const rotateSecret: AdminCommand = {
  name: "client rotate-secret",
  meaning: "give a client a new secret, shown once; the old one stays valid for --overlap",
  examples: ["client rotate-secret bwc_… --overlap 48"],
  arguments: [clientArgument],
  options: (command) =>
    command
      .option("--client <id>", "the same, as an option")
      .option("--overlap <hours>", "how many hours the old secret stays valid; 0 ends it at once", "24"),
  async act({ clients }, input) {
    const overlapHours = number({ overlap: "24", ...input }, "overlap", 0, 720);
    const { id } = await chosenClient(clients, input);
    const { client, secret } = await clients.rotateSecret(id, overlapHours * 3_600_000);
    return {
      answer: { client_id: client.id, client_secret: secret },
      changed: { tenantId: client.tenantId, clientId: client.id, detail: { overlap: overlapHours } },
    };
  },
  toText(answer, { overlap }) {
    const hours = Number(overlap);
    const old = hours === 0 ? "The old secret has ended." : `The old secret stays valid for ${counted(hours, "hour")}.`;
    return `${credentials(answer)}\n${old}`;
  },
};

const remove: AdminCommand = {
  name: "client remove",
  meaning: "remove a client; its tokens end at once",
  examples: ["client remove bwc_…"],
  arguments: [clientArgument],
  options: (command) => command.option("--client <id>", "the same, as an option"),
  async act({ clients, recordUnfinished }, input) {
    const { id: clientId, tenantId, name } = await chosenClient(clients, input);
    try {
      const { grants } = await clients.removeClient(clientId);
      return {
        answer: { client_id: clientId, name, grants },
        changed: { tenantId, clientId, detail: { name, grants } },
      };
    } catch (error) {
      // The client is suspended, and some of its grants may have ended.
      if (error instanceof OutcomeUnknown) await recordUnfinished({ tenantId, clientId, detail: { name } });
      throw error;
    }
  },
  toText({ name, grants }) {
    const ended = grants === 0 ? "It had no grants." : `${counted(grants, "grant")} ended, with every token.`;
    return `Removed client ${name}. ${ended}`;
  },
};

function fieldsOf(client: Client, tenant: string | undefined) {
  const { id, name, kind, redirectUris, requiresPkce, createdMs, suspendedMs } = client;
  return {
    client_id: id,
    name,
    tenant,
    kind,
    redirect_uris: redirectUris,
    require_pkce: requiresPkce,
    return_urls: client.returnUrls,
    vouches_for_users: client.vouchesForUsers,
    sends_issuer: client.sendsIssuer,
    suspended: suspendedMs !== null,
    created: new Date(createdMs).toISOString(),
  };
}

/** The id and the secret, with a warning that the secret is shown once. */
function credentials({ client_id, client_secret }: Record<string, string>): string {
  const lines = rows([
    ["  client_id", client_id],
    ["  client_secret", client_secret],
  ]);
  return `${lines}\n\nThe secret is shown only now: the service stores a hash of it.`;
}

export const client: Noun = {
  name: "client",
  alias: "clients",
  meaning: "clouds that may ask a tenant's users for access",
  commands: [add, list, show, edit, rotateSecret, ...clientSuspensions, remove],
};
