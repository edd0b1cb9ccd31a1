import { summaryOf } from "../client/answer-summary.ts";
import type { Answer } from "../client/deployment.ts";
import { ensure } from "../outcome.ts";
import type { Row } from "../row.ts";

/** The highest possible device id. Ids ascend, so no device has it. */
const absentId = "2147483647";

export const foreign: Row = {
  name: "foreign",
  group: "Users and devices",
  title: "Foreign devices look absent",
  proves:
    "Absent devices, malformed ids and, in a temporary tenant, a device of another user get the same 404, on read and write.",
  isEssential: true,
  needs: [],
  after: ["exchange", "errors"],
  async run({ deployment, shared, input }) {
    const { accessToken } = shared.tokens!;
    const ids = new Map([
      [absentId, "an absent device"],
      ["not-a-number", "a malformed id"],
    ]);
    if (input.foreignDeviceId !== undefined) ids.set(String(input.foreignDeviceId), "somebody else's device");
    const absent = await deployment.v3(accessToken, `devices/${absentId}`);
    for (const [id, what] of ids) {
      for (const method of ["GET", "PUT"]) {
        const answer = await deployment.v3(
          accessToken,
          `devices/${id}`,
          method,
          method === "PUT" ? { verify: "1" } : undefined,
        );
        ensure(answer.status === 404 && bodyOf(answer) === bodyOf(absent), () => ({
          seen: `${method} of ${what} was ${summaryOf(answer)}, not the 404 of an absent device.`,
          side: "service",
          next: "Do not use this version: a caller learns which devices other users have. Compare the running version with the one you meant to deploy.",
        }));
      }
    }
    const tried =
      input.foreignDeviceId === undefined ? "Absent and malformed ids" : "Foreign, absent and malformed ids";
    return { seen: `${tried} gave the same 404.` };
  },
};

const bodyOf = ({ json, text }: Answer) => (json ? JSON.stringify({ ...json, request_id: "" }) : text);
