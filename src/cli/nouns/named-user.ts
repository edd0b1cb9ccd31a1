import type { Identity } from "../../identity/identity.ts";
import type { User } from "../../identity/users.ts";
import { BadParameter } from "../../model/errors.ts";
import { parseId, type UserId } from "../../model/ids.ts";
import { type Input, optional, text } from "../input.ts";
import { chosenTenant } from "./tenant-option.ts";

export const namedUserArgument = {
  name: "user",
  meaning: "the user's id, or a name that only one user has; see: breezeway user list",
};

/** Names that contain the typed one and are looked through. */
const mostFound = 100;

/** The user with the typed id or with the typed name, if only one user of the tenants has it. */
export async function namedUser(identity: Identity, input: Input): Promise<User> {
  const typed = text(input, "user");
  const userId = parseId<UserId>(typed);
  if (userId !== undefined) return identity.findUser(userId);
  const tenantId = await chosenTenant(identity, input);
  const tenantIds = tenantId === undefined ? undefined : [tenantId];
  const found = await identity.searchUsers({ tenantIds, text: typed, afterId: 0, limit: mostFound });
  const [only, ...others] = found.filter(({ name }) => name === typed);
  if (only && others.length === 0 && found.length < mostFound) return only;
  const list = `breezeway user list${tenantId === undefined ? "" : ` --tenant ${optional(input, "tenant")}`}`;
  throw new BadParameter(
    "user",
    `${only ? "Several users have" : "No user has"} this name. Name the user by id: ${list} shows the ids.`,
  );
}
