import { jsonAnswer } from "../../http/answer/answer.ts";
import type { Route } from "../../http/routes.ts";
import { type UserReading, unknownUser } from "../../identity/user-reading.ts";
import { parseId, type UserId } from "../../model/ids.ts";
import type { Cursors } from "./cursor.ts";
import { getUser, listUsers } from "./user-descriptions.ts";
import { singleValue } from "./v3-parameters.ts";

export interface UserRouteParts {
  readonly users: UserReading;
  readonly cursors: { readonly users: Cursors<number> };
}

/** Users (docs/interface.md, Users and devices). */
export function userRoutes({ users, cursors }: UserRouteParts): readonly Route[] {
  return [
    {
      methods: ["GET"],
      path: "/v3/users",
      access: "bearer",
      errors: "standard",
      scopes: ["devices:read"],
      description: listUsers,
      async answer(incoming, caller) {
        const cursor = singleValue(incoming, "cursor");
        const afterId = cursor === undefined ? 0 : cursors.users.read(caller, cursor);
        const { ids, nextAfterId } = await users.usersOf(caller, afterId);
        // The answer is a list of integers, so that the cursor must be in a header (RFC 8288).
        const next = nextAfterId && cursors.users.write(caller, nextAfterId);
        return jsonAnswer(200, ids, next ? { link: `</v3/users?cursor=${next}>; rel="next"` } : {});
      },
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
