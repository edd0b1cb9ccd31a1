import { summaryOf } from "../client/answer-summary.ts";
import type { Answered } from "../client/deployment.ts";
import { claim } from "../outcome.ts";
import type { Row } from "../row.ts";

/** Ids are below 2^31 and never reused; the last one is nobody's. */
const absentId = "2147483647";

export const foreign: Row = {
  name: "foreign",
  group: "Users and devices",
  title: "Foreign looks like absent",
  proves: "Other people's devices, absent ones and malformed ids are one and the same 404, to read and to write.",
  isEssential: true,
  needs: [],
  after: ["exchange", "errors"],
  async run({ deployment, found, input }) {
    const { accessToken } = found.tokens!;
    const ids = [
      absentId,
      "not-a-number",
      ...(input.foreignDeviceId === undefined ? [] : [String(input.foreignDeviceId)]),
    ];
    const first = await deployment.v3(accessToken, `devices/${absentId}`);
    for (const id of ids) {
      for (const method of ["GET", "PUT"]) {
        const answer = await deployment.v3(
          accessToken,
          `devices/${id}`,
          method,
          method === "PUT" ? { verify: "1" } : undefined,
        );
        claim(answer.status === 404 && bodyOf(answer) === bodyOf(first), () => ({
          seen: `${method} of ${id === absentId ? "an absent device" : id === ids[2] ? "somebody else's device" : "a malformed id"} was ${summaryOf(answer)}, not the same 404 as any other.`,
          side: "service",
          next: "Stop: whoever asks learns what others have. Compare the running version with the one you meant to deploy.",
        }));
      }
    }
    const what = input.foreignDeviceId === undefined ? "Absent and malformed ids" : "Foreign, absent and malformed ids";
    return { seen: `${what} gave the same 404.` };
  },
};

const bodyOf = ({ json, text }: Answered) => (json ? JSON.stringify({ ...json, request_id: "" }) : text);
