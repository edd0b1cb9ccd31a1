import { summaryOf } from "../client/answer-summary.ts";
import { ensure } from "../outcome.ts";
import type { Row } from "../row.ts";

export const users: Row = {
  name: "users",
  group: "Users and devices",
  title: "The user is found",
  proves: "/v3/users is a list of integers with the user in it, and /v3/users/{id} describes that user.",
  isEssential: true,
  needs: [],
  after: ["exchange"],
  async run({ deployment, shared }) {
    const { accessToken } = shared.tokens!;
    const list = await deployment.v3(accessToken, "users");
    const ids: unknown = list.json;
    ensure(list.status === 200 && Array.isArray(ids) && ids.length > 0 && ids.every(Number.isInteger), () => ({
      seen: `GET /v3/users was ${summaryOf(list)}, not a list of integers.`,
      side: "service",
      next: "Look for the answer's request id in the service's log.",
    }));
    const user = await deployment.v3(accessToken, `users/${ids[0]}`);
    const { userId, userName, tenant, createdTime } = user.json ?? {};
    ensure(
      user.status === 200 && userId === ids[0] && [userName, tenant].every((text) => typeof text === "string"),
      () => ({
        seen: `GET /v3/users/${ids[0]} was ${summaryOf(user)}, not that user with userName and tenant.`,
        side: "service",
        next: "Look for the answer's request id in the service's log.",
      }),
    );
    shared.userId = ids[0];
    const since = Number.isInteger(createdTime) ? `, since ${new Date(createdTime).toISOString().slice(0, 10)}` : "";
    return { seen: `User ${userId} of ${tenant}${since}.` };
  },
};
