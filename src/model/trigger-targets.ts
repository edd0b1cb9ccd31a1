import { BadParameter } from "./errors.ts";
import { type DeviceId, parseId } from "./ids.ts";

/** One write of an alert: device, attribute and value. An empty value erases. */
export interface Target {
  readonly deviceId: DeviceId;
  /** As the client spelled it. */
  readonly attributeName: string;
  readonly value: string;
}

/**
 * Reads `targetDeviceAttributes`: one or several `<id>,<name>:"<value>"` separated by `;`. In a quoted value `\"` is a
 * quote; a value without quotes ends at the next `;`. The name ends at the first colon.
 */
export function readTargets(text: string): readonly Target[] {
  const targets: Target[] = [];
  for (let at = 0; at < text.length; ) {
    const [whole, id = "", attributeName = ""] = matchAt(/\s*([0-9]+)\s*,\s*([^:]*):/y, text, at) ?? [];
    // A trailing semicolon, with or without blanks, is allowed.
    if (targets.length > 0 && text.slice(at).trim() === "") break;
    const deviceId = parseId<DeviceId>(id);
    if (whole === undefined || deviceId === undefined) throw malformed();
    const { value, end } = readValue(text, at + whole.length);
    targets.push({ deviceId, attributeName, value });
    at = end;
  }
  return targets;
}

function readValue(text: string, at: number): { readonly value: string; readonly end: number } {
  const [opening] = matchAt(/\s*"/y, text, at) ?? [];
  if (opening === undefined) {
    const [value = ""] = matchAt(/[^;]*/y, text, at) ?? [];
    return { value, end: at + value.length + 1 };
  }
  const start = at + opening.length;
  // A loop instead of one pattern: a regular expression with an alternation in a repetition overflows the stack on a
  // long value.
  let close = text.indexOf('"', start);
  while (close > start && text[close - 1] === "\\") close = text.indexOf('"', close + 1);
  const [after] = close < 0 ? [] : (matchAt(/\s*(?:;|$)/y, text, close + 1) ?? []);
  if (after === undefined) throw malformed();
  return { value: text.slice(start, close).replaceAll('\\"', '"'), end: close + 1 + after.length };
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function malformed(): BadParameter {
  return new BadParameter(
    "targetDeviceAttributes",
    'The parameter targetDeviceAttributes must be <device id>,<attribute>:"<value>", or several of these separated by semicolons.',
  );
}
