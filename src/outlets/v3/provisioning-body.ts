import { checkWrites } from "../../devices/write.ts";
import { refusals } from "../../http/answer/refusal.ts";
import { jsonBody } from "../../http/request/body-types.ts";
import type { Body } from "../../http/request/incoming.ts";
import { BadParameter } from "../../model/errors.ts";
import { parseId, type UserId } from "../../model/ids.ts";
import {
  checkNewDevice,
  type DeviceDescription,
  type NewDevice,
  refuseVirtualType,
} from "../../provisioning/new-device.ts";
import { writesOf } from "./attribute-body.ts";

/** The JSON object of a body. */
export function objectOf(body: Body, what: string): Readonly<Record<string, unknown>> {
  if (body.kind === "form") throw refusals.wrongContentType(jsonBody);
  return asObject(body.kind === "json" ? body.value : undefined, what);
}

export function asObject(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new BadParameter("body", `${what} must be a JSON object.`);
  }
  return value as Readonly<Record<string, unknown>>;
}

const newMembers = ["userId", "deviceTypeName", "deviceName", "room", "attributes"];

/** Reads a device to be added. An unknown member is refused as a mistake. */
export function readNewDevice(value: unknown): NewDevice {
  const members = asObject(value, "A new device");
  refuseUnknownMembers(members, newMembers);
  const { userId, deviceTypeName, deviceName, room, attributes = {} } = members;
  const typeName = textOf("deviceTypeName", deviceTypeName);
  refuseVirtualType("deviceTypeName", typeName);
  const writes = writesOf(asObject(attributes, "The member attributes"));
  const changes = checkWrites({ isVirtual: false }, writes).filter((change) => change.value !== null);
  const device: NewDevice = {
    userId: userIdOf(userId),
    name: textOf("deviceName", deviceName),
    typeName,
    ...(room !== undefined && { room: roomOf(room) }),
    changes,
  };
  checkNewDevice(device);
  return device;
}

/** Reads what a PATCH changes: null erases the room. */
export function readDeviceChange(body: Body): DeviceDescription {
  const members = objectOf(body, "The body");
  refuseUnknownMembers(members, ["deviceName", "room"]);
  const { deviceName, room } = members;
  if (deviceName === undefined && room === undefined) {
    throw new BadParameter("body", "The body must have the member deviceName, or room, or both.");
  }
  return {
    ...(deviceName !== undefined && { name: textOf("deviceName", deviceName) }),
    ...(room !== undefined && { room: roomOf(room) }),
  };
}

function refuseUnknownMembers(members: Readonly<Record<string, unknown>>, known: readonly string[]): void {
  const isKnown = Object.keys(members).every((name) => known.includes(name));
  if (!isKnown) throw new BadParameter("body", `Only these members are allowed: ${known.join(", ")}.`);
}

/** A user that can't exist is unknown when the device is added: foreign, absent and malformed ids look alike. */
function userIdOf(value: unknown): UserId {
  if (!Number.isInteger(value) && typeof value !== "string") {
    throw new BadParameter("userId", "The member userId must be the id of a user.");
  }
  return parseId<UserId>(String(value)) ?? (0 as UserId);
}

function textOf(name: string, value: unknown): string {
  if (typeof value !== "string") throw new BadParameter(name, `The member ${name} must be a text.`);
  return value;
}

function roomOf(value: unknown): string | null {
  return value === null ? null : textOf("room", value);
}
