import { summaryOf } from "../client/answer-summary.ts";
import { federate } from "../client/linked-account.ts";
import { ensure } from "../outcome.ts";
import type { Row } from "../row.ts";

export const linkedAgain: Row = {
  name: "linked-again",
  group: "The linked account",
  title: "POST after linking is 118",
  proves: "An SDK that links a linked user gets 118, and its PUT keeps the same virtual device.",
  isEssential: true,
  needs: [],
  after: ["link"],
  async run(context) {
    const again = await federate(context, "POST");
    ensure(again.status === 409 && again.json?.errorCode === 118, () => ({
      seen: `POST federatedtokens of a linked user was ${summaryOf(again)}, not 409 with errorCode 118.`,
      side: "between",
      next: "Pass the adaptor's errors on unchanged: an SDK that gets no 118 never tries its PUT.",
    }));
    const put = await federate(context, "PUT");
    ensure(put.status === 200 && put.json?.DeviceId === String(context.shared.linkedId), () => ({
      seen: `PUT federatedtokens was ${summaryOf(put)}${put.json?.DeviceId ? ` with device ${put.json.DeviceId}` : ""}, not 200 with the same DeviceId.`,
      side: "service",
      next: "Look for the call in the service's log.",
    }));
    return { seen: "Refused with 409 and errorCode 118; PUT kept the device." };
  },
};
