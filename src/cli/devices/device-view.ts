import { shownAs } from "../terminal/output.ts";
import type { Style } from "../terminal/style.ts";
import { cutTo, padTo, textWidth } from "../terminal/text-width.ts";
import { friendlyNames, type ShownAttribute, type ShownDevice } from "./friendly-names.ts";
import { ago, clockTime } from "./times.ts";

/** `presenceInfo` of a device that is present. */
const present = 1;

export interface View {
  readonly style: Style;
  readonly width: number;
  readonly nowMs: number;
  /** The time of the last known state; undefined while the state is current. */
  readonly asOfMs?: number | undefined;
  /** Attributes that have just changed; they are highlighted. */
  readonly changed?: ReadonlySet<string>;
}

/** A device as text, with attributes grouped by structure and device. The device must have all attributes in `names`. */
export function deviceView(device: ShownDevice, names: readonly string[], view: View): string {
  const { style, width } = view;
  const friendlyNameOf = friendlyNames(device);
  const lines = [headOf(device, view)];
  const entries = names.map((name) => ({ name, friendly: friendlyNameOf(name), attribute: device.attributes[name]! }));
  const fieldWidth = widest(entries.map((one) => one.friendly.field));
  const valueWidth = Math.min(40, widest(entries.map((one) => shownValue(one.attribute))));
  let prefix: string | undefined;
  for (const { name, friendly, attribute } of entries) {
    if (friendly.namePrefix !== prefix) {
      prefix = friendly.namePrefix;
      const title = shownAs(friendly.place.join(" › "));
      if (prefix !== "") lines.push("", `${style.bold(title)}  ${style.dim(prefix)}`);
      else lines.push("");
    }
    const isNew = view.changed?.has(name) === true;
    const field = padTo(shownAs(friendly.field), fieldWidth);
    const value = padTo(cutTo(shownValue(attribute), valueWidth), valueWidth);
    const line = cutTo(`${isNew ? "*" : " "} ${field}  ${value}  ${ago(attribute.updateTime, view.nowMs)}`, width);
    lines.push(isNew ? style.yellow(line) : isAlarming(attribute) ? style.red(line) : line);
  }
  if (entries.length === 0) lines.push("", "It has no attributes yet.");
  return lines.join("\n");
}

export function shownValue({ value }: Pick<ShownAttribute, "value">): string {
  return value === null ? "(blank)" : shownAs(value);
}

/** Values that stand out: an alarm's emergency or warning, and the refusal of a fan request. */
export function isAlarming({ value }: Pick<ShownAttribute, "value">): boolean {
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

/** Green only when the values are known to be current. */
function freshnessOf({ presenceInfo, stale, confirmedTime }: ShownDevice, { style, asOfMs }: View): readonly string[] {
  if (asOfMs !== undefined) return [style.yellow(`unknown, as of ${clockTime(asOfMs)}`)];
  const presence = presenceInfo === present ? (stale ? "present" : style.green("present")) : style.red("absent");
  if (!stale) return [presence];
  return [presence, style.yellow(confirmedTime === undefined ? "stale" : `stale, as of ${clockTime(confirmedTime)}`)];
}

function widest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, textWidth(text)), 0);
}
