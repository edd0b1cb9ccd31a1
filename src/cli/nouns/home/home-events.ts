import { type Chain, type ChainStep, causeOf } from "../../../events/chains.ts";
import type { RecentChains, RecentQuestion } from "../../../events/recent-chains.ts";
import { BadParameter } from "../../../model/errors.ts";
import type { DeviceId, UserId } from "../../../model/ids.ts";
import type { AdminCommand, AdministrationParts, Answer } from "../../administration/admin-command.ts";
import { stepSentence } from "../../administration/homes/event-sentences.ts";
import type { SubjectNames } from "../../administration/homes/home-alerts.ts";
import { wantedPage } from "../../administration/paging.ts";
import { ago } from "../../devices/times.ts";
import { type Input, id, optional } from "../../input.ts";
import { table } from "../../terminal/output.ts";
import { chosenTenant, withTenantOption } from "../tenant-option.ts";

/** On a command line, where there are no pages. */
const mostListed = 200;
/** Steps of one chain that are shown; a chain can have a thousand. */
const mostSteps = 50;
/** Names that are read for one user. */
const mostNames = 200;

const kinds: readonly NonNullable<RecentQuestion["kind"]>[] = [
  "attribute",
  "thing",
  "alert",
  "thingAlert",
  "command",
  "thingCommand",
  "link",
  "linkSession",
  "device",
];

export const listEvents: AdminCommand = {
  name: "home events",
  meaning: "list what happened last, one entry for each cause with everything that it led to",
  examples: ["home events", "home events --user 3 --kind thingAlert", "home events --device 8 --json"],
  options: (command) =>
    withTenantOption(command)
      .option("--user <id>", "of one user only")
      .option("--device <id>", "only causes that concern this device")
      .option("--kind <kind>", `only causes with an entry of this kind: ${kinds.join(", ")}`),
  toText({ events }, _typed, width) {
    if (events.length === 0) return "Nothing has happened.";
    return table(
      ["TIME", "USER", "WHAT", "THEN"],
      (events as Answer[]).map((one) => [ago(one.time), one.userId ?? "-", one.sentence, one.steps.length - 1]),
      width,
    );
  },
  async act(parts, input) {
    const { identity, homeEvents } = parts;
    const tenantId = await chosenTenant(identity, input);
    const page = wantedPage(input);
    const found = await homeEvents.recent({
      tenantIds: tenantId === undefined ? undefined : [tenantId],
      userId: optional(input, "user") === undefined ? undefined : id<UserId>(input, "user"),
      deviceId: optional(input, "device") === undefined ? undefined : id<DeviceId>(input, "device"),
      kind: kindIn(input),
      before: page?.after === undefined ? undefined : placeOf(page.after),
      limit: page?.limit ?? mostListed,
    });
    const names = await namesIn(parts, found.chains);
    return {
      answer: {
        events: found.chains.map((chain) => eventAnswer(chain, names)),
        lookedBackTo: found.lookedBackToMs ?? null,
        ...(found.next && { cursor: `${found.next.transaction}-${found.next.id}` }),
      },
    };
  },
};

function kindIn(input: Input): RecentQuestion["kind"] {
  const typed = optional(input, "kind");
  const kind = kinds.find((one) => one === typed);
  if (typed === undefined || kind !== undefined) return kind;
  throw new BadParameter("kind", `--kind must be one of: ${kinds.join(", ")}.`);
}

function placeOf(cursor: string): NonNullable<RecentQuestion["before"]> {
  const [, transaction, entry] = /^(\d{1,15})-(\d{1,15})$/.exec(cursor) ?? [];
  if (transaction === undefined || entry === undefined) {
    throw new BadParameter("cursor", "The cursor is not one of this list. Start without it.");
  }
  return { transaction: Number(transaction), id: Number(entry) };
}

/** The names of each user's devices and things are read once. */
async function namesIn({ homeAlerts }: AdministrationParts, chains: readonly Chain[]) {
  const byUser = Map.groupBy(
    chains.flatMap(({ steps }) => steps.slice(0, mostSteps)),
    ({ userId }) => userId,
  );
  return new Map(
    await Promise.all(
      [...byUser].map(async ([userId, steps]) => {
        if (userId === null) return [userId, nobody] as const;
        const deviceIds = [...new Set(steps.flatMap(({ deviceId }) => deviceId ?? []))].slice(0, mostNames);
        const thingIds = [...new Set(steps.flatMap(thingsIn))].slice(0, mostNames);
        return [userId, await homeAlerts.names(userId, deviceIds, thingIds)] as const;
      }),
    ),
  );
}

const nobody: SubjectNames = { devices: new Map(), things: new Map() };

function thingsIn({ body }: ChainStep): readonly string[] {
  const changed = (Array.isArray(body.things) ? body.things : []) as readonly { readonly thingId?: unknown }[];
  return [body, ...changed].flatMap(({ thingId }) => (typeof thingId === "string" ? [thingId] : []));
}

function eventAnswer(chain: RecentChains["chains"][number], names: ReadonlyMap<UserId | null, SubjectNames>) {
  const [root] = chain.steps;
  const { userId, tenantId, deviceId, timeMs, position } = root!;
  const known = names.get(userId) ?? nobody;
  return {
    eventId: `${position.transaction}-${position.id}`,
    time: timeMs,
    userId,
    tenantId,
    deviceId,
    cause: causeOf(root!.body) ?? null,
    sentence: stepSentence(root!, known),
    steps: chain.steps.slice(0, mostSteps).map((step) => ({
      time: step.timeMs,
      kind: step.kind,
      deviceId: step.deviceId,
      sentence: stepSentence(step, known),
      raw: step.body,
    })),
    moreSteps: Math.max(0, chain.steps.length - mostSteps),
    deliveries: chain.deliveries.map(({ id: deliveryId, webhookId, type, state, status }) => ({
      deliveryId,
      webhookId,
      type,
      state,
      status,
    })),
  };
}
