import { summaryOf } from "../client/answer-summary.ts";
import type { Answer } from "../client/deployment.ts";
import { ensure } from "../outcome.ts";
import type { Row } from "../row.ts";

/** Ids are below 2^31 and ascending: no device has the last one. */
const absentId = "2147483647";

export const foreign: Row = {
  name: "foreign",
  group: "Users and devices",
  title: "Foreign devices look absent",
  proves: "Devices of other users, absent devices and malformed ids get the same 404, on read and write.",
  isEssential: true,
  needs: [],
  after: ["exchange", "errors"],
  async run({ deployment, shared, input }) {
    const { accessToken } = shared.tokens!;
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
        ensure(answer.status === 404 && bodyOf(answer) === bodyOf(first), () => ({
          seen: `${method} of ${id === absentId ? "an absent device" : id === ids[2] ? "somebody else's device" : "a malformed id"} was ${summaryOf(answer)}, not the 404 of an absent device.`,
          side: "service",
          next: "Do not use this version: a caller learns which devices other users have. Compare the running version with the one you meant to deploy.",
        }));
      }
    }
    const what = input.foreignDeviceId === undefined ? "Absent and malformed ids" : "Foreign, absent and malformed ids";
    return { seen: `${what} gave the same 404.` };
  },
};

const bodyOf = ({ json, text }: Answer) => (json ? JSON.stringify({ ...json, request_id: "" }) : text);
