import { BadParameter } from "../../../model/errors.ts";
import type { AdminCommand, Answer } from "../../administration/admin-command.ts";
import { text } from "../../input.ts";
import { table, whole } from "../../terminal/output.ts";
import { chosenTenant, withTenantOption } from "../tenant-option.ts";

const longestText = 200;

/** Things, own devices and alerts, for the search of the console too. */
export const findInHomes: AdminCommand = {
  name: "home find",
  meaning: "find things, devices and alerts by id, and things and own devices by a part of their name",
  examples: ["home find t_…", "home find 8", 'home find "Hall lamp" --tenant Acme'],
  arguments: [{ name: "text", meaning: "an id, or a part of a name" }],
  options: (command) => withTenantOption(command.option("--text <text>", "the same, as an option")),
  async act({ identity, homeSearch }, input) {
    const wanted = text(input, "text").trim();
    if (wanted === "" || wanted.length > longestText) {
      throw new BadParameter("text", `The text must have 1 to ${longestText} characters.`);
    }
    const tenantId = await chosenTenant(identity, input);
    const tenantIds = tenantId === undefined ? (await identity.listTenants()).map((one) => one.tenantId) : [tenantId];
    return { answer: await homeSearch.find(wanted, tenantIds) };
  },
  toText({ things, devices, alerts, hasMore, areAllCompared }: Answer, _typed, width) {
    const found: readonly (readonly [string, string, string, number])[] = [
      ...things.map((one: Answer) => ["thing", one.thingId, one.name ?? one.kind, one.userId]),
      ...devices.map((one: Answer) => ["device", String(one.deviceId), one.name, one.userId]),
      ...alerts.map((one: Answer) => ["alert", String(one.alertId), "-", one.userId]),
    ];
    const words = [
      ...(hasMore ? ["More things or devices have this name. Write more of it."] : []),
      ...(areAllCompared ? [] : ["Not all names were compared: there are too many. Narrow the search with --tenant."]),
    ];
    const more = words.length === 0 ? "" : `\n\n${words.join(" ")}`;
    if (found.length === 0) return `${areAllCompared ? "Nothing has this id or name." : "Nothing was found."}${more}`;
    return `${table(["KIND", whole("ID"), "NAME", "USER"], found, width)}${more}`;
  },
};
