import { BadParameter } from "../../model/errors.ts";
import type { TenantId, UserId } from "../../model/ids.ts";
import { type Input, id, texts } from "../input.ts";
import type { AdminAct } from "./admin-command.ts";

/** Ids of each kind in one call. */
const most = 1_000;

/** The names that a list of ids needs, for pages and files of the console. */
export const namesAct: AdminAct = {
  name: "names",
  async act({ operators }, input) {
    const userIds = wanted(input, "user").map((one) => id<UserId>({ user: one }, "user", "user"));
    const tenantIds = wanted(input, "tenant").map((one) => id<TenantId>({ tenant: one }, "tenant", "tenant"));
    return { answer: await operators.namesOf({ userIds, clientIds: wanted(input, "client"), tenantIds }) };
  },
};

function wanted(input: Input, name: string): readonly string[] {
  const ids = texts(input, name);
  if (ids.length > most) throw new BadParameter(name, `${name} may have at most ${most} ids.`);
  return ids;
}
