import type { Command } from "commander";
import { wireName, wireValue } from "../../../devices/wire-attribute.ts";
import type { AttributeWrite } from "../../../devices/write.ts";
import { BadParameter } from "../../../model/errors.ts";
import type { DeviceId, UserId } from "../../../model/ids.ts";
import { isWritable } from "../../../virtual-device/attribute-names.ts";
import type { AdminCommand, Answer } from "../../administration/admin-command.ts";
import { type FriendlyName, friendlyNames } from "../../devices/friendly-names.ts";
import { ago, timeOption } from "../../devices/times.ts";
import { type Input, id, texts } from "../../input.ts";
import { table } from "../../terminal/output.ts";
import { causeInWords } from "../event-words.ts";

const dayMs = 86_400_000;

const show: AdminCommand = {
  name: "home device show",
  meaning: "show a user's device with all its attributes, and which webhooks receive its events",
  examples: ["home device show --user 3 --device 8"],
  options: withDevice,
  toText({ deviceName, deviceTypeName, attributes }, _typed, width) {
    const withValue = (attributes as Answer[]).filter(({ value }) => value !== null);
    const head = `${deviceName} (${deviceTypeName})`;
    if (withValue.length === 0) return `${head}\n\nIt has no values.`;
    return `${head}\n\n${table(
      ["ATTRIBUTE", "VALUE", "CHANGED"],
      withValue.map((one) => [[...one.place, one.field].join(" › "), one.value, ago(one.updateTime)]),
      width,
    )}`;
  },
  async act({ identity, homeDevices }, input) {
    const { userId, name: userName } = await identity.findUser(id<UserId>(input, "user"));
    const found = await homeDevices.state(userId, id<DeviceId>(input, "device"));
    const { device, freshness, attributes, webhooks } = found;
    const named = attributes.map(({ key, value, updateTimeMs }) => ({
      key,
      name: wireName(key),
      value: wireValue(key, value),
      updateTime: updateTimeMs,
    }));
    const friendly = friendlyNames({
      attributes: Object.fromEntries(named.map(({ name, value, updateTime }) => [name, { value, updateTime }])),
    });
    return {
      answer: {
        userId,
        userName,
        deviceId: device.id,
        deviceName: device.name,
        deviceTypeName: device.typeName,
        room: device.room,
        virtual: device.isVirtual,
        present: freshness.isPresent,
        stale: freshness.isStale,
        confirmedTime: freshness.confirmedTimeMs,
        attributes: named.map(({ key, ...one }) => ({
          ...one,
          value: one.value === null ? null : String(one.value),
          ...placed(friendly(one.name)),
          writable: typeof key === "string" || isWritable(key),
        })),
        webhooks: webhooks.map((webhook) => ({
          webhookId: webhook.id,
          clientId: webhook.clientId,
          ofTenant: webhook.isOfTenant,
        })),
      },
    };
  },
};

function placed({ place, field, namePrefix }: FriendlyName) {
  return { place, field, slot: namePrefix };
}

const history: AdminCommand = {
  name: "home device history",
  meaning: "list the changes of a user's device, oldest first",
  examples: ["home device history --user 3 --device 8 --from 2h"],
  options: (command) => withDevice(command).option("--from <time>", "from this time on: 15m, 2h, 2026-01-31T12:00Z"),
  toText({ changes }, _typed, width) {
    if (changes.length === 0) return "Nothing has changed in that time.";
    return table(
      ["TIME", "ATTRIBUTE", "VALUE", "BY"],
      (changes as Answer[]).map((one) => [ago(one.time), one.name, one.value ?? "(blank)", causeInWords(one.cause)]),
      width,
    );
  },
  async act({ identity, homeDevices }, input) {
    const { userId } = await identity.findUser(id<UserId>(input, "user"));
    const fromMs = timeOption(input, "from") ?? Date.now() - dayMs;
    const { changes, isCut } = await homeDevices.history(userId, id<DeviceId>(input, "device"), fromMs);
    return {
      answer: {
        from: fromMs,
        changes: changes.map(({ name, value, updateTimeMs, cause }) => ({
          time: updateTimeMs,
          name,
          value: value === null ? null : String(value),
          cause: { ...cause },
        })),
        cut: isCut,
      },
    };
  },
};

const write: AdminCommand = {
  name: "home device write",
  meaning: "write attributes of a user's device, all or none; an empty value erases",
  examples: ["home device write --user 3 --device 2 --set power=on"],
  options: (command) => withDevice(command).option("--set <name=value...>", "an attribute and its new value"),
  toText: ({ deviceId, written }) => `Wrote ${written.join(", ")} of device ${deviceId}.`,
  async act({ identity, homeDevices }, input) {
    const user = await identity.findUser(id<UserId>(input, "user"));
    const deviceId = id<DeviceId>(input, "device");
    const writes = writesIn(input);
    await homeDevices.write(user.userId, deviceId, user.tenantId, writes);
    const written = writes.map(({ name }) => name);
    return {
      answer: { deviceId, written },
      changed: { tenantId: user.tenantId, userId: user.userId, detail: { device: deviceId, attributes: written } },
    };
  },
};

/** The commands about devices, for the noun `home`. */
export const homeDeviceCommands: readonly AdminCommand[] = [show, history, write];

function withDevice(command: Command): Command {
  return command
    .requiredOption("--user <id>", "the user; see: breezeway user list")
    .requiredOption("--device <id>", "the device; see: breezeway user show");
}

function writesIn(input: Input): readonly AttributeWrite[] {
  const words = texts(input, "set");
  if (words.length === 0) throw new BadParameter("set", "--set is missing.");
  return words.map((word) => {
    const at = word.indexOf("=");
    if (at < 1) throw new BadParameter("set", "--set must be written as name=value.");
    return { name: word.slice(0, at), value: word.slice(at + 1) || null };
  });
}
