import { templateNames, traitMapTemplates } from "../../../home/trait-map-templates.ts";
import { BadParameter } from "../../../model/errors.ts";
import type { AdminCommand } from "../../administration/admin-command.ts";
import { readFileText } from "../../file-argument.ts";
import { optional, text } from "../../input.ts";
import type { Noun } from "../../noun.ts";
import { table } from "../../terminal/output.ts";

const typeArgument = { name: "type", meaning: "the name of the device type" };
const named = "--tenant <name or id>";
const tenantMeaning = "the tenant; see: breezeway tenant list";

const set: AdminCommand = {
  name: "device-type set",
  meaning: "set the trait map of a device type, so that its devices are things",
  examples: [
    "device-type set Lamp --tenant Acme --template lamp",
    "device-type set Valve --tenant Acme --file valve.json",
  ],
  arguments: [typeArgument],
  options: (command) =>
    command
      .requiredOption(named, tenantMeaning)
      .option("--file <file>", "the trait map as JSON")
      .addOption(command.createOption("--template <name>", "a ready-made map").choices(templateNames)),
  extraInput: (typed) => (typed.file === undefined ? {} : { file: readFileText("file", text(typed, "file")) }),
  async act({ identity, deviceTypes }, input) {
    const { tenantId } = await identity.findTenant(text(input, "tenant"));
    const { name, map, changedMs } = await deviceTypes.set(tenantId, text(input, "type"), mapOf(input));
    return { answer: { tenantId, name, map, changedMs }, changed: { tenantId, detail: { type: name } } };
  },
  toText: ({ name }) => `Set the trait map of ${name}. Its devices are things now; see: breezeway thing list`,
};

function mapOf(input: Parameters<AdminCommand["act"]>[1]): unknown {
  const [file, template] = [optional(input, "file"), optional(input, "template")];
  if ((file === undefined) === (template === undefined)) {
    throw new BadParameter("file", "Give either --file or --template.");
  }
  if (template !== undefined) {
    const name = templateNames.find((one) => one === template);
    if (!name) throw new BadParameter("template", `The template must be one of: ${templateNames.join(", ")}.`);
    return traitMapTemplates[name];
  }
  try {
    return JSON.parse(file!);
  } catch {
    throw new BadParameter("file", "The file must hold the trait map as JSON. Check it with a JSON formatter.");
  }
}

const list: AdminCommand = {
  name: "device-type list",
  meaning: "list the device types of a tenant that have a trait map",
  examples: ["device-type list --tenant Acme"],
  options: (command) => command.requiredOption(named, tenantMeaning),
  async act({ identity, deviceTypes }, input) {
    const { tenantId } = await identity.findTenant(text(input, "tenant"));
    return { answer: { deviceTypes: await deviceTypes.list(tenantId) } };
  },
  toText({ deviceTypes }, _typed, width) {
    if (deviceTypes.length === 0) return "There are no trait maps. See: breezeway device-type set --help";
    return table(
      ["TYPE", "KIND", "TRAITS"],
      (deviceTypes as { name: string; map: { kind: string; traits: object } }[]).map(({ name, map }) => [
        name,
        map.kind,
        Object.keys(map.traits).join(", "),
      ]),
      width,
    );
  },
};

const show: AdminCommand = {
  name: "device-type show",
  meaning: "show the trait map of a device type as JSON",
  examples: ["device-type show Lamp --tenant Acme"],
  arguments: [typeArgument],
  options: (command) => command.requiredOption(named, tenantMeaning),
  async act({ identity, deviceTypes }, input) {
    const { tenantId } = await identity.findTenant(text(input, "tenant"));
    return { answer: await deviceTypes.get(tenantId, text(input, "type")) };
  },
  toText: ({ map }) => JSON.stringify(map, null, 2),
};

const templates: AdminCommand = {
  name: "device-type templates",
  meaning: "show the ready-made trait maps",
  examples: ["device-type templates", "device-type templates --json"],
  act: async () => ({ answer: { templates: traitMapTemplates } }),
  toText: (answer) =>
    Object.entries(answer.templates)
      .map(([name, map]) => `${name}\n${JSON.stringify(map, null, 2)}`)
      .join("\n\n"),
};

const remove: AdminCommand = {
  name: "device-type remove",
  meaning: "remove the trait map of a device type; its devices stay, and are no longer things",
  examples: ["device-type remove Lamp --tenant Acme"],
  arguments: [typeArgument],
  options: (command) => command.requiredOption(named, tenantMeaning),
  async act({ identity, deviceTypes }, input) {
    const { tenantId } = await identity.findTenant(text(input, "tenant"));
    const name = text(input, "type");
    await deviceTypes.remove(tenantId, name);
    return { answer: { tenantId, name }, changed: { tenantId, detail: { type: name } } };
  },
  toText: ({ name }) => `Removed the trait map of ${name}.`,
};

export const deviceType: Noun = {
  name: "device-type",
  alias: "device-types",
  meaning: "trait maps: how the attributes of a company's own devices become things",
  commands: [set, list, show, templates, remove],
};
