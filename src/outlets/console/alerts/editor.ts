import { readFieldName } from "../../../home/field-names.ts";
import { type Html, html } from "../../../web/html.ts";
import { hiddenFields } from "../../../web/page.ts";
import type { PageContext } from "../console-page.ts";
import { type Refused, refusal } from "../kit/refused.ts";
import type { ShownThing } from "../tiles/shown-thing.ts";
import { type Draft, type DraftField, deviceIn, fieldOf } from "./draft.ts";
import { commandsOf, typedCommand } from "./thing-commands.ts";

/** What a user has that alerts can watch and change. */
export interface UserHome {
  readonly userId: number;
  readonly things: readonly ShownThing[];
  readonly devices: readonly { readonly deviceId: number; readonly deviceName: string }[];
  /** Attributes of the watched device. */
  readonly attributes: readonly string[];
}

/** The page of the form. An alert that is changed stays with what it watches. */
export interface EditorPlace {
  readonly path: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly isMade: boolean;
}

/** `said`: its words in the sentence, when they differ. */
type Choice = readonly [value: string, words: string, said?: string];

const comparisons: readonly Choice[] = [
  ["equals", "is"],
  [">", "rises above"],
  [">=", "reaches"],
  ["<", "falls below"],
  ["<=", "is at most"],
  ["==", "equals the number"],
  ["regex", "matches the pattern"],
];

const manners: readonly Choice[] = [
  ["disarm", "it waits until the condition has been false"],
  ["every", "it fires again at every change that leaves the condition true"],
  ["disable", "it is disabled"],
  ["delete", "it is deleted"],
];

/** The form in which an alert is written as a sentence. It works without a script; all of it is in the address. */
export function editorForm(
  context: PageContext,
  { path, fields: hidden, isMade }: EditorPlace,
  home: UserHome,
  draft: Draft,
  refused: Refused | undefined,
): Html {
  const { tenant, parameter } = context;
  const kept = parameter("tenant") !== undefined && tenant !== undefined ? { tenant: String(tenant.tenantId) } : {};
  const field = fields(draft, refused);
  const isOnDevice = deviceIn(draft) !== undefined;
  const watched = home.things.find(({ thingId }) => thingId === draft.watch);
  const subjects = watchable(home);
  const choices: readonly Choice[] = isMade
    ? subjects.filter(([value]) => value === draft.watch)
    : [["", "choose …"], ...subjects];
  // A command that is not in the list, such as one to a thing that is gone, stays what it is until another is chosen.
  const commands = commandChoices(home);
  const present: readonly Choice[] =
    draft.command === "" || commands.some(([value]) => value === draft.command) ? [] : [[draft.command, draft.command]];
  return html`<form class="sentence" method="get" action="/console${path}" data-sentence>
${hiddenFields({ ...hidden, ...kept })}
<fieldset><legend>When</legend>
<div class="words">
${field.select("watch", "What", choices, { says: "When %", chooses: "choose" })}
<button class="quiet" id="choose" name="choose" value="1">Choose</button>
${
  isOnDevice
    ? field.input("attribute", "Attribute", { says: "%", list: home.attributes })
    : field.select("field", "Field", fieldsOf(watched), { says: "%", chooses: "choose" })
}
${field.select("when", "Comparison", comparisons, { says: "%" })}
${field.input("value", "Value", { says: "“%”,", list: valuesFor(draft.field, isOnDevice) })}
</div></fieldset>
<fieldset><legend>Then</legend>
${field.choice("tell", "Tell webhooks and event streams", html`${field.input("action", "Name of the event", { says: "tell %" })}${field.input("message", "Message", {})}`)}
${field.choice(
  "set",
  "Set an attribute of a device",
  html`${field.select("set-device", "Device", deviceChoices(home), { says: "set %" })}
${field.input("set-attribute", "Attribute", { says: "%" })}
${field.input("set-value", "Value", { says: "to “%”", hint: "Empty: the attribute becomes blank." })}`,
)}
${field.choice("command", "Send a command to a thing", field.select("command", "Command", [["", "choose …"], ...present, ...commands], { says: "send “%”" }))}
</fieldset>
<fieldset><legend>After a firing</legend>
${field.select("manner", "What happens to the alert", manners, {})}
</fieldset>
<output class="live-sentence"></output>
<p class="asks"><button name="check" value="1">Check it</button></p>
</form>`;
}

/** Builds fields with their labels, their present values and, beside the wrong one, what is wrong. */
function fields(draft: Draft, refused: Refused | undefined) {
  const wrong = refused && fieldOf(refused);
  const idOf = (name: DraftField) => `alert-${name}`;
  const attributes = (name: DraftField, says: string | undefined) =>
    html` id="${idOf(name)}" name="${name}"${says === undefined ? undefined : html` data-says="${says}"`}${
      wrong === name ? html` aria-invalid="true" aria-describedby="${idOf(name)}-wrong"` : undefined
    }`;
  const framed = (name: DraftField, label: string, content: Html) =>
    html`<div class="field"><label for="${idOf(name)}">${label}</label>${content}${
      refused && wrong === name ? refusal(refused, `${idOf(name)}-wrong`) : undefined
    }</div>`;
  return {
    select: (
      name: DraftField,
      label: string,
      choices: readonly Choice[],
      { says, chooses }: { readonly says?: string; readonly chooses?: string },
    ) =>
      framed(
        name,
        label,
        html`<select${attributes(name, says)}${chooses === undefined ? undefined : html` data-chooses="${chooses}"`}>${choices.map(
          ([value, words, said]) =>
            html`<option value="${value}"${said === undefined ? undefined : html` data-said="${said}"`}${
              value === draft[name] ? html` selected` : undefined
            }>${words}</option>`,
        )}</select>`,
      ),
    input: (
      name: DraftField,
      label: string,
      { says, list = [], hint }: { readonly says?: string; readonly list?: readonly string[]; readonly hint?: string },
    ) =>
      framed(
        name,
        label,
        html`<input${attributes(name, says)} value="${draft[name]}" maxlength="2048" autocomplete="off" spellcheck="false"${
          list.length > 0 ? html` list="${idOf(name)}-list"` : undefined
        }>${list.length > 0 ? html`<datalist id="${idOf(name)}-list">${list.map((one) => html`<option value="${one}"></option>`)}</datalist>` : undefined}${
          hint === undefined ? undefined : html`<p class="small">${hint}</p>`
        }`,
      ),
    /** One of the things that a firing can do; its fields are visible while it is chosen. */
    choice: (value: string, words: string, content: Html) =>
      html`<div class="then"><label><input type="radio" name="does" value="${value}"${
        draft.does === value ? html` checked` : undefined
      }> ${words}</label><div class="more">${content}</div></div>`,
  };
}

/** Things first, then devices, whose attributes can be watched by name. */
function watchable({ things, devices }: UserHome): readonly Choice[] {
  return [
    ...things.map((thing): Choice => [thing.thingId, thingWords(thing)]),
    ...devices.map(({ deviceId, deviceName }): Choice => [`device:${deviceId}`, `${deviceName} (device ${deviceId})`]),
  ];
}

export function thingWords({ name, room, kind, homeName }: ShownThing): string {
  const called = name ?? kind;
  const places = [room, homeName].filter((place) => place !== null && !called.startsWith(place));
  return [called, ...places].join(", ");
}

/** The fields of a thing, with their present values. */
function fieldsOf(thing: ShownThing | undefined): readonly Choice[] {
  if (!thing) return [["", "choose a thing first"]];
  return Object.entries(thing.traits).flatMap(([trait, { state }]) =>
    Object.entries(state).map(([field, fieldState]): Choice => {
      const name = `${trait}.${field}`;
      return [name, `${name} (now ${fieldState?.value ?? "unknown"})`, name];
    }),
  );
}

/** The values that a field can have, where there are few. */
function valuesFor(field: string, isOnDevice: boolean): readonly string[] {
  const value = isOnDevice ? undefined : readFieldName(field)?.value;
  if (value?.type === "boolean") return ["true", "false"];
  return value?.type === "enum" ? value.values : [];
}

function deviceChoices({ devices }: UserHome): readonly Choice[] {
  return [["", "choose …"], ...devices.map(({ deviceId, deviceName }): Choice => [String(deviceId), deviceName])];
}

/** Commands to each thing, and to all lights and all switches. */
function commandChoices({ things }: UserHome): readonly Choice[] {
  const kinds = [...new Set(things.filter(({ traits }) => traits.onOff).map(({ kind }) => kind))];
  const toAll = kinds.flatMap((kind) =>
    [true, false].map((on): Choice => [`${kind}: onOff set on=${on}`, `every ${kind}: Switch ${on ? "on" : "off"}`]),
  );
  const toOne = things.flatMap((thing) =>
    commandsOf(thing).map(
      (command): Choice => [`${thing.thingId}: ${typedCommand(command)}`, `${thingWords(thing)}: ${command.words}`],
    ),
  );
  return [...toOne, ...toAll];
}
