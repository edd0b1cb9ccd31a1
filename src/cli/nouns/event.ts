import type { DeviceId } from "../../model/ids.ts";
import type { Answer } from "../administration/admin-command.ts";
import type { Call, OwnCommand } from "../command.ts";
import { friendlyNames, inWords } from "../devices/friendly-names.ts";
import { ago, clockTime, timeOption } from "../devices/times.ts";
import { id, ids, number, optional, text, texts } from "../input.ts";
import type { Noun } from "../noun.ts";
import { serviceOf, withOwnerOptions } from "../remote/chosen-service.ts";
import { shownAs, table, whole } from "../terminal/output.ts";
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

/** The last values of a list that may be longer than memory should hold. */
async function newest<Value>(limit: number, values: AsyncIterable<Value>): Promise<readonly Value[]> {
  let kept: Value[] = [];
  for await (const value of values) {
    kept.push(value);
    if (kept.length >= 2 * limit) kept = kept.slice(-limit);
  }
  return kept.slice(-limit);
}

const watch: OwnCommand = {
  name: "event watch",
  meaning: "show events as they happen; after a lost connection it resumes without a gap",
  examples: [
    "event watch",
    "event watch --device 2",
    "event watch --device 2 --attribute d.structures[1].a.away --json",
  ],
  options: (command) =>
    withOwnerOptions(command)
      .option("--device <id...>", "only of these devices")
      .option("--attribute <name...>", "among attribute events, only changes of these attributes")
      .option("--after <id>", "resume after the event with this id"),
  async run(call) {
    const { follow } = await import("../remote/follow.ts");
    const { typed, print } = call;
    const deviceIds = ids<DeviceId>(typed, "device");
    const api = await serviceOf(call, deviceIds[0] === undefined ? {} : { device: String(deviceIds[0]) });
    const options = { deviceIds, attributes: texts(typed, "attribute"), lastEventId: optional(typed, "after") };
    for await (const { id, type, data } of follow(api, options, print)) {
      if (type === "connected") {
        if (!print.isJson) print.words(`Listening to ${api.baseUrl}. Ctrl-C ends.`);
      } else if (type !== "lost") print.line({ id, type, ...data }, eventInWords(call, type, data));
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

function eventInWords({ print: { style } }: Call, type: string, data: Answer): string {
  const head = `${style.dim(clockTime(data.updateTime ?? data.time ?? Date.now()))}  ${style.cyan(type.padEnd(9))}`;
  const where = data.deviceId === undefined ? "-" : `device ${data.deviceId}`;
  switch (type) {
    case "attribute":
      return `${head}  ${where}  ${shownAs(data.name)} = ${style.bold(shownAs(data.value ?? "(blank)"))}  ${style.dim(causeInWords(data.cause))}`;
    case "link":
      return `${head}  ${where}  ${data.ecosystem} is ${style.bold(data.state)}: ${shownAs(data.reason)}`;
    case "command":
      return `${head}  ${where}  ${data.name} = ${data.value}: ${style.bold(data.state)}${data.text ? `, ${shownAs(data.text)}` : ""}`;
    default: {
      const { deviceId: _, time: __, ...facts } = data;
      const words = Object.entries(facts).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
      return `${head}  ${where}  ${shownAs(words.join(" "))}`;
    }
  }
}

function causeInWords(cause: Answer): string {
  if (cause?.by === "client") return cause.user === undefined ? "a client" : `user ${cause.user}`;
  if (cause?.by === "alert") return `alert ${cause.alert ?? cause.trigger ?? ""}`.trim();
  return cause?.by === undefined ? "-" : `the ${cause.by}`;
}

export const event: Noun = {
  name: "event",
  alias: "events",
  meaning: "changes of devices and other events",
  commands: [list, watch, resend],
};
