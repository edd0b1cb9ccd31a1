import { summaryOf } from "../client/answer-summary.ts";
import { deleteLink, federate, linkedDevice } from "../client/linked-account.ts";
import { ensure, NotRun } from "../outcome.ts";
import type { Row } from "../row.ts";

export const link: Row = {
  name: "link",
  group: "The linked account",
  title: "Linking fills the device",
  proves: "POST federatedtokens answers the virtual device's id, and its attributes are there at once.",
  isEssential: true,
  needs: [],
  after: ["unlinked", "exchange"],
  async run(context) {
    const { shared, input } = context;
    const answer = await federate(context, "POST");
    const code = answer.json?.errorCode;
    if ((code === 121 || code === 122) && input.simulator!.isAssumed) {
      throw new NotRun(
        `The service does not use the simulator at ${input.simulator!.url} (errorCode ${code}).`,
        "Give --simulator with the address that the service's ecosystem points to.",
      );
    }
    ensure(answer.status === 200 && /^[0-9]+$/.test(String(answer.json?.DeviceId)), () => ({
      seen: `POST federatedtokens was ${summaryOf(answer)}, not a DeviceId.`,
      side: code === 121 || code === 122 ? "client" : "service",
      next:
        code === 121 || code === 122
          ? `Let BREEZEWAY_ECOSYSTEMS of the service point to the simulator at ${input.simulator!.url}.`
          : "Look for the call in the service's log.",
    }));
    context.afterAllRows(() => deleteLink(context));
    ensure(typeof answer.json.DeviceId === "string", () => ({
      seen: "DeviceId is a number, not a text as the interface has it.",
      side: "between",
      next: "Pass the adaptor's JSON on unchanged.",
    }));
    shared.linkedId = Number(answer.json.DeviceId);
    const { attributes } = await linkedDevice(context);
    ensure(attributes["o.totalStructures"]?.value === 1, () => ({
      seen: "The virtual device had no structure when POST federatedtokens was answered.",
      side: "service",
      next: "Check whether /v3 and the adaptor are answered by nodes with the same store.",
    }));
    return { seen: `Virtual device ${shared.linkedId}, with ${Object.keys(attributes).length} attributes at once.` };
  },
};
