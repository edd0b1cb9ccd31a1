import { summaryOf } from "../client/answer-summary.ts";
import { deleteLink } from "../client/linked-account.ts";
import { ensure } from "../outcome.ts";
import type { Row } from "../row.ts";

export const unlink: Row = {
  name: "unlink",
  group: "The linked account",
  title: "Unlinking removes everything",
  proves: "DELETE federatedtokens removes the virtual device, and ends the token at the ecosystem.",
  isEssential: false,
  needs: [],
  after: ["link"],
  unless: ["write", "foreign"],
  async run(context) {
    const { deployment, shared } = context;
    const answer = await deleteLink(context);
    ensure(answer.status === 200, () => ({
      seen: `DELETE federatedtokens was ${summaryOf(answer)}, not 200.`,
      side: "between",
      next: "Pass DELETE on; else look for the call in the service's log.",
    }));
    const gone = await deployment.v3(shared.tokens!.accessToken, `devices/${shared.linkedId}`);
    ensure(gone.status === 404, () => ({
      seen: `After unlinking, the virtual device was answered with ${summaryOf(gone)}, not 404.`,
      side: "between",
      next: "No proxy may cache answers of /v3.",
    }));
    if (answer.json?.tokenRevoked !== true) {
      return {
        seen: "The device is gone, but the token could not be ended at the ecosystem.",
        next: "Check whether the service reaches the ecosystem's token address.",
      };
    }
    return { seen: "The device is gone, and the token has ended at the ecosystem." };
  },
};
