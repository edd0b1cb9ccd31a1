import type { Identity } from "../../identity/identity.ts";
import type { User } from "../../identity/users.ts";
import type { UserId } from "../../model/ids.ts";
import type { AdminCommand } from "../administration/admin-command.ts";
import { id } from "../input.ts";

export const userArgument = { name: "user", meaning: "the user's id; see: breezeway user list" };

/** Suspends a user, brings one back, or forgets failed sign-ins. */
export const userAccessCommands: readonly AdminCommand[] = [
  accessCommand(
    "suspend",
    "refuse a user's sign-ins and tokens on every node, within a second; nothing is deleted",
    "is suspended: sign-ins, tokens, streams, webhooks and assistants are refused. The home goes on.",
    (identity, userId) => identity.suspendUser(userId),
  ),
  accessCommand(
    "resume",
    "end the suspension of a user; all access works again",
    "is not suspended. All access works again.",
    (identity, userId) => identity.resumeUser(userId),
  ),
  accessCommand(
    "unlock",
    "forget failed sign-ins with a user's name, so that the user may try again at once",
    "is unlocked. Failed sign-ins with this name are forgotten.",
    (identity, userId) => identity.unlockUser(userId),
  ),
];

function accessCommand(
  verb: string,
  meaning: string,
  outcome: string,
  work: (identity: Identity, userId: UserId) => Promise<User>,
): AdminCommand {
  return {
    name: `user ${verb}`,
    meaning,
    examples: [`user ${verb} 3`],
    arguments: [userArgument],
    options: (command) => command.option("--user <id>", "the same, as an option"),
    async act({ identity }, input) {
      const { userId, tenantId } = await identity.findUser(id<UserId>(input, "user", "The user's id"));
      const { name, isSuspended } = await work(identity, userId);
      return { answer: { userId, name, suspended: isSuspended }, changed: { tenantId, userId } };
    },
    toText: ({ name }) => `User ${name} ${outcome}`,
  };
}
