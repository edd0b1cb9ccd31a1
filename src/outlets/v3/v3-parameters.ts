import type { Incoming } from "../../http/request/incoming.ts";
import { BadParameter, UnknownDevice } from "../../model/errors.ts";
import { type DeviceId, parseId } from "../../model/ids.ts";

/** The device in the path. A malformed id is treated like an unknown one. */
export function deviceIdOf({ pathParameters }: Incoming): DeviceId {
  return readDeviceId(pathParameters.deviceId ?? "");
}

export function readDeviceId(text: string): DeviceId {
  const deviceId = parseId<DeviceId>(text);
  if (deviceId === undefined) throw new UnknownDevice();
  return deviceId;
}

/** Refuses a body where none is taken: the client expects an effect that it would not have. */
export function refuseBody({ body }: Incoming): void {
  if (body.kind !== "none") throw new BadParameter("body", "This path takes no body.");
}

/** The value of a parameter, undefined when empty; a repeated parameter is refused as ambiguous. */
export function singleValue({ query }: Incoming, name: string): string | undefined {
  const values = query.filter(([key]) => key === name);
  if (values.length > 1) throw new BadParameter(name, `The parameter ${name} must be sent once.`);
  return values[0]?.[1] || undefined;
}

/** The distinct values of a repeatable parameter; empty ones are left out. */
export function allValues({ query }: Incoming, name: string): readonly string[] {
  return [...new Set(query.filter(([key, value]) => key === name && value !== "").map(([, value]) => value))];
}

/** `things=true` asks for things in an answer that has none otherwise. */
export function asksForThings(incoming: Incoming): boolean {
  return isTrue(incoming, "things");
}

/** A parameter that is true or false; false when left out. */
export function isTrue(incoming: Incoming, name: string): boolean {
  const text = singleValue(incoming, name) ?? "false";
  if (text === "true" || text === "false") return text === "true";
  throw new BadParameter(name, `The parameter ${name} must be true or false.`);
}

const largestTime = 2n ** 63n - 1n;

/** A time in milliseconds, clamped to the largest exact number (2^53 - 1), which is later than every real time. */
export function timeOf(incoming: Incoming, name: string): number | undefined {
  const text = singleValue(incoming, name);
  if (text === undefined) return undefined;
  if (!/^[0-9]+$/.test(text) || BigInt(text) > largestTime) {
    throw new BadParameter(name, `The parameter ${name} must be a time in milliseconds: an integer from 0 to 2^63-1.`);
  }
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
}

/** The requested heartbeat interval of a stream; undefined for the default of 15 seconds. */
export function heartbeatSecondsOf(incoming: Incoming): number | undefined {
  const text = singleValue(incoming, "heartbeatSeconds");
  if (text === undefined) return undefined;
  const seconds = /^[0-9]{1,2}$/.test(text) ? Number(text) : 0;
  if (seconds < 2 || seconds > 15) {
    throw new BadParameter("heartbeatSeconds", "The parameter heartbeatSeconds must be an integer from 2 to 15.");
  }
  return seconds;
}
