import type { AttributeChange } from "../devices/commit.ts";
import { BadParameter } from "../model/errors.ts";
import { hiddenCharacter, hiddenCharacterProblem } from "../model/hidden-characters.ts";
import type { UserId } from "../model/ids.ts";
import { virtualDeviceType } from "../model/virtual-device-type.ts";

/** An ordinary device to be added. Virtual devices are created by linking an account. */
export interface NewDevice {
  readonly userId: UserId;
  readonly name: string;
  readonly typeName: string;
  readonly room?: string | null;
  /** The first values of its attributes; their names are distinct. */
  readonly changes?: readonly AttributeChange[];
}

/** The parts of a device that its company may change. */
export interface DeviceDescription {
  readonly name?: string;
  /** Null: no room. */
  readonly room?: string | null;
}

/** Throws BadParameter unless the texts can be those of a device. */
export function checkNewDevice({ name, typeName, room }: NewDevice): void {
  checkText("type", typeName);
  checkDescription({ name, ...(room !== undefined && { room }) });
}

/** A name or room that stays as it is passes: an earlier version may have accepted it. */
export function checkDescription({ name, room }: DeviceDescription, stored: DeviceDescription = {}): void {
  if (name !== undefined && name !== stored.name) checkName("name", name);
  if (room !== undefined && room !== null && room !== stored.room) checkName("room", room);
}

function checkName(parameter: "name" | "room", text: string): void {
  checkText(parameter, text);
  const hidden = hiddenCharacter(text);
  if (hidden) throw new BadParameter(parameter, `The device's ${parameter} ${hiddenCharacterProblem(hidden)}`);
}

/** Throws BadParameter unless the text can be the name of an ordinary device type. */
export function checkTypeName(parameter: string, typeName: string): void {
  checkText(parameter, typeName);
  refuseVirtualType(parameter, typeName);
}

/** Refuses the type of linked accounts: clients would take such a device for one. */
export function refuseVirtualType(parameter: string, typeName: string): void {
  if (typeName !== virtualDeviceType) return;
  throw new BadParameter(parameter, `The type ${virtualDeviceType} is for linked accounts, not for ordinary devices.`);
}

const longestText = 128;

function checkText(parameter: string, text: string): void {
  const isValid = text.trim() !== "" && text.length <= longestText && text.isWellFormed() && !/\p{Cc}/u.test(text);
  if (!isValid) {
    throw new BadParameter(
      parameter,
      `The device's ${parameter} must be 1 to ${longestText} characters, none of them a control character.`,
    );
  }
}
