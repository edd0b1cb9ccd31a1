import type { Webhook } from "../../../sdk/src/index.ts";
import type { DeviceId } from "../../model/ids.ts";
import type { Call, OwnCommand } from "../command.ts";
import { ago, dateAndTime } from "../devices/times.ts";
import { idByPrefix } from "../id-prefix.ts";
import { hasFlag, ids, text, texts } from "../input.ts";
import type { Noun } from "../noun.ts";
import type { Api } from "../remote/api.ts";
import { serviceOf, withOwnerOptions } from "../remote/chosen-service.ts";
import { ServiceRefused } from "../remote/service-errors.ts";
import { rows, table, whole } from "../terminal/output.ts";

const webhookArgument = {
  name: "webhook",
  isRequired: true,
  meaning: "the webhook's id or the beginning of it; see: breezeway webhook list",
};

const list: OwnCommand = {
  name: "webhook list",
  meaning: "list the webhooks of the client whose token is used; on this machine, those that the command line added",
  examples: ["webhook list", "webhook list --profile home"],
  options: withOwnerOptions,
  async run(call) {
    const { print } = call;
    print.data({ webhooks: await all(call, await serviceOf(call)) }, ({ webhooks }) => {
      if (webhooks.length === 0) return "There are no webhooks. See: breezeway webhook add --help";
      return table(
        [whole("WEBHOOK"), whole("ADDRESS"), "DEVICES", "ATTRIBUTES", "THINGS"],
        webhooks.map((one) => [
          one.webhookId,
          one.url,
          one.deviceIds.join(" ") || "all",
          one.attributes.join(" ") || "all",
          one.things ? "yes" : "no",
        ]),
        print.width,
      );
    });
  },
};

const add: OwnCommand = {
  name: "webhook add",
  meaning: "send events to an address; the secret that signs them is shown once",
  examples: [
    "webhook add https://example.com/hooks",
    "webhook add https://example.com/hooks --device 2 --attribute d.structures[1].a.away",
    "webhook add https://example.com/hooks --things --link-sessions",
  ],
  arguments: [{ name: "address", isRequired: true, meaning: "a public https address" }],
  options: (command) =>
    withOwnerOptions(command)
      .option("--device <id...>", "only of these devices")
      .option("--attribute <name...>", "only changes of these attributes")
      .option("--things", "also changes of things, and of commands to them")
      .option("--link-sessions", "also how link sessions end"),
  async run(call) {
    const { typed, print } = call;
    const api = await serviceOf(call, { keeps: true });
    const [deviceIds, attributes] = [ids<DeviceId>(typed, "device"), texts(typed, "attribute")];
    // Older services refuse these members.
    const things = hasFlag(typed, "things") ? { things: true } : {};
    const linkSessions = hasFlag(typed, "link-sessions") ? { linkSessions: true } : {};
    const wanted = { url: text(typed, "address"), deviceIds, attributes, ...things, ...linkSessions };
    const adding = api.write((sdk) => sdk.webhooks.add(wanted));
    const added = await print.during("adding the webhook", adding).catch((error: unknown) => {
      if (!(error instanceof ServiceRefused)) throw error;
      // The service names the member of the body; the command line has an argument instead.
      const sentence = error.message.replace(/^The member url\b/, "The webhook's address");
      throw new ServiceRefused(error.status, error.code, sentence);
    });
    print.data(added, (one) => {
      const shown = rows([
        ["  webhook", one.webhookId],
        ["  secret", one.secret],
      ]);
      return `Added a webhook to ${one.url}.\n\n${shown}\n\nThe secret is shown only now.`;
    });
  },
};

const show: OwnCommand = {
  name: "webhook show",
  meaning: "show a webhook and its last 100 deliveries",
  examples: ["webhook show wh_…"],
  arguments: [webhookArgument],
  options: withOwnerOptions,
  async run(call) {
    const { print } = call;
    const api = await serviceOf(call);
    const webhook = await chosenWebhook(call, api);
    const deliveries = await api.read((sdk) => sdk.webhooks.deliveries(webhook.webhookId));
    print.data({ ...webhook, deliveries }, (one) => {
      const facts = rows([
        ["webhook", one.webhookId],
        ["address", one.url],
        ["devices", one.deviceIds.join(" ") || "all"],
        ["attributes", one.attributes.join(" ") || "all"],
        ["things", one.things ? "yes" : "no"],
        ["link sessions", one.linkSessions ? "yes" : "no"],
        ["since", dateAndTime(one.createdTime)],
        ...(one.problem === undefined ? [] : [["problem", one.problem] as const]),
      ]);
      if (deliveries.length === 0) return `${facts}\n\nThere are no deliveries yet.`;
      const sent = table(
        ["DELIVERY", "TYPE", "DEVICE", "STATE", "ATTEMPTS", "ANSWER", "BEGUN"],
        deliveries.map((delivery) => [
          delivery.deliveryId,
          delivery.type,
          delivery.deviceId,
          delivery.state,
          delivery.attempts,
          delivery.status ?? delivery.text ?? "-",
          ago(delivery.createdTime),
        ]),
        print.width,
      );
      return `${facts}\n\n${sent}\n\nSend one again with: breezeway event resend ${one.webhookId} DELIVERY`;
    });
  },
};

const remove: OwnCommand = {
  name: "webhook remove",
  meaning: "remove a webhook",
  examples: ["webhook remove wh_…"],
  arguments: [webhookArgument],
  options: withOwnerOptions,
  async run(call) {
    const api = await serviceOf(call);
    const { webhookId } = await chosenWebhook(call, api);
    const removing = api.write((sdk) => sdk.webhooks.remove(webhookId));
    await call.print.during("removing", removing);
    call.print.data({ webhookId }, () => `Removed webhook ${webhookId}.`);
  },
};

async function all({ print }: Call, api: Api): Promise<readonly Webhook[]> {
  const reading = api.read((sdk) => sdk.webhooks.list());
  return print.during("reading the webhooks", reading);
}

/** The webhook whose id, or the beginning of it, was typed. */
export async function chosenWebhook(call: Call, api: Api): Promise<Webhook> {
  const webhooks = await all(call, api);
  const known = webhooks.map(({ webhookId, url }) => ({ id: webhookId, words: url }));
  const chosen = idByPrefix("webhook", text(call.typed, "webhook"), known);
  return webhooks.find(({ webhookId }) => webhookId === chosen)!;
}

export const webhook: Noun = {
  name: "webhook",
  alias: "webhooks",
  meaning: "addresses that receive events",
  commands: [list, add, show, remove],
};
