import type { LinkSession } from "../../../../sdk/src/index.ts";
import type { UserId } from "../../../model/ids.ts";
import type { OwnCommand } from "../../command.ts";
import { dateAndTime } from "../../devices/times.ts";
import { ecosystemName } from "../../ecosystems.ts";
import { exitCodes } from "../../exit-codes.ts";
import { hasFlag, id, optional } from "../../input.ts";
import { serviceOf, withOwnerOptions } from "../../remote/chosen-service.ts";

/** A page on which the owner of an account links it. The command waits for the outcome. */
export const page: OwnCommand = {
  name: "link page",
  meaning: "make a page on which the account's owner connects it; prints its address, waits and tells the outcome",
  examples: ["link page --user 3", "link page --user 3 --renew", "link page --tenant Acme"],
  options: (command) =>
    withOwnerOptions(command)
      .option("--ecosystem <name>", "the ecosystem; may be left out when only one is configured")
      .option("--renew", "connect an existing link again"),
  async run(call) {
    const { typed, print } = call;
    const ecosystem = ecosystemName(call);
    const userId = optional(typed, "user") === undefined ? undefined : id<UserId>(typed, "user");
    const mode = hasFlag(typed, "renew") ? "renew" : "link";
    const api = await serviceOf(call, { keeps: true });
    const creating = api.write((sdk) => sdk.linkSession({ ecosystem, userId, mode }));
    const { id: sessionId, url, expiresTime } = await print.during("making the page", creating);
    const until = dateAndTime(expiresTime);
    print.words(
      `Open this address in the browser of the account's owner. It can be used once, until ${until}. Ctrl-C ends the waiting, not the page.\n\n  ${url}\n`,
    );
    const waiting = api.read((sdk) => sdk.waitForLinkSession(sessionId));
    const session = await print.during(`waiting until ${until} for the account's owner`, waiting);
    print.data(session, outcomeInWords);
    return session.status === "linked" ? exitCodes.ok : exitCodes.failed;
  },
};

function outcomeInWords({ status, deviceId, ecosystem, problem }: LinkSession): string {
  const reason = problem ? ` ${problem.description} (${problem.side})` : "";
  switch (status) {
    case "linked":
      return `Connected to ${ecosystem}: device ${deviceId}. See it with: breezeway device get ${deviceId}`;
    case "declined":
      return "The account's owner declined. Nothing was connected.";
    case "expired":
      return `The page has expired, and nothing was connected.${reason} Make another with: breezeway link page`;
    default:
      return `Nothing was connected.${reason}`;
  }
}
