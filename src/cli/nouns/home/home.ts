import type { Command } from "commander";
import type { CommandReceipt } from "../../../devices/command-receipts.ts";
import { readCommand } from "../../../home/command.ts";
import { commandErrorText, isCommandError } from "../../../home/command-errors.ts";
import { BadParameter, NotFound } from "../../../model/errors.ts";
import type { UserId } from "../../../model/ids.ts";
import type { AdminCommand, AdministrationParts } from "../../administration/admin-command.ts";
import { ownClient } from "../../administration/command-access.ts";
import { hasFlag, type Input, id, optional, text, texts } from "../../input.ts";
import type { Noun } from "../../noun.ts";
import { listLinks } from "../link/link.ts";
import { linkAnswer, linkStateInWords } from "../link/link-facts.ts";
import { listAlarms } from "./home-alarms.ts";
import { homeAlertCommands } from "./home-alerts.ts";
import { homeDeviceCommands } from "./home-devices.ts";
import { listEvents } from "./home-events.ts";
import { findInHomes } from "./home-find.ts";
import { listThings, thingAnswer, thingTable } from "./home-things.ts";

/** Receipts that a home shows, and things that are asked for them. */
const mostReceipts = 20;
const mostThingsRead = 100;

/** One home: its link with the blind intervals, its things, and the newest commands. */
const showHome: AdminCommand = {
  name: "home show",
  meaning: "show a home: its link, its things and the newest commands",
  examples: ["home show 3", "home show 3 --ecosystem NAME"],
  arguments: [{ name: "user", meaning: "the user, or the virtual device, by its id; see: breezeway link list" }],
  options: (command) =>
    command
      .option("--user <id>", "the same, as an option")
      .option("--ecosystem <name>", "the ecosystem of the link; may be left out when the user has only one"),
  toText: ({ userName, link, things, commands }) =>
    `${userName} at ${link.ecosystem}: ${linkStateInWords(link)}\n\n${thingTable(things)}\n\n${commands.length} recent commands`,
  async act(parts, input) {
    const { identity, homes, linksOf } = parts;
    const user = await identity.findUser(await residentOf(parts, id<UserId>(input, "user")));
    const ecosystem = optional(input, "ecosystem") ?? onlyEcosystem(await linksOf(user.userId));
    const { shown, blindIntervals } = await homes.status(user.userId, ecosystem);
    const things = (await homes.things(user.userId)).filter(({ deviceId }) => deviceId === shown.deviceId);
    const commanded = things.filter(({ kind }) => kind !== "home" && kind !== "alarm").slice(0, mostThingsRead);
    const receipts = await Promise.all(commanded.map(({ thingId }) => homes.receipts(user.userId, thingId)));
    const newest = receipts.flat().sort((a, b) => b.requestedMs - a.requestedMs);
    return {
      answer: {
        userId: user.userId,
        userName: user.name,
        link: linkAnswer(shown),
        blindIntervals: blindIntervals.map(({ fromMs, toMs, cause }) => ({ from: fromMs, to: toMs, cause })),
        things: things.filter(({ goneMs }) => goneMs === null).map(thingAnswer),
        commands: newest.slice(0, mostReceipts).map(receiptAnswer),
      },
    };
  },
};

/** The user with this id; if that user has no home, the owner of the virtual device with this id. */
async function residentOf({ identity, homeSearch, linksOf }: AdministrationParts, typedId: UserId): Promise<UserId> {
  const tenantIds = (await identity.listTenants()).map(({ tenantId }) => tenantId);
  const [links, { devices }] = await Promise.all([linksOf(typedId), homeSearch.find(String(typedId), tenantIds)]);
  if (links.length > 0) return typedId;
  const device = devices.find(({ deviceId }) => Number(deviceId) === Number(typedId));
  return device?.userId ?? typedId;
}

function onlyEcosystem(links: readonly { readonly ecosystem: string }[]): string {
  const [only, ...others] = links.map(({ ecosystem }) => ecosystem);
  if (only === undefined) throw new NotFound("The user has no connected home. See: breezeway link --help");
  if (others.length === 0) return only;
  throw new BadParameter(
    "ecosystem",
    `The user has several homes. Choose one of them: ${[only, ...others].join(", ")}.`,
  );
}

/** Sends a command to a thing. The receipt is the answer, also that of a refused command. */
const commandThing: AdminCommand = {
  name: "home command",
  meaning: "send a command to a thing as an operator, and print its receipt",
  examples: ["home command --user 3 --thing t_… --trait fanTimer --command start --param minutes=15"],
  options: (command) =>
    withUser(command)
      .requiredOption("--thing <id>", "the thing; see: breezeway home things")
      .requiredOption("--trait <name>", "a trait of the thing")
      .requiredOption("--command <name>", "a command of the trait")
      .option("--param <name=value...>", "a parameter of the command; may be repeated"),
  toText: ({ commandId, state, error }) => `Command ${commandId}: ${state}${error === null ? "" : `. ${error.text}`}`,
  async act({ identity, homes }, input) {
    const user = await identity.findUser(id<UserId>(input, "user"));
    const [trait, command] = [text(input, "trait"), text(input, "command")];
    const read = readCommand(trait, command, paramsOf(input));
    if (isCommandError(read)) throw new BadParameter("command", commandErrorText(read));
    const thingId = text(input, "thing");
    const receipt = await homes.command(user.userId, thingId, read);
    return {
      answer: receiptAnswer(receipt),
      changed: {
        tenantId: user.tenantId,
        userId: user.userId,
        detail: { thing: thingId, sent: `${trait}.${command}` },
      },
    };
  },
};

/** Unlinks an account. */
const unlinkHome: AdminCommand = {
  name: "home unlink",
  meaning: "disconnect an account: removes the virtual device with its alerts and history, and revokes the token",
  examples: ["home unlink --user 3 --ecosystem NAME"],
  options: withLink,
  toText: ({ tokenRevoked }) =>
    tokenRevoked
      ? "Disconnected."
      : "Disconnected. The token could not be revoked at the ecosystem; the service has removed it.",
  async act({ identity, homes }, input) {
    const user = await identity.findUser(id<UserId>(input, "user"));
    const ecosystem = text(input, "ecosystem");
    const { isTokenRevoked } = await homes.unlink(user.userId, ecosystem);
    const changed = { tenantId: user.tenantId, userId: user.userId, detail: { ecosystem } };
    return { answer: { tokenRevoked: isTokenRevoked }, changed };
  },
};

/** Makes a page on which the account's owner links it. Its address is a secret. */
const makeLinkPage: AdminCommand = {
  name: "home page",
  meaning: "make a page on which the account's owner connects it; prints its address and does not wait",
  examples: ["home page --user 3 --ecosystem NAME --renew"],
  options: (command) => withLink(command).option("--renew", "connect an existing link again"),
  toText: ({ url, expires }) =>
    `Give this address to the account's owner. It can be used once, until ${expires}.\n\n  ${url}`,
  async act(parts, input) {
    const { identity, homes } = parts;
    const user = await identity.findUser(id<UserId>(input, "user"));
    const ecosystem = text(input, "ecosystem");
    const mode = hasFlag(input, "renew") ? "renew" : "link";
    const clientId = await ownClient(parts, user.tenantId, true);
    const { url, expiresMs } = await homes.linkPage(user.userId, { clientId, ecosystem, mode });
    return {
      answer: { url, expires: new Date(expiresMs).toISOString() },
      changed: { tenantId: user.tenantId, userId: user.userId, detail: { ecosystem, mode } },
    };
  },
};

export const home: Noun = {
  name: "home",
  alias: "homes",
  meaning: "linked homes, as operators see them",
  groups: {
    alert: "alerts of users, as operators see them",
    device: "devices of users with their attributes, as operators see them",
  },
  commands: [
    { ...listLinks, name: "home list", meaning: "the same as link list", examples: ["home list"] },
    showHome,
    findInHomes,
    listAlarms,
    listThings,
    commandThing,
    unlinkHome,
    makeLinkPage,
    listEvents,
    ...homeAlertCommands,
    ...homeDeviceCommands,
  ],
};

function withUser(command: Command): Command {
  return command.requiredOption("--user <id>", "the user; see: breezeway user list");
}

function withLink(command: Command): Command {
  return withUser(command).requiredOption("--ecosystem <name>", "the ecosystem of the link");
}

/** `minutes=15`, `on=true`: true, false and numbers count as such, all else as text. */
function paramsOf(input: Input): Readonly<Record<string, string | number | boolean>> {
  return Object.fromEntries(
    texts(input, "param").map((pair) => {
      const at = pair.indexOf("=");
      if (at < 1) throw new BadParameter("param", "A parameter must be written as name=value.");
      const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
      if (value === "true" || value === "false") return [name, value === "true"];
      return [name, /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value];
    }),
  );
}

function receiptAnswer({ id: commandId, thingId, command, alertId, state, error, requestedMs }: CommandReceipt) {
  return {
    commandId,
    thingId,
    trait: command.trait,
    command: command.command,
    params: command.params,
    alertId,
    state,
    error: error === null ? null : { code: error.code, text: error.text },
    requestedTime: requestedMs,
  };
}
