import type { User } from "../../identity/users.ts";
import { OutcomeUnknown, restOfChange } from "../../model/errors.ts";
import type { TenantId, UserId } from "../../model/ids.ts";
import type { ActParts, AdminCommand, Answer } from "../administration/admin-command.ts";
import { afterId, wantedPage } from "../administration/paging.ts";
import { ago } from "../devices/times.ts";
import { hasFlag, id, optional, text } from "../input.ts";
import type { Noun } from "../noun.ts";
import { counted, rows, table } from "../terminal/output.ts";
import { readPassword } from "../terminal/secret-input.ts";
import { linkAnswer, linkStateInWords } from "./link/link-facts.ts";
import { namedUser, namedUserArgument } from "./named-user.ts";
import { chosenTenant, tenantNames, withTenantOption } from "./tenant-option.ts";
import { userAccessCommands, userArgument } from "./user-access.ts";

const add: AdminCommand = {
  name: "user add",
  meaning: "add a user; the password comes from standard input or BREEZEWAY_PASSWORD",
  examples: [
    "user add --tenant Acme --name ada",
    'echo "a good password" | breezeway user add --tenant Acme --name ada',
  ],
  options: (command) =>
    command
      .requiredOption("--tenant <name or id>", "the tenant")
      .requiredOption("--name <name>", "the name to sign in with")
      .option("--admin", "the user may give enterprise clients access to the whole tenant"),
  precheck: ({ tenant }) => ({ command: "tenant show", input: { tenant } }),
  extraInput: async (_, terminal) => ({ password: await readPassword(terminal) }),
  async act({ identity }, input) {
    const isAdmin = hasFlag(input, "admin");
    const { tenantId } = await identity.findTenant(text(input, "tenant"));
    const userId = await identity.addUser({
      tenant: String(tenantId),
      name: text(input, "name"),
      password: text(input, "password"),
      isAdmin,
    });
    return { answer: { userId }, changed: { tenantId, userId, detail: { admin: isAdmin || undefined } } };
  },
  toText: ({ userId }, { name }) => `Added user ${name} with id ${userId}.`,
};

const list: AdminCommand = {
  name: "user list",
  meaning: "list users",
  examples: ["user list", "user list --tenant Acme"],
  options: withTenantOption,
  async act({ identity }, input) {
    const tenantId = await chosenTenant(identity, input);
    const names = await tenantNames(identity);
    const page = wantedPage(input);
    if (!page) {
      const users = await identity.listUsers(tenantId);
      return { answer: { users: users.map((one) => shown(one, names.get(one.tenantId))) } };
    }
    const found = await identity.searchUsers({
      tenantIds: tenantId === undefined ? undefined : [tenantId],
      text: optional(input, "filter"),
      afterId: afterId(page) ?? 0,
      limit: page.limit + 1,
    });
    const users = found.slice(0, page.limit).map((one) => shown(one, names.get(one.tenantId)));
    return { answer: { users, ...(found.length > page.limit && { cursor: String(users.at(-1)!.userId) }) } };
  },
  toText({ users }, _typed, width) {
    if (users.length === 0) return "There are no users yet. See: breezeway user add --help";
    return table(
      ["USER", "NAME", "ADMIN", "STATE", "TENANT", "CREATED"],
      (users as Record<string, string>[]).map((one) => [
        one.userId,
        one.name,
        one.admin ? "yes" : "no",
        one.suspended ? "suspended" : "active",
        one.tenant,
        ago(Date.parse(one.created!)),
      ]),
      width,
    );
  },
};

const show: AdminCommand = {
  name: "user show",
  meaning: "show one user with devices and links",
  examples: ["user show 3", "user show ada --tenant Acme"],
  arguments: [namedUserArgument],
  options: (command) => withTenantOption(command.option("--user <id>", "the same, as an option")),
  async act({ identity, devices, linksOf }, input) {
    const found = await namedUser(identity, input);
    const names = await tenantNames(identity);
    const owned = (await devices.list(found.userId)).map((device) => ({
      deviceId: device.id,
      deviceName: device.name,
      deviceTypeName: device.typeName,
    }));
    const links = (await linksOf(found.userId)).map(linkAnswer);
    return { answer: { ...shown(found, names.get(found.tenantId)), devices: owned, links } };
  },
  toText: ({ userId, name, admin, suspended, tenant, created, devices, links }) =>
    rows([
      ["user", userId],
      ["name", name],
      ["tenant", tenant],
      ["administrator", admin ? "yes" : "no"],
      ["state", suspended ? "suspended" : "active"],
      ["created", created],
      ["devices", devices.map((one: Answer) => `${one.deviceId} ${one.deviceName}`).join(", ") || "none"],
      ["links", links.map((one: Answer) => `${one.ecosystem} (${linkStateInWords(one)})`).join(", ") || "none"],
    ]),
};

const setPassword: AdminCommand = {
  name: "user set-password",
  meaning: "set a user's password, from standard input or BREEZEWAY_PASSWORD; this signs the user out everywhere",
  examples: ["user set-password 3"],
  arguments: [namedUserArgument],
  options: (command) => withTenantOption(command.option("--user <id>", "the same, as an option")),
  precheck: ({ user, tenant }) => ({ command: "user show", input: { user, tenant } }),
  extraInput: async (_, terminal) => ({ password: await readPassword(terminal) }),
  async act({ identity }, input) {
    const { userId, tenantId } = await namedUser(identity, input);
    const { grants } = await identity.setPassword(userId, text(input, "password"));
    return { answer: { userId, grants }, changed: { tenantId, userId, detail: { grants } } };
  },
  toText({ userId, grants }) {
    const clients = grants === 0 ? "No client had access." : `${counted(grants, "grant")} to clients ended.`;
    return `User ${userId} has a new password, and is signed out everywhere. ${clients}`;
  },
};

const remove: AdminCommand = {
  name: "user remove",
  meaning: "remove a user with their links, devices and history, and the access that they gave to clients",
  examples: ["user remove 3"],
  arguments: [userArgument],
  options: (command) => command.option("--user <id>", "the same, as an option"),
  async act(parts, input) {
    const { userId, tenantId } = await parts.identity.findUser(id<UserId>(input, "user", "The user's id"));
    const { unlinked, ...own } = await unlinkAndRemove(parts, userId, tenantId);
    const { devices, attributes, history, blindIntervals, alerts, webhooks, grants } = own;
    const sum = (own: number, count: (one: (typeof unlinked)[number]) => number) =>
      unlinked.reduce((total, one) => total + count(one), own);
    const removed = {
      links: unlinked.length,
      devices: devices.length + unlinked.length,
      attributes: sum(attributes, (one) => one.removed.attributes),
      history: sum(history, (one) => one.removed.history),
      blindIntervals: sum(blindIntervals, (one) => one.removed.blindIntervals),
      alerts: sum(alerts, (one) => one.removed.alerts),
      webhooks,
      grants: grants.length,
    };
    const tokensRevoked = unlinked.filter(({ isTokenRevoked }) => isTokenRevoked).length;
    return { answer: { userId, removed, tokensRevoked }, changed: { tenantId, userId, detail: removed } };
  },
  toText({ userId, removed, tokensRevoked }) {
    const { links, devices, grants } = removed;
    const gone = `${counted(links, "link")}, ${counted(devices, "device")} and ${counted(grants, "grant")} to clients`;
    const left = links - tokensRevoked;
    const doubt = `\n${counted(left, "token")} could not be revoked at the ecosystem; the service has removed them.`;
    return `Removed user ${userId} with ${gone}.${left > 0 ? doubt : ""}`;
  },
};

/** When it fails, homes may be unlinked already, and a part of the data may be gone. The audit log says so. */
async function unlinkAndRemove(parts: ActParts, userId: UserId, tenantId: TenantId) {
  const { identity, federation, linksOf, recordUnfinished, unfinishedEntry } = parts;
  const before = await linksOf(userId);
  try {
    const unlinked = await federation.unlinkAll(userId);
    const begun = unfinishedEntry({ tenantId, userId, detail: { links: unlinked.length } });
    const own = await restOfChange(unlinked.length > 0, () => identity.removeUser(userId, { begun }));
    return { unlinked, ...own };
  } catch (error) {
    // When the store has failed, this may fail too: then the entry names no link.
    const left = new Set((await linksOf(userId).catch(() => before)).map(({ deviceId }) => deviceId));
    const links = before.filter(({ deviceId }) => !left.has(deviceId)).length;
    if (links > 0 || error instanceof OutcomeUnknown) await recordUnfinished({ tenantId, userId, detail: { links } });
    throw error;
  }
}

function shown({ userId, name, isAdmin, isSuspended, createdMs }: User, tenant: string | undefined) {
  const created = new Date(createdMs).toISOString();
  return { userId, name, admin: isAdmin, suspended: isSuspended, tenant, created };
}

export const user: Noun = {
  name: "user",
  alias: "users",
  meaning: "people who sign in",
  commands: [add, list, show, setPassword, ...userAccessCommands, remove],
};
