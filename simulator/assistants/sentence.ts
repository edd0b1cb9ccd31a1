/** The modes of a thermostat that can be spoken. */
export const spokenModes = ["heat", "cool", "auto", "eco", "off"] as const;

export type SpokenMode = (typeof spokenModes)[number];

/** What a sentence asks for. `name` is the device as it was spoken, in small letters. */
export type Wish = { readonly name: string } & (
  | { readonly kind: "switch"; readonly isOn: boolean }
  | { readonly kind: "setTemperature"; readonly celsius: number }
  | { readonly kind: "adjustTemperature"; readonly deltaCelsius: number }
  | { readonly kind: "setMode"; readonly mode: SpokenMode }
  | { readonly kind: "setBrightness"; readonly percent: number }
  | { readonly kind: "askTemperature" }
  | { readonly kind: "askState" }
);

/** A form of a sentence that is understood, as people read it. */
export const understoodForms: readonly string[] = [
  "turn on the <device>, turn off the <device>",
  "set the <thermostat> to <degrees Celsius>",
  "set the <thermostat> to heat, cool, auto, eco or off",
  "make the <thermostat> warmer, make the <thermostat> cooler",
  "dim the <light> to <number> percent",
  "what is the temperature in the <room or device>",
  "is the <device> on",
];

/** Longer sentences are not read. */
export const longestSentence = 200;

/** One step of "warmer" and "cooler". */
const stepCelsius = 1;

/** What a sentence asks for; undefined when it has no form that is understood. */
export function readSentence(text: string): Wish | undefined {
  if (text.length > longestSentence) return undefined;
  const sentence = text
    .toLowerCase()
    .replace(/[?!.,]+$/g, "")
    .replace(/what's/g, "what is")
    .replace(/\s+/g, " ")
    .trim();
  for (const [form, read] of forms) {
    const found = form.exec(sentence)?.groups;
    if (found) return read(found as Readonly<Record<string, string>>);
  }
  return undefined;
}

type Form = readonly [RegExp, (words: Readonly<Record<string, string>>) => Wish];

const device = "(?:the )?(?<name>.+?)";
const number = "(?<value>-?\\d{1,3}(?:\\.\\d)?)";

const forms: readonly Form[] = [
  [formOf(`(?:turn|switch) (?<value>on|off) ${device}`), ({ name, value }) => switched(name, value)],
  [formOf(`(?:turn|switch) ${device} (?<value>on|off)`), ({ name, value }) => switched(name, value)],
  [
    formOf(`(?:set|dim) ${device} to ${number} ?(?:%|percent)`),
    ({ name, value }) => ({ kind: "setBrightness", name: name!, percent: Number(value) }),
  ],
  [
    formOf(`set ${device} to ${number}(?: ?°c?| degrees)?`),
    ({ name, value }) => ({ kind: "setTemperature", name: name!, celsius: Number(value) }),
  ],
  [
    formOf(`set ${device} to (?<value>${spokenModes.join("|")})`),
    ({ name, value }) => ({ kind: "setMode", name: name!, mode: value as SpokenMode }),
  ],
  [
    formOf(`make ${device} (?<value>warmer|cooler)`),
    ({ name, value }) => ({
      kind: "adjustTemperature",
      name: name!,
      deltaCelsius: value === "warmer" ? stepCelsius : -stepCelsius,
    }),
  ],
  [formOf(`what is the temperature (?:in|of|at) ${device}`), ({ name }) => ({ kind: "askTemperature", name: name! })],
  [formOf(`is ${device} (?:on|off|running)`), ({ name }) => ({ kind: "askState", name: name! })],
];

function formOf(text: string): RegExp {
  return new RegExp(`^(?:please )?${text}$`);
}

function switched(name: string | undefined, value: string | undefined): Wish {
  return { kind: "switch", name: name!, isOn: value === "on" };
}
