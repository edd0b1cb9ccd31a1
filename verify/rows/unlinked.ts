import { federate, isLinked } from "../linked-account.ts";
import { claim, NotRun } from "../outcome.ts";
import type { Row } from "../row.ts";
import { told } from "../told.ts";

export const unlinked: Row = {
  name: "unlinked",
  group: "The linked account",
  title: "PUT before linking is 119",
  proves: "An SDK that replaces a token of a user who isn't linked hears 119, and repeats the call as a POST.",
  isEssential: true,
  needs: ["simulator"],
  after: ["sign-in"],
  async run(verification) {
    const { simulator, found, secrets, given } = verification;
    if (await isLinked(verification)) {
      throw new NotRun("The user is linked already, and verify leaves links alone.", "Give a user without a link.");
    }
    const account = await simulator!.addAccount();
    secrets.keep(account.token);
    verification.inTheEnd(() => simulator!.removeAccount(account.id));
    found.account = account;
    const answer = await federate(verification, "PUT");
    claim(answer.status === 404 && answer.json?.errorCode === 119, () => ({
      seen: `PUT federatedtokens of a user who isn't linked was ${told(answer)}, not 404 with errorCode 119.`,
      side: answer.json?.errorCode === 120 ? "client" : "between",
      next:
        answer.json?.errorCode === 120
          ? `The service knows no ecosystem ${given.ecosystem}; give --ecosystem.`
          : "Let the adaptor's errors through as they are: SDKs act on errorCode.",
    }));
    return { seen: "Refused with 404 and errorCode 119." };
  },
};
