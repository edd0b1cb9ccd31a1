import type { Thing, ThingField, ThingTrait } from "../../../sdk/src/index.ts";
import { ago, clockTime } from "../devices/times.ts";
import { shownAs } from "../terminal/output.ts";
import type { Style } from "../terminal/style.ts";
import { cutTo, padTo, textWidth } from "../terminal/text-width.ts";

export interface View {
  readonly style: Style;
  readonly width: number;
  readonly nowMs: number;
}

/**
 * A thing as text, with the fields of each trait. `whole` is the thing with all fields, if `thing` has only some: it says
 * which traits are available.
 */
export function thingView(thing: Thing, view: View, whole = thing): string {
  const { style, width, nowMs } = view;
  const traits = traitsOf(thing);
  const fields = traits.flatMap(([, { state }]) => Object.entries(state));
  const nameWidth = widest(fields.map(([name]) => name));
  const valueWidth = Math.min(40, widest(fields.map(([, field]) => shownField(field))));
  const lines = [headOf(whole, view), style.dim(thing.thingId)];
  for (const [name, trait] of traits) {
    const doubt = doubtOf(new Map(traitsOf(whole)).get(name) ?? trait);
    lines.push("", `${style.bold(name)}${doubt === undefined ? "" : `  ${style.yellow(doubt)}`}`);
    for (const [field, fieldState] of Object.entries(trait.state)) {
      const value = padTo(cutTo(shownField(fieldState), valueWidth), valueWidth);
      const line = cutTo(`  ${padTo(field, nameWidth)}  ${value}  ${ago(fieldState.updateTime, nowMs)}`, width);
      lines.push(isAlarming(field, fieldState) ? style.red(line) : line);
    }
    const able = Object.entries(trait.capabilities).filter(([, value]) => value !== null);
    const words = able.map(([capability, value]) => `${capability} ${Array.isArray(value) ? value.join("|") : value}`);
    if (words.length > 0) lines.push(style.dim(cutTo(shownAs(`  capabilities: ${words.join(", ")}`), width)));
  }
  if (traits.length === 0) lines.push("", "No field to show.");
  return lines.join("\n");
}

/**
 * The condition of a thing in a few words. `current` only if the link is live, every trait is known to be available and
 * no sensor reports danger.
 */
export function conditionOf(thing: Thing): string {
  const traits = traitsOf(thing);
  const doubts = traits.flatMap(([name, trait]) => {
    const doubt = doubtOf(trait);
    return doubt === undefined ? [] : [`${name} ${doubt}`];
  });
  const dangers = traits.flatMap(([name, { state }]) => {
    return Object.entries(state)
      .filter(([field, fieldState]) => isAlarming(field, fieldState))
      .map(([, { value }]) => `${name} ${value}`);
  });
  return [...freshnessOf(thing), ...dangers, ...doubts].join(", ") || "current";
}

/** The traits by name; a newer service may send traits that this version does not know. */
export function traitsOf({ traits }: Thing): readonly (readonly [name: string, trait: ThingTrait])[] {
  return Object.entries(traits) as [string, ThingTrait][];
}

export function shownField({ value }: Pick<ThingField, "value">): string {
  return value === null ? "(unknown)" : shownAs(String(value));
}

/** Values that stand out: danger, a low battery, and a state that is not known. */
export function isAlarming(field: string, { value }: Pick<ThingField, "value">): boolean {
  return field === "state" && (value === "alarm" || value === "warning" || value === "unknown" || value === "low");
}

/** Why the values of a trait may be wrong although the link is live. */
function doubtOf({ state: { available } }: ThingTrait): string | undefined {
  if (available === undefined || available.value === true) return undefined;
  return available.value === false ? "unavailable: last known values" : "availability unknown";
}

/** Empty while the values are current. */
export function freshnessOf({ stale, confirmedTime, goneTime }: Thing): readonly string[] {
  if (goneTime !== undefined) return [`gone since ${new Date(goneTime).toISOString()}`];
  if (!stale) return [];
  return [confirmedTime === undefined ? "stale" : `stale, as of ${clockTime(confirmedTime)}`];
}

function headOf(thing: Thing, { style, nowMs }: View): string {
  const { kind, name, room, homeName, maker, model, source, confirmedTime } = thing;
  const condition = conditionOf(thing);
  const facts = [
    kind,
    [room, homeName].filter(Boolean).join(", "),
    [maker, model].filter(Boolean).join(" "),
    `by ${source}`,
    `device ${thing.deviceId}`,
    condition === "current" ? style.green(condition) : style.yellow(condition),
    confirmedTime === undefined ? "" : `confirmed ${ago(confirmedTime, nowMs)}`,
  ];
  const shown = facts.filter(Boolean).join(" · ");
  return `${style.bold(shownAs(name ?? kind))}  ${shown}`;
}

function widest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, textWidth(text)), 0);
}
