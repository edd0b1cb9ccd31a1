import { summaryOf } from "../client/answer-summary.ts";
import { claim } from "../outcome.ts";
import type { Row } from "../row.ts";

export const users: Row = {
  name: "users",
  group: "Users and devices",
  title: "The user is found",
  proves: "/v3/users is a list of integers with the user in it, and /v3/users/{id} tells who that is.",
  isEssential: true,
  needs: [],
  after: ["exchange"],
  async run({ deployment, found }) {
    const { accessToken } = found.tokens!;
    const list = await deployment.v3(accessToken, "users");
    const ids: unknown = list.json;
    claim(list.status === 200 && Array.isArray(ids) && ids.length > 0 && ids.every(Number.isInteger), () => ({
      seen: `GET /v3/users was ${summaryOf(list)}, not a list of integers.`,
      side: "service",
      next: "Look for the answer's request id in the service's log.",
    }));
    const one = await deployment.v3(accessToken, `users/${ids[0]}`);
    const { userId, userName, tenant, createdTime } = one.json ?? {};
    claim(
      one.status === 200 && userId === ids[0] && [userName, tenant].every((text) => typeof text === "string"),
      () => ({
        seen: `GET /v3/users/${ids[0]} was ${summaryOf(one)}, not that user with userName and tenant.`,
        side: "service",
        next: "Look for the answer's request id in the service's log.",
      }),
    );
    found.userId = ids[0];
    const since = Number.isInteger(createdTime) ? `, since ${new Date(createdTime).toISOString().slice(0, 10)}` : "";
    return { seen: `User ${userId} of ${tenant}${since}.` };
  },
};
