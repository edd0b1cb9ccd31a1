import type { Command } from "commander";
import { BadParameter, EcosystemUnreachable } from "../../../model/errors.ts";
import type { Answer } from "../../administration/admin-command.ts";
import { withCleanUp } from "../../administration/clean-up.ts";
import type { Call, OwnCommand } from "../../command.ts";
import { ago, dateAndTime } from "../../devices/times.ts";
import { ecosystemName } from "../../ecosystems.ts";
import { hasFlag, optional } from "../../input.ts";
import type { Noun } from "../../noun.ts";
import type { Api } from "../../remote/api.ts";
import { isRemote, serviceOf, withServiceOptions } from "../../remote/chosen-service.ts";
import { adaptorErrors, ServiceRefused } from "../../remote/service-errors.ts";
import { rows, table } from "../../terminal/output.ts";
import { readSecret } from "../../terminal/secret-input.ts";
import { linkStateInWords } from "./link-facts.ts";
import { page } from "./link-page.ts";
import { countLinks, findLinks } from "./link-search.ts";

/** The ecosystem has 30 s for an answer, and a token that replaces another takes two calls. */
const linkLimitMs = 90_000;
const variable = "BREEZEWAY_ECOSYSTEM_TOKEN";

/** With --url or --profile the user is the owner of the security token. */
function withUserOptions(command: Command): Command {
  return withServiceOptions(command)
    .option("--user <id>", "the user (on this machine; may be left out when there is only one)")
    .option("--ecosystem <name>", "the ecosystem; may be left out when only one is configured");
}

const add: OwnCommand = {
  name: "link add",
  isDefault: true,
  meaning: `connect a user to an account of an ecosystem; its token comes from standard input, ${variable}, or the account's owner in a browser`,
  examples: ["link --user 3 --consent", "breezeway link --user 3 < token-file", "link add --user 3 --ecosystem NAME"],
  options: (command) =>
    withUserOptions(command)
      .option("--ecosystem-url <address>", "the account's address, for an ecosystem whose accounts have one each")
      .option("--consent", "ask the account's owner in a browser, even in a script"),
  async run(call) {
    const { print } = call;
    const ecosystem = ecosystemName(call);
    // Check the user before asking for consent, because a consent cannot be used twice.
    const { deviceId, wasLinked } = await asUser(call, async (api) => {
      const token = await ecosystemToken(call, api, ecosystem);
      const signal = AbortSignal.timeout(linkLimitMs);
      const ecosystemUrl = optional(call.typed, "ecosystem-url");
      const link = { signal, ecosystemUrl };
      const linking = api.asUser((sdk) => sdk.updateFederatedToken(ecosystem, token, link), { isWrite: true });
      const seconds = linkLimitMs / 1_000;
      return print
        .during(`waiting up to ${seconds} s for ${ecosystem} to take the token and show the account`, linking)
        .catch((error) => explain(error, ecosystem));
    });
    print.data({ deviceId, ecosystem, replaced: wasLinked }, () => {
      const done = wasLinked ? `The link to ${ecosystem} has the new token` : `Connected to ${ecosystem}`;
      return `${done}: device ${deviceId}. See it with: breezeway device get ${deviceId}`;
    });
  },
};

/** Adds the next command to the service's message. */
function explain(error: unknown, ecosystem: string): never {
  if (error instanceof ServiceRefused && error.code === adaptorErrors.ecosystemRefused) {
    const next = "Get a new token of the account, or ask its owner in a browser: breezeway link --consent";
    throw new ServiceRefused(error.status, error.code, `${error.message} Nothing was changed. ${next}`);
  }
  if (error instanceof Error && error.name === "TimeoutError") {
    throw new EcosystemUnreachable(
      `No answer came within ${linkLimitMs / 1_000} s. Whether the account at ${ecosystem} is connected is unknown; see: breezeway link show`,
      { cause: error },
    );
  }
  throw error;
}

async function ecosystemToken(call: Call, api: Api, ecosystem: string): Promise<string> {
  const { typed, terminal } = call;
  if (!hasFlag(typed, "consent")) {
    const isPiped = terminal.input.isTTY !== true;
    const token = await readSecret(terminal, { what: "token of the ecosystem", variable, prompts: isPiped });
    if (token) return token;
    if (isPiped) {
      throw new BadParameter(
        "token",
        `The ecosystem's token is missing. Pipe it in, set ${variable}, or use --consent.`,
      );
    }
  }
  const { consentOf } = await import("../../remote/consent.ts");
  await checkReady(call, api, ecosystem);
  return consentOf(call, ecosystem);
}

/** Checks that the service accepts the security token and knows the ecosystem. It answers `notLinked` to a user without a link. */
async function checkReady({ print }: Call, api: Api, ecosystem: string): Promise<void> {
  const status = api.asUser((sdk) => sdk.getLinkStatus(ecosystem));
  await print.during("asking the service", status).catch((error: unknown) => {
    if (!(error instanceof ServiceRefused) || error.code !== adaptorErrors.notLinked) throw error;
  });
}

export const listLinks: OwnCommand = {
  name: "link list",
  meaning: "list links with their states",
  examples: ["link list", "link list --user 3"],
  options: (command) =>
    withServiceOptions(command)
      .option("--user <id>", "of one user only (on this machine)")
      .option("--tenant <name or id>", "of one tenant only (on this machine)")
      .option("--ecosystem <name>", "of one ecosystem only; at an address, the only configured one when left out"),
  async run(call) {
    const { print, programs, config, typed } = call;
    const ecosystem = optional(typed, "ecosystem")?.toLowerCase();
    const found: readonly Answer[] = isRemote(call)
      ? [ofService(ecosystem ?? ecosystemName(call), await statusOf(call))]
      : ((await programs.administer(config(), "link facts", typed)) as Answer).links;
    const links = found.filter((one) => ecosystem === undefined || one.ecosystem === ecosystem);
    print.data({ links }, () => {
      if (links.length === 0) return "No home is connected. Connect one with: breezeway link --help";
      return table(
        ["DEVICE", "ECOSYSTEM", "USER", "STATE", "REASON", "CONFIRMED"],
        links.map((one) => [
          one.deviceId ?? one.DeviceId,
          one.ecosystem,
          one.userId === undefined ? "-" : `${one.userId} ${one.userName}`,
          linkStateInWords(one),
          one.reason,
          one.confirmedTime === null ? "-" : ago(one.confirmedTime),
        ]),
        print.width,
      );
    });
  },
};

/** The adaptor reports `live` for an open stream even if its values are stale; then the shown state is `stale`. */
function ofService(ecosystem: unknown, status: Answer): Answer {
  return { ecosystem, ...status, state: status.stale && status.state === "live" ? "stale" : status.state };
}

const show: OwnCommand = {
  name: "link show",
  meaning: "show the state of a user's link, and the times at which the account could not be seen",
  examples: ["link show --user 3"],
  options: withUserOptions,
  async run(call) {
    const { print } = call;
    print.data(await statusOf(call), (one: Answer) => {
      const blind = one.blindIntervals
        .slice(-10)
        .map((gap: Answer) => [dateAndTime(gap.from), gap.to === null ? "until now" : dateAndTime(gap.to), gap.cause]);
      const facts = rows(
        [
          ["device", one.DeviceId],
          ["state", one.reason ? `${one.state}: ${one.reason}` : one.state],
          ["present", one.presenceInfo === 1 ? "yes" : "no"],
          ["stale", one.stale ? "yes" : "no"],
          ["confirmed", one.confirmedTime === null ? "-" : ago(one.confirmedTime)],
        ],
        print.width,
      );
      return blind.length === 0 ? facts : `${facts}\n\n${table(["BLIND FROM", "TO", "WHY"], blind, print.width)}`;
    });
  },
};

/** The link's status with the field names of the adaptor. */
async function statusOf(call: Call): Promise<Answer> {
  const ecosystem = ecosystemName(call);
  const { deviceId, ...status } = await asUser(call, (api) => {
    const asking = api.asUser((sdk) => sdk.getLinkStatus(ecosystem));
    return call.print.during("asking", asking);
  });
  return { DeviceId: String(deviceId), ...status };
}

/** Calls of the adaptor are for one user. */
async function asUser<Result>(call: Call, work: (api: Api) => Promise<Result>): Promise<Result> {
  const entering = serviceOf(call, { "as-user": true });
  return withCleanUp(
    async () => work(await entering),
    async () => (await entering.catch(() => undefined))?.revokeTokens(),
  );
}

const remove: OwnCommand = {
  name: "link remove",
  meaning: "disconnect a user: removes the virtual device with its alerts and history, and revokes the token",
  examples: ["link remove --user 3"],
  options: withUserOptions,
  async run(call) {
    const ecosystem = ecosystemName(call);
    const { deviceId, ...unlinked } = await asUser(call, (api) => {
      const unlinking = api.asUser((sdk) => sdk.unlink(ecosystem), { isWrite: true });
      return call.print.during("disconnecting", unlinking);
    });
    call.print.data({ DeviceId: String(deviceId), ...unlinked }, (one) => {
      const doubt = one.tokenRevoked
        ? ""
        : " The token could not be revoked at the ecosystem; the service has removed it.";
      return `Disconnected from ${ecosystem}; device ${one.DeviceId} was removed.${doubt}`;
    });
  },
};

export const link: Noun = {
  name: "link",
  alias: "links",
  meaning: "users' accounts in home ecosystems",
  commands: [add, page, listLinks, show, remove, findLinks, countLinks],
};
