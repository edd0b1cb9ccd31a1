import { BadParameter, NotFound } from "../../../model/errors.ts";
import type { DeviceId, UserId } from "../../../model/ids.ts";
import { virtualDeviceType } from "../../../model/virtual-device-type.ts";
import type { AdminCommand, Answer } from "../../administration/admin-command.ts";
import { ownerOfDevice } from "../../administration/command-access.ts";
import type { Call, OwnCommand } from "../../command.ts";
import { hasFlag, id, optional, text, texts } from "../../input.ts";
import type { Noun } from "../../noun.ts";
import { isRemote, serviceOf, withOwnerOptions, withServiceOptions } from "../../remote/chosen-service.ts";
import { ServiceRefused } from "../../remote/service-errors.ts";
import { table } from "../../terminal/output.ts";
import { deviceArgument, set } from "./device-set.ts";

const add: AdminCommand = {
  name: "device add",
  meaning: "add an ordinary device to a user",
  examples: ['device add --user 3 --name "Hall lamp" --type Lamp'],
  options: (command) =>
    command
      .requiredOption("--user <id>", "the user's id; see: breezeway user list")
      .requiredOption("--name <name>", "the device's name")
      .requiredOption("--type <name>", "the device type's name"),
  extraInput({ type, user }) {
    if (type !== virtualDeviceType) return {};
    throw new BadParameter(
      "type",
      `The type ${virtualDeviceType} is for linked accounts, not for ordinary devices. Connect the user's home with: breezeway link --user ${user}`,
    );
  },
  async act({ identity, addDevice }, input) {
    const { userId, tenantId } = await identity.findUser(id<UserId>(input, "user"));
    const [name, typeName] = [text(input, "name"), text(input, "type")];
    const deviceId = await addDevice({ userId, name, typeName });
    return { answer: { deviceId }, changed: { tenantId, userId, detail: { device: deviceId } } };
  },
  toText: ({ deviceId }) => `Added device ${deviceId}.`,
};

const list: OwnCommand = {
  name: "device list",
  meaning: "list devices; with --url or --profile, those that the token can access",
  examples: ["device list", "device list --user 3 --type Lamp", "device list --profile home"],
  options: (command) =>
    withServiceOptions(command)
      .option("--type <name>", "of one type only; required with an enterprise token")
      .option("--user <id>", "of one user only (on this machine)")
      .option("--tenant <name or id>", "of one tenant only (on this machine)"),
  async run(call) {
    const { print } = call;
    const devices = isRemote(call) ? await listedByService(call) : await listedOnThisMachine(call);
    print.data({ devices }, (answer) => {
      if (answer.devices.length === 0) {
        const isNarrowed = ["type", "user", "tenant"].some((name) => call.typed[name] !== undefined);
        return `There are no ${isNarrowed ? "such devices" : "devices"}. See: breezeway device add --help`;
      }
      const hasOwner = "userId" in answer.devices[0]!;
      return table(
        ["DEVICE", "NAME", "TYPE", hasOwner ? "USER" : "PRESENT"],
        (answer.devices as Answer[]).map((one) => [
          one.deviceId,
          one.deviceName,
          one.deviceTypeName,
          hasOwner ? `${one.userId} ${one.userName ?? ""}`.trim() : one.presenceInfo === 1 ? "yes" : "no",
        ]),
        print.width,
      );
    });
  },
};

async function listedOnThisMachine({ programs, config, typed }: Call): Promise<readonly object[]> {
  return ((await programs.administer(config(), "device owners", typed)) as Answer).devices;
}

async function listedByService(call: Call): Promise<readonly object[]> {
  const api = await serviceOf(call);
  const deviceTypeName = optional(call.typed, "type");
  const reading = api.read((sdk) => sdk.getDevices({ deviceTypeName }));
  return call.print.during("reading the devices", reading).catch(rethrowWithOption);
}

/** Names the option of the command line instead of the service's parameter. */
function rethrowWithOption(error: unknown): never {
  if (error instanceof ServiceRefused && /deviceTypeName is required/.test(error.message)) {
    throw new BadParameter(
      "type",
      "With an enterprise token, name a type: --type EcosystemAccount, for linked accounts.",
    );
  }
  throw error;
}

const nameArguments = {
  name: "name",
  isList: true,
  meaning: "only these: attribute names, or names of the home such as Hallway, Kitchen/smoke_alarm_state, away",
};

const get: OwnCommand = {
  name: "device get",
  alias: "show",
  meaning: "show a device and its attributes; with --watch, also each change as it happens",
  examples: ["device get 1", "device get 1 Hallway away", "device get 1 --watch", "device get 1 --since 15m --json"],
  arguments: [deviceArgument, nameArguments],
  options: (command) =>
    withOwnerOptions(command)
      .option("--watch", "keep running and show each change")
      .option("--since <time>", "only what changed after: 15m, 2h, 2026-01-31T12:00Z"),
  run: (call) => showDevice(call, hasFlag(call.typed, "watch")),
};

const watch: OwnCommand = {
  name: "device watch",
  meaning: "show a device, then each change as it happens",
  examples: ["device watch 1", "device watch 1 Kitchen", "device watch 1 --json | head -3"],
  arguments: [deviceArgument, nameArguments],
  options: withOwnerOptions,
  run: (call) => showDevice(call, true),
};

async function showDevice(call: Call, isWatched: boolean): Promise<void> {
  const [{ deviceView }, { attributesMatching, noAttributeMessage }, { timeOption }] = await Promise.all([
    import("../../devices/device-view.ts"),
    import("../../devices/friendly-names.ts"),
    import("../../devices/times.ts"),
  ]);
  const { typed, print } = call;
  const device = id<DeviceId>(typed, "device", "The device's id");
  const wanted = texts(typed, "name");
  const since = timeOption(typed, "since");
  const api = await serviceOf(call, { device: String(device) });
  const read = async () => {
    const whole = await print.during("reading the device", api.getDevice(device));
    const attributes = wanted.flatMap((name) => {
      const matching = attributesMatching(whole, name);
      if (matching.length === 0) throw new NotFound(noAttributeMessage(whole, name));
      return matching;
    });
    if (wanted.length === 0 && since === undefined) return { device: whole, names: Object.keys(whole.attributes) };
    const shown = await api.getDevice(device, { attributes, since });
    // Friendly names come from the attributes of the whole device.
    return {
      device: { ...shown, attributes: { ...whole.attributes, ...shown.attributes } },
      names: Object.keys(shown.attributes),
      shown,
    };
  };
  if (isWatched) {
    const { watchDevice } = await import("../../devices/watch-device.ts");
    const first = await read();
    return watchDevice(call, api, read, wanted.length === 0 ? [] : first.names);
  }
  const { device: found, names: shownNames, shown } = await read();
  print.data(shown ?? found, () =>
    deviceView(found, shownNames, { style: print.style, width: print.width, nowMs: Date.now() }),
  );
}

const remove: AdminCommand = {
  name: "device remove",
  meaning: "remove an ordinary device with its attributes and history",
  examples: ["device remove 5"],
  arguments: [{ name: "device", meaning: "the device's id; see: breezeway device list" }],
  options: (command) =>
    command
      .option("--device <id>", "the same, as an option")
      .option("--user <id>", "only if it is this user's; see: breezeway user list"),
  async act({ identity, devices, removeDevice }, input) {
    const deviceId = id<DeviceId>(input, "device");
    const { userId, tenantId } =
      optional(input, "user") === undefined
        ? await ownerOfDevice({ identity, devices }, deviceId)
        : await identity.findUser(id<UserId>(input, "user"));
    await removeDevice(userId, deviceId);
    return { answer: { deviceId }, changed: { tenantId, userId, detail: { device: deviceId } } };
  },
  toText: ({ deviceId }) => `Removed device ${deviceId}.`,
};

export const device: Noun = {
  name: "device",
  alias: "devices",
  meaning: "devices of users",
  commands: [add, list, get, set, watch, remove],
};
