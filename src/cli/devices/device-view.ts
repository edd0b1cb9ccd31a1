import { shownAs } from "../terminal/output.ts";
import type { Style } from "../terminal/style.ts";
import { cutTo, padTo, textWidth } from "../terminal/text-width.ts";
import { friendlyNames, type ShownAttribute, type ShownDevice } from "./friendly-names.ts";
import { ago, clockTime } from "./times.ts";

/** `presenceInfo` of a device that is there. */
const present = 1;

export interface View {
  readonly style: Style;
  readonly width: number;
  readonly nowMs: number;
  /** When the device was last known; undefined while it is known now. */
  readonly asOfMs?: number | undefined;
  /** Those that changed just now stand out. */
  readonly changed?: ReadonlySet<string>;
}

/** A device as a person wants to see it: what is said of one place stands under that place's name. */
export function deviceView(device: ShownDevice, names: readonly string[], view: View): string {
  const { style, width } = view;
  const friendly = friendlyNames(device);
  const lines = [headOf(device, view)];
  const entries = names.map((name) => ({ name, friendly: friendly(name), attribute: device.attributes[name]! }));
  const fieldWidth = widest(entries.map((one) => one.friendly.field));
  const valueWidth = Math.min(40, widest(entries.map((one) => shownValue(one.attribute))));
  let place: string | undefined;
  for (const { name, friendly, attribute } of entries) {
    if (friendly.wirePlace !== place) {
      place = friendly.wirePlace;
      const title = shownAs(friendly.place.join(" › "));
      if (place !== "") lines.push("", `${style.bold(title)}  ${style.dim(place)}`);
      else lines.push("");
    }
    const isNew = view.changed?.has(name) === true;
    const field = padTo(shownAs(friendly.field), fieldWidth);
    const value = padTo(cutTo(shownValue(attribute), valueWidth), valueWidth);
    const line = cutTo(`${isNew ? "*" : " "} ${field}  ${value}  ${ago(attribute.updateTime, view.nowMs)}`, width);
    lines.push(isNew ? style.yellow(line) : alarming(attribute) ? style.red(line) : line);
  }
  if (entries.length === 0) lines.push("", "It has no attributes yet.");
  return lines.join("\n");
}

export function shownValue({ value }: Pick<ShownAttribute, "value">): string {
  return value === null ? "(blank)" : shownAs(value);
}

/** Words that nobody should overlook. */
export function alarming({ value }: Pick<ShownAttribute, "value">): boolean {
  return value === "emergency" || value === "warning" || (typeof value === "string" && value.startsWith("error:"));
}

function headOf(device: ShownDevice, view: View): string {
  const { style, nowMs } = view;
  const confirmed = device.confirmedTime === undefined ? [] : [`confirmed ${ago(device.confirmedTime, nowMs)}`];
  const facts = [
    `device ${device.deviceId}`,
    shownAs(device.deviceTypeName),
    ...freshnessOf(device, view),
    ...confirmed,
  ];
  return `${style.bold(shownAs(device.deviceName))}  ${facts.join(" · ")}`;
}

/** Green only when the values are known to be those of now. */
function freshnessOf({ presenceInfo, stale, confirmedTime }: ShownDevice, { style, asOfMs }: View): readonly string[] {
  if (asOfMs !== undefined) return [style.yellow(`unknown, as of ${clockTime(asOfMs)}`)];
  const presence = presenceInfo === present ? (stale ? "present" : style.green("present")) : style.red("absent");
  if (!stale) return [presence];
  return [presence, style.yellow(confirmedTime === undefined ? "stale" : `stale, as of ${clockTime(confirmedTime)}`)];
}

function widest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, textWidth(text)), 0);
}
