import { type WebhookRecord, waitingInWords } from "../../events/webhooks/webhook-administration.ts";
import { readText } from "../../identity/names.ts";
import { afterPart, BadParameter, NotFound, OutcomeUnknown } from "../../model/errors.ts";
import type { AdminCommand, AdministrationParts, Answer } from "../administration/admin-command.ts";
import { afterId, wantedPage } from "../administration/paging.ts";
import { ago } from "../devices/times.ts";
import { type Input, number, optional, text } from "../input.ts";
import type { Noun } from "../noun.ts";
import { counted, rows, table, whole } from "../terminal/output.ts";
import { shownDelivery, shownWebhook } from "./hook-view.ts";
import { chosenTenant, tenantNames, withTenantOption } from "./tenant-option.ts";

const hookArgument = { name: "webhook", meaning: "the webhook's id; see: breezeway hook list" };
const asOption = "--webhook <id>";
/** Without a page, as on a command line. */
const mostListed = 1_000;
const deliveryStates = ["waiting", "delivered", "failed"] as const;

const list: AdminCommand = {
  name: "hook list",
  meaning: "list the webhooks of all clients, with the state of their deliveries",
  examples: ["hook list", "hook list --tenant Acme"],
  options: (command) => withTenantOption(command).option("--client <id>", "of one client only, by its whole id"),
  async act(parts, input) {
    const tenantId = await chosenTenant(parts.identity, input);
    const page = wantedPage(input);
    const limit = page?.limit ?? mostListed;
    const found = await parts.webhooks.list({
      tenantIds: tenantId === undefined ? undefined : [tenantId],
      clientId: optional(input, "client") === undefined ? undefined : readText("client", text(input, "client")),
      afterId: readText("cursor", page?.after ?? ""),
      limit: limit + 1,
    });
    const names = await namesOf(parts);
    const webhooks = found.slice(0, limit).map((one) => shownWebhook(one, names));
    return { answer: { webhooks, ...(found.length > limit && { cursor: webhooks.at(-1)!.webhookId }) } };
  },
  toText({ webhooks }, _typed, width) {
    if (webhooks.length === 0) return "There are no webhooks.";
    return table(
      [whole("WEBHOOK"), "CLIENT", "TENANT", "ADDRESS", "STATE", "WAITING", "FAILED ATTEMPTS", "LAST"],
      (webhooks as Answer[]).map((one) => [
        one.webhookId,
        one.clientName ?? one.clientId,
        one.tenant,
        one.url,
        one.state,
        waitingInWords(one.waiting),
        one.recentFailedAttempts,
        one.lastTime === null ? "never" : ago(Date.parse(one.lastTime)),
      ]),
      width,
    );
  },
};

const show: AdminCommand = {
  name: "hook show",
  meaning: "show a webhook of any client",
  examples: ["hook show wh_…"],
  arguments: [hookArgument],
  options: (command) => command.option(asOption, "the same, as an option"),
  async act(parts, input) {
    return { answer: shownWebhook(await chosenHook(parts, input), await namesOf(parts)) };
  },
  toText(answer, _typed, width) {
    const facts = { ...answer, waiting: waitingInWords(answer.waiting) };
    return rows(
      Object.entries(facts).map(([name, value]) => [name, String(value ?? "-")]),
      width,
    );
  },
};

const deliveries: AdminCommand = {
  name: "hook deliveries",
  meaning: "list the deliveries of a webhook, newest first",
  examples: ["hook deliveries wh_… --state failed"],
  arguments: [hookArgument],
  options: (command) =>
    command
      .option(asOption, "the same, as an option")
      .addOption(
        command
          .createOption(
            "--state <state>",
            "only deliveries of this state; failed: also those that wait after a failed attempt",
          )
          .choices(deliveryStates),
      ),
  async act(parts, input) {
    const { webhook } = await chosenHook(parts, input);
    const page = wantedPage(input);
    const limit = page?.limit ?? 100;
    const found = await parts.webhooks.deliveries(webhook, {
      state: chosenState(input),
      beforeId: page && afterId(page),
      limit: limit + 1,
    });
    const shown = found.slice(0, limit).map(shownDelivery);
    return { answer: { deliveries: shown, ...(found.length > limit && { cursor: String(shown.at(-1)!.deliveryId) }) } };
  },
  toText({ deliveries: sent }, _typed, width) {
    if (sent.length === 0) return "There are no such deliveries.";
    return table(
      ["DELIVERY", "TYPE", "STATE", "ATTEMPTS", "FAILED", "ANSWER", "BEGUN", "LAST TRY", "RESEND"],
      (sent as Answer[]).map((one) => [
        one.deliveryId,
        one.type,
        one.state,
        one.attempts,
        one.failedAttempts,
        one.status ?? one.text ?? "-",
        ago(Date.parse(one.created)),
        lastTry(one),
        one.isResend ? "yes" : "no",
      ]),
      width,
    );
  },
};

/** `3 s ago, took 35 ms`. */
function lastTry({ tries }: Answer): string {
  const { time, tookMs } = tries.at(-1) ?? {};
  return typeof time === "string" ? `${ago(Date.parse(time))}${tookMs === null ? "" : `, took ${tookMs} ms`}` : "-";
}

function chosenState(input: Input) {
  const named = optional(input, "state");
  const state = deliveryStates.find((one) => one === named);
  if (named !== undefined && !state) {
    throw new BadParameter("state", `The state must be one of ${deliveryStates.join(", ")}.`);
  }
  return state;
}

const delivery: AdminCommand = {
  name: "hook delivery",
  meaning: "show one delivery with its attempts and the message that was sent",
  examples: ["hook delivery wh_… --delivery 12"],
  arguments: [hookArgument],
  options: (command) => command.option(asOption, "the same, as an option").requiredOption("--delivery <id>", "its id"),
  async act(parts, input) {
    const { webhook } = await chosenHook(parts, input);
    const found = await parts.webhooks.delivery(webhook, deliveryId(input));
    return { answer: { ...shownDelivery(found), body: JSON.parse(found.body) as object } };
  },
  toText({ tries, body, ...facts }, _typed, width) {
    const known = rows(
      Object.entries(facts).map(([name, value]) => [name, String(value ?? "-")]),
      width,
    );
    return [known, "", triesInWords(tries, width), "", JSON.stringify(body, null, 2)].join("\n");
  },
};

function triesInWords(tries: readonly Answer[], width: number | undefined): string {
  if (tries.length === 0) return "No attempt has ended yet.";
  return table(
    ["ATTEMPT", "MADE", "TOOK", "ANSWER"],
    tries.map(({ attempt, time, tookMs, status, text: failure }) => [
      attempt ?? "-",
      time ?? "-",
      tookMs === null ? "-" : `${tookMs} ms`,
      failure ?? status ?? "-",
    ]),
    width,
  );
}

const resend: AdminCommand = {
  name: "hook resend",
  meaning: "send one message again; one that waits is tried now",

  examples: ["hook resend wh_… --delivery 12"],
  arguments: [hookArgument],
  options: (command) => command.option(asOption, "the same, as an option").requiredOption("--delivery <id>", "its id"),
  async act(parts, input) {
    const { webhook } = await chosenHook(parts, input);
    const resent = await parts.webhooks.resend(webhook, deliveryId(input));
    return { answer: shownDelivery(resent), changed: { ...changedOf(webhook), detail: { webhook: webhook.id } } };
  },
  toText: ({ deliveryId: sent }, { delivery: wanted }) =>
    String(sent) === wanted ? `Delivery ${sent} is tried now.` : `The message is sent again, as delivery ${sent}.`,
};

const resendSince: AdminCommand = {
  name: "hook resend-since",
  meaning: "try now all messages that wait, and those that were given up",
  examples: ["hook resend-since wh_…", "hook resend-since wh_… --since 2026-03-01T09:00:00Z"],
  arguments: [hookArgument],
  options: (command) =>
    command
      .option(asOption, "the same, as an option")
      .option(
        "--since <time>",
        "only messages that were given up since this time, in ISO 8601; without it, all that are stored",
      ),
  async act(parts, input) {
    const since = optional(input, "since");
    const sinceMs = since === undefined ? 0 : Date.parse(since);
    if (Number.isNaN(sinceMs)) throw new BadParameter("since", "The time must be in ISO 8601: 2026-03-01T09:00:00Z.");
    const { webhook } = await chosenHook(parts, input);
    let [tried, resent] = [0, 0];
    const changed = () => {
      const detail = { webhook: webhook.id, since: since && new Date(sinceMs).toISOString(), tried, resent };
      return { ...changedOf(webhook), detail };
    };
    try {
      tried = await parts.webhooks.tryWaiting(webhook);
      await parts.webhooks.resendSince(webhook, sinceMs, (count) => {
        resent = count;
      });
    } catch (error) {
      const isBegun = tried + resent > 0 || error instanceof OutcomeUnknown;
      if (isBegun) await parts.recordUnfinished(changed());
      throw isBegun ? afterPart(error) : error;
    }
    return { answer: { webhookId: webhook.id, tried, resent }, changed: changed() };
  },
  toText: ({ tried, resent }) =>
    `Tried now: ${counted(tried, "waiting message")}. Sent again: ${counted(resent, "message")}.`,
};

const test: AdminCommand = {
  name: "hook test",
  meaning: "send a message of the type test",
  examples: ["hook test wh_…"],
  arguments: [hookArgument],
  options: (command) => command.option(asOption, "the same, as an option"),
  async act(parts, input) {
    const { webhook } = await chosenHook(parts, input);
    const sent = await parts.webhooks.test(webhook);
    return { answer: shownDelivery(sent), changed: { ...changedOf(webhook), detail: { webhook: webhook.id } } };
  },
  toText: ({ deliveryId: sent }) => `A test message is sent, as delivery ${sent}.`,
};

const rotate: AdminCommand = {
  name: "hook rotate",
  meaning: "give a webhook a new secret, shown once; the old one ends at once",
  examples: ["hook rotate wh_…"],
  arguments: [hookArgument],
  options: (command) => command.option(asOption, "the same, as an option"),
  async act(parts, input) {
    const { webhook } = await chosenHook(parts, input);
    const secret = await parts.webhooks.rotate(webhook);
    return {
      answer: { webhookId: webhook.id, secret },
      changed: { ...changedOf(webhook), detail: { webhook: webhook.id } },
    };
  },
  toText: ({ secret }) => `The new secret, which is shown only now:\n\n  ${secret}`,
};

const pause = holding(
  "pause",
  "hold the messages of a webhook; they wait, within the bounds of docs/limits.md, until it is resumed",
  "is paused. Its messages wait.",
);
const resume = holding("resume", "send the messages of a paused webhook, in order", "goes on.");

function holding(verb: "pause" | "resume", meaning: string, outcome: string): AdminCommand {
  return {
    name: `hook ${verb}`,
    meaning,
    examples: [`hook ${verb} wh_…`],
    arguments: [hookArgument],
    options: (command) => command.option(asOption, "the same, as an option"),
    async act(parts, input) {
      const { webhook } = await chosenHook(parts, input);
      const record = await parts.webhooks[verb](webhook);
      const answer = shownWebhook(record, await namesOf(parts));
      return { answer, changed: { ...changedOf(webhook), detail: { webhook: webhook.id } } };
    },
    toText: ({ webhookId, waiting }) =>
      `Webhook ${webhookId} ${outcome} Messages that wait: ${waitingInWords(waiting)}.`,
  };
}

function changedOf({ tenantId, userId, clientId }: WebhookRecord["webhook"]) {
  return { tenantId, userId, clientId };
}

function deliveryId(input: Input): number {
  return Math.floor(number(input, "delivery", 1, Number.MAX_SAFE_INTEGER));
}

/** By its whole id, of a tenant that the caller reaches. */
async function chosenHook({ webhooks }: AdministrationParts, input: Input): Promise<WebhookRecord> {
  const id = readText("webhook", text(input, "webhook"));
  const [found] = await webhooks.list({ id, afterId: "", limit: 1 });
  if (!found) throw new NotFound(`There is no webhook of this id. See all with: breezeway hook list`);
  return found;
}

async function namesOf({ identity, clients }: AdministrationParts) {
  const known = await clients.listClients();
  return { tenants: await tenantNames(identity), clients: new Map(known.map(({ id, name }) => [id, name])) };
}

export const hook: Noun = {
  name: "hook",
  alias: "hooks",
  meaning: "the webhooks of all clients, for administrators",
  commands: [list, show, deliveries, delivery, resend, resendSince, test, pause, resume, rotate],
};
