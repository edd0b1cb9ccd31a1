import type { PageContext } from "../console-page.ts";
import type { Refused } from "../kit/refused.ts";
import type { ShownAlert } from "./shown-alert.ts";

/** The names of the editor's fields; all of them are in the address. */
export const draftFields = [
  "watch",
  "field",
  "attribute",
  "when",
  "value",
  "does",
  "action",
  "message",
  "set-device",
  "set-attribute",
  "set-value",
  "command",
  "manner",
] as const;

export type DraftField = (typeof draftFields)[number];

/** What a person has chosen and typed so far. */
export type Draft = Readonly<Record<DraftField, string>>;

const start: Partial<Draft> = { when: "equals", does: "tell", action: "notify", manner: "disarm" };

/** Beginnings of alerts, by their names in the address. */
const templates: Readonly<Record<string, Partial<Draft>>> = {
  away: {
    field: "presence.state",
    when: "regex",
    value: "away|autoAway",
    message: "Everybody has left.",
  },
  home: { field: "presence.state", when: "equals", value: "home", message: "Somebody is at home." },
};

/** The draft in the address. A template fills what the address leaves out. */
export function draftIn(context: PageContext, presenceThing: string | undefined): Draft {
  const template = templates[context.parameter("template") ?? ""];
  const watch = template && presenceThing !== undefined ? { watch: presenceThing } : {};
  return filledDraft(context, { ...start, ...template, ...watch });
}

/** The draft in the address. A stored alert fills what the address leaves out. */
export function draftOf(context: PageContext, alert: ShownAlert): Draft {
  const [target] = alert.targets;
  const [command = ""] = alert.commandOptions;
  const manner = alert.autoDelete ? "delete" : alert.autoDisable ? "disable" : alert.autoDisarm ? "disarm" : "every";
  return filledDraft(context, {
    ...(alert.thingId === undefined
      ? { watch: `device:${alert.deviceId}`, attribute: alert.attrName ?? "" }
      : { watch: alert.thingId, field: alert.field ?? "" }),
    when: alert.operation,
    value: alert.value,
    does: target ? "set" : command === "" ? "tell" : "command",
    action: target || command !== "" ? "notify" : alert.action,
    message: alert.msg,
    ...(target && {
      "set-device": String(target.deviceId),
      "set-attribute": target.attrName,
      "set-value": target.value,
    }),
    command,
    manner,
  });
}

/** The form has room for one act, whose name follows from it. */
export function fitsForm({ targets, commandOptions, action }: ShownAlert): boolean {
  if (targets.length + commandOptions.length > 1) return false;
  if (targets.length === 1) return action === "attribute";
  return commandOptions.length === 0 || action === "command";
}

function filledDraft({ parameter }: PageContext, otherwise: Partial<Draft>): Draft {
  const entries = draftFields.map((name) => [name, parameter(name) ?? otherwise[name] ?? ""] as const);
  return Object.fromEntries(entries) as unknown as Draft;
}

/** The device that a draft watches; undefined when it watches a thing. */
export function deviceIn({ watch }: Draft): string | undefined {
  return /^device:(\d+)$/.exec(watch)?.[1];
}

/** The options of `home alert add`, or what is still missing. */
export function optionsOf(draft: Draft): { readonly options: Options } | { readonly refused: Refused } {
  const missing = missingIn(draft);
  if (missing) return { refused: missing };
  const device = deviceIn(draft);
  const watched: Options =
    device === undefined ? { thing: draft.watch, field: draft.field } : { device, attribute: draft.attribute };
  return {
    options: {
      ...watched,
      when: draft.when,
      value: draft.value,
      ...actsOf(draft),
      ...(draft.message !== "" && { message: draft.message }),
      ...(manners[draft.manner] !== undefined && { [manners[draft.manner]!]: "true" }),
    },
  };
}

export type Options = Readonly<Record<string, string>>;

/** The flag of each way to go on after a firing; `every` has none. */
const manners: Readonly<Record<string, string>> = {
  disarm: "auto-disarm",
  disable: "auto-disable",
  delete: "auto-delete",
};

function actsOf(draft: Draft): Options {
  if (draft.does === "set") {
    return { set: `${draft["set-device"]},${draft["set-attribute"]}=${draft["set-value"]}` };
  }
  return draft.does === "command" ? { command: draft.command } : { action: draft.action };
}

/** The first field without which there is no alert. */
function missingIn(draft: Draft): Refused | undefined {
  const isOnDevice = deviceIn(draft) !== undefined;
  const needed: readonly (readonly [DraftField, string])[] = [
    ["watch", "Choose what the alert watches."],
    isOnDevice ? ["attribute", "Name the attribute."] : ["field", "Choose a field of the thing."],
    ["value", "Say with which value it is compared."],
    ...(draft.does === "set"
      ? ([
          ["set-device", "Choose the device that is written."],
          ["set-attribute", "Name the attribute that is written."],
        ] as const)
      : draft.does === "command"
        ? ([["command", "Choose a command."]] as const)
        : ([["action", "Give the firing a name, such as notify."]] as const)),
  ];
  const first = needed.find(([name]) => draft[name] === "");
  return first && { option: first[0], sentence: first[1] };
}

/** The field of the editor beside which a refusal of the service is shown; undefined for none. */
export function fieldOf({ option = "" }: Refused): DraftField | undefined {
  if (draftFields.some((name) => name === option)) return option as DraftField;
  return byParameter[option];
}

const byParameter: Readonly<Record<string, DraftField>> = {
  thing: "watch",
  thingId: "watch",
  device: "watch",
  deviceId: "watch",
  operation: "when",
  threshold: "value",
  stringThreshold: "value",
  msg: "message",
  set: "set-attribute",
  targetDeviceAttributes: "set-attribute",
  commands: "command",
};
