import type { DeviceId } from "../../model/ids.ts";
import type { OwnCommand } from "../command.ts";
import { friendlyNames, inWords } from "../devices/friendly-names.ts";
import { ago, timeOption } from "../devices/times.ts";
import { hasFlag, id, ids, number, optional, text, texts } from "../input.ts";
import type { Noun } from "../noun.ts";
import { serviceOf, withOwnerOptions } from "../remote/chosen-service.ts";
import { newest } from "../remote/newest.ts";
import { table, whole } from "../terminal/output.ts";
import { causeInWords, eventInWords } from "./event-words.ts";
import { chosenWebhook } from "./webhook.ts";

const list: OwnCommand = {
  name: "event list",
  meaning: "list the changes of a device, newest last",
  examples: ["event list 1", "event list 1 --from 2h --attribute d.structures[1].a.away", "event list 1 --json"],
  arguments: [{ name: "device", isRequired: true, meaning: "the device's id; see: breezeway device list" }],
  options: (command) =>
    withOwnerOptions(command)
      .option("--attribute <name...>", "only changes of these attributes")
      .option("--from <time>", "from this time on: 15m, 2h, 2026-01-31T12:00Z")
      .option("--to <time>", "before this time")
      .option("--limit <number>", "the largest number of changes to list", "50"),
  async run(call) {
    const { typed, print } = call;
    const device = id<DeviceId>(typed, "device", "The device's id");
    const limit = Math.floor(number(typed, "limit", 1, 100_000));
    const [from, to] = [timeOption(typed, "from"), timeOption(typed, "to")];
    const api = await serviceOf(call, { device: String(device) });
    const question = { attributes: texts(typed, "attribute"), from, to };
    const reading = api.read((sdk) => newest(limit, sdk.getHistory(device, question)), { deviceId: device });
    const changes = await print.during("reading the history", reading);
    const friendly = print.isJson ? undefined : friendlyNames(await api.getDevice(device));
    print.data({ deviceId: device, changes }, () => {
      if (changes.length === 0) return "Nothing has changed in that time.";
      return table(
        [whole("TIME"), "ATTRIBUTE", "VALUE", "BY"],
        changes.map((one) => [
          ago(one.updateTime),
          friendly ? inWords(friendly(one.name)) : one.name,
          one.value ?? "(blank)",
          causeInWords(one.cause),
        ]),
        print.width,
      );
    });
  },
};

const watch: OwnCommand = {
  name: "event watch",
  meaning: "show events as they happen; after a lost connection it resumes without a gap",
  examples: [
    "event watch",
    "event watch --device 2",
    "event watch --device 2 --attribute d.structures[1].a.away --json",
    "event watch --things",
    "event watch --thing t_…",
    "event watch --link-sessions",
  ],
  options: (command) =>
    withOwnerOptions(command)
      .option("--device <id...>", "only of these devices")
      .option("--attribute <name...>", "among attribute events, only changes of these attributes")
      .option("--things", "also changes of things, and of commands to them")
      .option("--thing <id...>", "the same, only of these things")
      .option("--link-sessions", "also how link sessions end")
      .option("--after <id>", "resume after the event with this id"),
  async run(call) {
    const { follow } = await import("../remote/follow.ts");
    const { typed, print } = call;
    const deviceIds = ids<DeviceId>(typed, "device");
    const api = await serviceOf(call, deviceIds[0] === undefined ? {} : { device: String(deviceIds[0]) });
    const thingIds = texts(typed, "thing");
    const options = {
      deviceIds,
      attributes: texts(typed, "attribute"),
      things: hasFlag(typed, "things") || thingIds.length > 0,
      thingIds,
      linkSessions: hasFlag(typed, "link-sessions"),
      lastEventId: optional(typed, "after"),
    };
    for await (const { id, type, data } of follow(api, options, print)) {
      if (type === "connected") {
        if (!print.isJson) print.words(`Listening to ${api.baseUrl}. Ctrl-C ends.`);
      } else if (type !== "lost" && type !== "live")
        print.line({ id, type, ...data }, eventInWords(type, data, print.style));
    }
  },
};

const resend: OwnCommand = {
  name: "event resend",
  meaning: "send a delivery of a webhook again; see: breezeway webhook show",
  examples: ["event resend wh_… 41"],
  arguments: [
    {
      name: "webhook",
      isRequired: true,
      meaning: "the webhook's id or the beginning of it; see: breezeway webhook list",
    },
    { name: "delivery", isRequired: true, meaning: "the delivery's number; see: breezeway webhook show" },
  ],
  options: withOwnerOptions,
  async run(call) {
    const { typed, print } = call;
    const api = await serviceOf(call);
    const { webhookId } = await chosenWebhook(call, api);
    const deliveryId = Number(text(typed, "delivery"));
    const sending = api.write((sdk) => sdk.webhooks.resend(webhookId, deliveryId));
    print.data(
      await print.during("sending", sending),
      (one) => `Message ${one.messageId} is sent again as delivery ${one.deliveryId}.`,
    );
  },
};

export const event: Noun = {
  name: "event",
  alias: "events",
  meaning: "changes of devices and other events",
  commands: [list, watch, resend],
};
