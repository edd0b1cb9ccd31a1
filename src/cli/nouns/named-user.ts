import type { Identity } from "../../identity/identity.ts";
import type { User } from "../../identity/users.ts";
import { BadParameter, NotFound } from "../../model/errors.ts";
import { parseId, type UserId } from "../../model/ids.ts";
import { type Input, optional, text } from "../input.ts";
import { chosenTenant } from "./tenant-option.ts";

export const namedUserArgument = {
  name: "user",
  meaning: "the user's id, or a name that only one user has; see: breezeway user list",
};

/** The user with the typed id or with the typed name, if only one user of the tenants has it. */
export async function namedUser(identity: Identity, input: Input): Promise<User> {
  const typed = text(input, "user");
  const tenantId = await chosenTenant(identity, input);
  const ofTenant = tenantId === undefined ? "" : ` --tenant ${optional(input, "tenant")}`;
  const userId = parseId<UserId>(typed);
  if (userId !== undefined) {
    const user = await identity.findUser(userId);
    if (tenantId === undefined || user.tenantId === tenantId) return user;
    throw new NotFound(`User ${userId} belongs to another tenant. See: breezeway user list${ofTenant}`);
  }
  const tenantIds = tenantId === undefined ? undefined : [tenantId];
  const [only, another] = await identity.searchUsers({ tenantIds, name: typed, afterId: 0, limit: 2 });
  if (only && !another) return only;
  throw new BadParameter(
    "user",
    `${only ? "Several users have" : "No user has"} this name. Name the user by id: breezeway user list${ofTenant} shows the ids.`,
  );
}
