import { jsonAnswer } from "../../http/answer/answer.ts";
import type { Route } from "../../http/routes.ts";
import { type UserReading, unknownUser } from "../../identity/user-reading.ts";
import { parseId, type UserId } from "../../model/ids.ts";
import { getUser, listUsers } from "./user-descriptions.ts";

/** Users (docs/interface.md, Users and devices). */
export function userRoutes(users: UserReading): readonly Route[] {
  return [
    {
      methods: ["GET"],
      path: "/v3/users",
      access: "bearer",
      errors: "standard",
      scopes: ["devices:read"],
      description: listUsers,
      answer: async (_incoming, caller) => jsonAnswer(200, await users.usersOf(caller)),
    },
    {
      methods: ["GET"],
      path: "/v3/users/:userId",
      access: "bearer",
      errors: "standard",
      scopes: ["devices:read"],
      description: getUser,
      async answer({ pathParameters }, caller) {
        const id = parseId<UserId>(pathParameters.userId ?? "");
        if (id === undefined) throw unknownUser();
        const { userId, userName, tenantName, createdMs } = await users.userOf(caller, id);
        return jsonAnswer(200, { userId, userName, tenant: tenantName, createdTime: createdMs });
      },
    },
  ];
}
