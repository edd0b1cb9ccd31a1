import { summaryOf } from "../client/answer-summary.ts";
import type { Answer } from "../client/deployment.ts";
import { ensure } from "../outcome.ts";
import type { Row } from "../row.ts";

export const fields: Row = {
  name: "fields",
  group: "Users and devices",
  title: "Bad input names its field",
  proves: "A 400 says in words which parameter is wrong, so that a developer need not guess.",
  isEssential: false,
  needs: [],
  after: ["exchange", "errors"],
  async run({ deployment, shared }) {
    const { accessToken } = shared.tokens!;
    const names = (what: string, answer: Answer, field: RegExp) => {
      ensure(answer.status === 400 && field.test(String(answer.json?.error_description)), () => ({
        seen: `${what} was answered with ${summaryOf(answer)}: "${answer.json?.error_description ?? ""}", which names no field.`,
        side: "service",
        next: "Compare the running version with the one you meant to deploy.",
      }));
    };
    names("A since that is no number", await deployment.v3(accessToken, "devices/1?since=yesterday"), /\bsince\b/);
    names("A body that is no object", await deployment.v3(accessToken, "devices/1", "PUT", []), /\b(body|object)\b/);
    names("An alert without a device", await deployment.v3(accessToken, "alerts", "POST", {}), /\bdeviceId\b/);
    return { seen: "since, the body and deviceId were each named." };
  },
};
