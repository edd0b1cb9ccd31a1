import type { UserId } from "../../model/ids.ts";
import type { AdminAct } from "../admin-command.ts";
import { id, optional } from "../input.ts";
import { chosenTenant } from "./of-tenant.ts";

/** How all links stand, which only an administrator may see at once. */
export const linkFacts: AdminAct = {
  name: "link facts",
  async act({ identity, linksOf }, input) {
    const users =
      optional(input, "user") === undefined
        ? await identity.listUsers(await chosenTenant(identity, input))
        : [await identity.findUser(id<UserId>(input, "user"))];
    const links = [];
    for (const { userId, name } of users) {
      for (const { ecosystem, deviceId, state, reason, confirmedMs } of await linksOf(userId)) {
        links.push({ userId, userName: name, ecosystem, deviceId, state, reason, confirmedTime: confirmedMs });
      }
    }
    return { answer: { links } };
  },
};
