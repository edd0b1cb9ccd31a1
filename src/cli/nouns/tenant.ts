import type { Terms, TermsAcceptance } from "../../identity/brand.ts";
import type { Identity } from "../../identity/identity.ts";
import type { Tenant } from "../../identity/tenants.ts";
import { afterPart, BadParameter, Conflict, OutcomeUnknown } from "../../model/errors.ts";
import type { TenantId } from "../../model/ids.ts";
import type { AdminCommand, Answer } from "../administration/admin-command.ts";
import { pageOf } from "../administration/paging.ts";
import { readFileBytes, readFileText } from "../file-argument.ts";
import { hasFlag, type Input, id, optional, text, texts } from "../input.ts";
import type { Noun } from "../noun.ts";
import { counted, rows, table } from "../terminal/output.ts";

const add: AdminCommand = {
  name: "tenant add",
  meaning: "add a tenant",
  examples: ['tenant add --name "Example Company"', "tenant add --name Acme --app-id 42"],
  options: (command) =>
    command
      .requiredOption("--name <name>", "its name")
      .option("--app-id <number>", "its id, the appId of platform calls (default: a free one)"),
  async act({ identity }, input) {
    const chosen = optional(input, "app-id") === undefined ? {} : { appId: id<TenantId>(input, "app-id") };
    const added = await identity.addTenant({ name: text(input, "name"), ...chosen });
    return { answer: added, changed: { tenantId: added.tenantId, detail: { name: added.name } } };
  },
  toText: ({ tenantId, name }) => `Added tenant ${name} with app id ${tenantId}.`,
};

const list: AdminCommand = {
  name: "tenant list",
  meaning: "list all tenants",
  examples: ["tenant list"],
  async act({ identity }, input) {
    const words = { key: (one: Tenant) => String(one.tenantId), words: (one: Tenant) => one.name };
    const { rows: tenants, ...rest } = pageOf(await identity.listTenants(), input, words);
    return { answer: { tenants, ...rest } };
  },
  toText({ tenants }, _typed, width) {
    if (tenants.length === 0) return "There are no tenants yet. See: breezeway tenant add --help";
    return table(
      ["APP ID", "NAME"],
      (tenants as Tenant[]).map(({ tenantId, name }) => [tenantId, name]),
      width,
    );
  },
};

const tenantArgument = { name: "tenant", meaning: "its name or id; see: breezeway tenant list" };
const named = "--tenant <name or id>";

const show: AdminCommand = {
  name: "tenant show",
  meaning: "show a tenant's branding and terms",
  examples: ["tenant show Acme"],
  arguments: [tenantArgument],
  options: (command) => command.option(named, "the same, as an option"),
  async act({ identity }, input) {
    return { answer: await shown(identity, await identity.findTenant(text(input, "tenant"))) };
  },
  toText: inWords,
};

const rename: AdminCommand = {
  name: "tenant rename",
  meaning: "give a tenant another name; its id stays",
  examples: ['tenant rename Acme --name "Acme Homes"'],
  arguments: [tenantArgument],
  options: (command) => command.option(named, "the same, as an option").requiredOption("--name <name>", "its new name"),
  async act({ identity }, input) {
    const { tenantId, name: before } = await identity.findTenant(text(input, "tenant"));
    const renamed = await identity.renameTenant(tenantId, text(input, "name"));
    return { answer: renamed, changed: { tenantId, detail: { before, name: renamed.name } } };
  },
  toText: ({ tenantId, name }) => `Tenant ${tenantId} is called ${name} now.`,
};

const brandParts = ["accent", "logo", "support-url"];

const brand: AdminCommand = {
  name: "tenant brand",
  meaning: "change the branding of a tenant's pages; options that are left out keep their values",
  examples: ['tenant brand Acme --accent "#0b6470" --logo logo.png', "tenant brand Acme --clear logo"],
  arguments: [tenantArgument],
  options: (command) =>
    command
      .option(named, "the same, as an option")
      .option("--accent <#rrggbb>", "the colour of its buttons; text on it must be readable (contrast 4.5:1)")
      .option("--logo <file>", "a PNG, JPEG, WebP or plain SVG of at most 64 kB")
      .option("--support-url <https…>", "where users find help")
      .addOption(command.createOption("--clear <part...>", "remove these parts of the branding").choices(brandParts)),
  extraInput: (typed) =>
    typed.logo === undefined ? {} : { logo: readFileBytes("logo", text(typed, "logo")).toString("base64") },
  async act({ identity }, input) {
    const tenant = await identity.findTenant(text(input, "tenant"));
    const { tenantId } = tenant;
    const clear = texts(input, "clear");
    checkBrand(input, clear);
    const newValue = (name: string) => (clear.includes(name) ? null : optional(input, name));
    const [accent, supportUrl, logo] = [newValue("accent"), newValue("support-url"), newValue("logo")];
    const picture = typeof logo === "string" ? Buffer.from(logo, "base64") : logo;
    await identity.setBrand(tenantId, { accent, supportUrl, logo: picture });
    const detail = {
      accent: optional(input, "accent"),
      "support-url": optional(input, "support-url"),
      logo: logo ? "new" : undefined,
      clear: clear.length > 0 ? clear : undefined,
    };
    return { answer: await shown(identity, tenant), changed: { tenantId, detail } };
  },
  toText: inWords,
};

const terms: AdminCommand = {
  name: "tenant terms",
  meaning: "set the terms that users accept before they give a client access",
  examples: [
    "tenant terms Acme --file terms.txt --version 3",
    "tenant terms Acme --file terms.txt --version 4 --require-acceptance --refreshes-end 2027-01-31",
    "tenant terms Acme --clear",
  ],
  arguments: [tenantArgument],
  options: (command) =>
    command
      .option(named, "the same, as an option")
      .option("--file <file>", "the terms: plain text of at most 64 kB")
      .option("--version <text>", "the name of this version, such as 3 or 2026-01")
      .option("--require-acceptance", "access that was given with older terms is not enough: users are asked again")
      .option("--refreshes-end <date>", "when such access ends: its refresh tokens are refused (2027-01-31, UTC)")
      .option("--no-require-acceptance", "access that was given with older terms is enough again")
      .option("--clear", "remove the terms"),
  extraInput: (typed) => (typed.file === undefined ? {} : { file: readFileText("file", text(typed, "file")) }),
  async act({ identity }, input) {
    const tenant = await identity.findTenant(text(input, "tenant"));
    const { tenantId } = tenant;
    if (hasFlag(input, "clear")) {
      const others = ["file", "version", "require-acceptance", "refreshes-end"];
      if (others.some((name) => input[name] !== undefined)) {
        throw new BadParameter(
          "clear",
          "--clear removes the terms: leave out --file and --version, and all other options.",
        );
      }
      await identity.setTerms(tenantId, null);
      return { answer: await shown(identity, tenant), changed: { tenantId, detail: { clear: true } } };
    }
    const acceptance = acceptanceOf(input);
    const isNew = input.file !== undefined || input.version !== undefined || !acceptance;
    const terms = isNew ? { version: text(input, "version"), text: text(input, "file") } : undefined;
    await identity.setTerms(tenantId, terms, acceptance);
    const endMs = acceptance?.refreshesEndMs;
    const detail = {
      version: terms?.version,
      "require-acceptance": acceptance?.isRequired,
      "refreshes-end": endMs === undefined ? undefined : new Date(endMs).toISOString(),
    };
    return { answer: await shown(identity, tenant), changed: { tenantId, detail } };
  },
  toText: inWords,
};

/** Undefined when the options leave it as it is. */
function acceptanceOf(input: Input): TermsAcceptance | undefined {
  const isRequired = input["require-acceptance"];
  const typed = optional(input, "refreshes-end");
  if (typed !== undefined && isRequired !== true) {
    throw new BadParameter("refreshes-end", "--refreshes-end needs --require-acceptance.");
  }
  if (typeof isRequired !== "boolean") return undefined;
  if (typed === undefined) return { isRequired };
  const isDate = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?Z)?$/.test(typed);
  const refreshesEndMs = isDate ? Date.parse(typed) : Number.NaN;
  if (Number.isNaN(refreshesEndMs)) {
    throw new BadParameter("refreshes-end", "--refreshes-end must be a date such as 2027-01-31, or 2027-01-31T12:00Z.");
  }
  return { isRequired, refreshesEndMs };
}

function checkBrand(input: Input, clear: readonly string[]): void {
  const changed = brandParts.filter((name) => optional(input, name) !== undefined);
  const both = changed.find((name) => clear.includes(name));
  if (both) throw new BadParameter(both, `--${both} is both given and cleared. Choose one.`);
  if (changed.length + clear.length === 0) {
    throw new BadParameter("accent", "Nothing to change. Give --accent, --logo, --support-url or --clear.");
  }
}

/** The answer of `show` and of all commands that change a tenant. */
async function shown(identity: Identity, { tenantId, name }: Tenant): Promise<object> {
  const { accent = null, supportUrl = null, terms } = await identity.brandOf(tenantId);
  const logo = await identity.logoOf(tenantId);
  return {
    tenantId,
    name,
    accent,
    supportUrl,
    logo: logo ? { type: logo.type, bytes: logo.bytes.length } : null,
    terms: terms ? shownTerms(terms) : null,
  };
}

function shownTerms({ version, dateMs, text: shownText, isRequired, refreshesEndMs }: Terms): object {
  return {
    version,
    date: new Date(dateMs).toISOString(),
    text: shownText,
    requireAcceptance: isRequired,
    refreshesEnd: refreshesEndMs === undefined ? null : new Date(refreshesEndMs).toISOString(),
  };
}

function inWords({ tenantId, name, accent, supportUrl, logo, terms }: Answer): string {
  return rows([
    ["tenant", name],
    ["app id", tenantId],
    ["accent", accent ?? "none"],
    ["logo", logo ? `${logo.type}, ${logo.bytes} bytes` : "none"],
    ["support", supportUrl ?? "none"],
    ["terms", terms ? `version ${terms.version} of ${terms.date.slice(0, 10)}` : "none"],
    ...(terms?.requireAcceptance ? [["must be accepted", acceptanceWords(terms.refreshesEnd)] as const] : []),
  ]);
}

function acceptanceWords(refreshesEnd: string | null): string {
  return refreshesEnd === null
    ? "at the next sign-in"
    : `from ${refreshesEnd.slice(0, 16)}Z on, refreshes end without it`;
}

const remove: AdminCommand = {
  name: "tenant remove",
  meaning: "remove a tenant that has no users, with its clients and their tokens",
  examples: ["tenant remove Acme"],
  arguments: [tenantArgument],
  options: (command) => command.option(named, "the same, as an option"),
  async act({ identity, clients, recordUnfinished }, input) {
    const { tenantId, name } = await identity.findTenant(text(input, "tenant"));
    const users = await identity.listUsers(tenantId);
    if (users.length > 0) {
      const next = `Remove them first; see: breezeway user list --tenant ${tenantId}`;
      throw new Conflict(`Tenant ${name} still has ${counted(users.length, "user")}. ${next}`);
    }
    const removed = { clients: 0 };
    try {
      for (const { id: clientId } of await clients.listClients(tenantId)) {
        await clients.removeClient(clientId);
        removed.clients++;
      }
      await identity.removeTenant(tenantId);
    } catch (error) {
      // A user or a client was added at the same moment, or the store failed. The removed clients are gone, and the next
      // one may be suspended.
      const isBegun = removed.clients > 0 || error instanceof OutcomeUnknown;
      if (isBegun) await recordUnfinished({ tenantId, detail: { name, ...removed } });
      throw isBegun ? afterPart(error) : error;
    }
    return { answer: { tenantId, name, removed }, changed: { tenantId, detail: { name, ...removed } } };
  },
  toText: ({ name, removed }) => `Removed tenant ${name} with ${counted(removed.clients, "client")}.`,
};

export const tenant: Noun = {
  name: "tenant",
  meaning: "companies whose users and clients are served here",
  alias: "tenants",
  commands: [add, list, show, rename, brand, terms, remove],
};
