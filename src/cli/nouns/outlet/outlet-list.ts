import type { AdminCommand } from "../../administration/admin-command.ts";
import { table, whole } from "../../terminal/output.ts";
import { chosenTenant, tenantNames, withTenantOption } from "../tenant-option.ts";
import { shownOutlet } from "./outlet-argument.ts";
import { directiveInShort, errorsInWords, lagInWords, type ShownHealth, shownHealth } from "./outlet-health.ts";

export const listOutlets: AdminCommand = {
  name: "outlet list",
  meaning: "list outlets to voice assistants",
  examples: ["outlet list", "outlet list --tenant Acme"],
  options: withTenantOption,
  async act({ identity, assistants }, input) {
    const found = await assistants.outlets.list(await chosenTenant(identity, input));
    const names = await tenantNames(identity);
    const health = await assistants.health(found.map(({ id }) => id));
    const outlets = await Promise.all(
      found.map(async (outlet, at) => ({
        ...shownOutlet(outlet, names.get(outlet.tenantId)),
        users: await assistants.grants.countOfOutlet(outlet.id),
        ...shownHealth(health[at]!),
      })),
    );
    return { answer: { outlets } };
  },
  toText({ outlets }, _typed, width) {
    if (outlets.length === 0) return "There are no outlets yet. See: breezeway outlet add --help";
    return table(
      [whole("OUTLET"), whole("KIND"), "TENANT", "USERS", "DIRECTIVE", "LAG", "ERRORS"],
      (outlets as (ReturnType<typeof shownOutlet> & ShownHealth & { users: number })[]).map((one) => [
        one.outlet,
        one.kind,
        one.tenant,
        String(one.users),
        directiveInShort(one),
        lagInWords(one),
        errorsInWords(one),
      ]),
      width,
    );
  },
};
