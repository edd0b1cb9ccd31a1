import { summaryOf } from "../client/answer-summary.ts";
import { deleteLink, federate, isLinked } from "../client/linked-account.ts";
import { ensure, NotRun } from "../outcome.ts";
import type { Row } from "../row.ts";

export const unlinked: Row = {
  name: "unlinked",
  group: "The linked account",
  title: "PUT before linking is 119",
  proves: "An SDK that replaces a token of a user who isn't linked gets 119, and repeats the call as a POST.",
  isEssential: true,
  needs: ["simulator"],
  after: ["sign-in"],
  async run(context) {
    const { simulator, shared, secrets, input } = context;
    if (await isLinked(context)) {
      throw new NotRun("The user is linked already, and verify leaves links alone.", "Give a user without a link.");
    }
    const account = await simulator!.addAccount();
    secrets.keep(account.token);
    context.afterAllRows(() => simulator!.removeAccount(account.id));
    shared.account = account;
    const answer = await federate(context, "PUT");
    // A defective service may have linked the user.
    if (answer.status === 200) context.afterAllRows(() => deleteLink(context));
    ensure(answer.status === 404 && answer.json?.errorCode === 119, () => ({
      seen: `PUT federatedtokens of a user who isn't linked was ${summaryOf(answer)}, not 404 with errorCode 119.`,
      side: answer.json?.errorCode === 120 ? "client" : "between",
      next:
        answer.json?.errorCode === 120
          ? `The service knows no ecosystem ${input.ecosystem}; give --ecosystem.`
          : "Pass the adaptor's errors on unchanged: SDKs act on errorCode.",
    }));
    return { seen: "Refused with 404 and errorCode 119." };
  },
};
