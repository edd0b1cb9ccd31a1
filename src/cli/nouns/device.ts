import type { DeviceId, UserId } from "../../model/ids.ts";
import type { AdminCommand, Noun } from "../admin-command.ts";
import { id, text } from "../input.ts";

const add: AdminCommand = {
  name: "device add",
  meaning: "give a user an ordinary device",
  options: (command) =>
    command
      .requiredOption("--user <id>", "the user's id; see: breezeway user list")
      .requiredOption("--name <name>", "the device's name")
      .requiredOption("--type <name>", "the device type's name"),
  async act({ identity, addDevice }, input) {
    const { userId, tenantId } = await identity.findUser(id<UserId>(input, "user"));
    const [name, typeName] = [text(input, "name"), text(input, "type")];
    const deviceId = await addDevice({ userId, name, typeName });
    return { answer: { deviceId }, changed: { tenantId, userId, detail: { device: deviceId } } };
  },
  tell: ({ deviceId }) => `Added device ${deviceId}.`,
};

const remove: AdminCommand = {
  name: "device remove",
  meaning: "take an ordinary device from a user, with its attributes and its history",
  options: (command) =>
    command
      .requiredOption("--user <id>", "the user's id; see: breezeway user list")
      .requiredOption("--device <id>", "the device's id"),
  async act({ identity, removeDevice }, input) {
    const { userId, tenantId } = await identity.findUser(id<UserId>(input, "user"));
    const deviceId = id<DeviceId>(input, "device");
    await removeDevice(userId, deviceId);
    return { answer: { deviceId }, changed: { tenantId, userId, detail: { device: deviceId } } };
  },
  tell: ({ deviceId }) => `Removed device ${deviceId}.`,
};

export const device: Noun = { name: "device", meaning: "devices of users", commands: [add, remove] };
