import { readFieldName } from "../../../home/field-names.ts";
import { BadParameter } from "../../../model/errors.ts";
import type { TenantId, UserId } from "../../../model/ids.ts";
import type { AdminCommand, AdministrationParts, Answer } from "../../administration/admin-command.ts";
import type { HomeThing, ThingCursor } from "../../administration/homes/home-parts.ts";
import { pageOf, wantedPage } from "../../administration/paging.ts";
import { hasFlag, type Input, id, optional } from "../../input.ts";
import { table, whole } from "../../terminal/output.ts";
import { chosenTenant, withTenantOption } from "../tenant-option.ts";

/** Things that a command line prints, and things that are examined for one page and for a command line. */
const mostListed = 1_000;
export const examinedPerPage = 800;
const examinedInAll = 200_000;

/** The things of one user or of all users, those of own devices too. */
export const listThings: AdminCommand = {
  name: "home things",
  meaning: "list the things of a user, of a tenant or of all tenants, with those of own devices",
  examples: [
    "home things --user 3",
    "home things --tenant Acme --kind alarm --state smoke.state=alarm",
    "home things --stale",
  ],
  options: (command) =>
    withTenantOption(command)
      .option("--user <id>", "of one user only")
      .option("--kind <kind>", "only of this kind, such as thermostat, alarm or light")
      .option("--filter <text>", "only those whose name, room or home contains this text")
      .option("--state <trait.field=value>", "only those that show this, as in smoke.state=alarm or onOff.on=true")
      .option("--stale", "only those whose values may be out of date"),
  toText({ things, cursor }, _typed, width) {
    const more = cursor === undefined ? "" : "\n\nThere are more things, which were not examined. Narrow the list.";
    return `${thingTable(things, width)}${more}`;
  },
  async act(parts, input) {
    if (optional(input, "user") !== undefined) return { answer: await ofUser(parts, input) };
    const tenantId = await chosenTenant(parts.identity, input);
    const tenantIds =
      tenantId === undefined ? (await parts.identity.listTenants()).map((one) => one.tenantId) : [tenantId];
    const page = wantedPage(input);
    const limit = page?.limit ?? mostListed;
    const { things, next } = await parts.homes.findThings({
      tenantIds,
      kind: optional(input, "kind"),
      isWanted: wantedIn(input),
      after: page?.after === undefined ? undefined : cursorIn(page.after),
      limit,
      portions: Math.ceil((page ? examinedPerPage : examinedInAll) / limit),
    });
    const shown = things.map((thing) => ({ ...thingAnswer(thing), userName: thing.userName }));
    return { answer: { things: shown, ...(next && { cursor: cursorOf(next) }) } };
  },
};

async function ofUser({ identity, homes }: AdministrationParts, input: Input) {
  const { userId, name: userName } = await identity.findUser(id<UserId>(input, "user"));
  const kind = optional(input, "kind");
  const isWanted = wantedIn(input);
  const all = (await homes.things(userId)).filter(
    (thing) => (kind === undefined || thing.kind === kind) && isWanted(thing),
  );
  // The words are compared above already.
  const { rows, cursor } = pageOf(
    all,
    { ...input, filter: undefined },
    { key: ({ thingId }) => thingId, words: () => "" },
  );
  const things = rows.map((thing) => ({ ...thingAnswer(thing), userName }));
  return { things, ...(cursor !== undefined && { cursor }) };
}

/** Whether a thing fits the filters that the store does not know. */
function wantedIn(input: Input): (thing: HomeThing) => boolean {
  const filter = optional(input, "filter")?.toLowerCase();
  const onlyStale = hasFlag(input, "stale");
  const shows = showsIn(input);
  return (thing) =>
    (!onlyStale || thing.isStale || thing.goneMs !== null) &&
    (filter === undefined ||
      `${thing.name ?? ""} ${thing.room ?? ""} ${thing.homeName ?? ""}`.toLowerCase().includes(filter)) &&
    shows(thing);
}

function showsIn(input: Input): (thing: HomeThing) => boolean {
  const typed = optional(input, "state");
  if (typed === undefined) return () => true;
  const at = typed.indexOf("=");
  const named = at < 1 ? undefined : readFieldName(typed.slice(0, at));
  if (!named) {
    throw new BadParameter("state", "The state must be written as trait.field=value, as in smoke.state=alarm.");
  }
  const value = typed.slice(at + 1);
  return ({ state }) => {
    const fieldValue = state[named.trait]?.[named.field]?.[0];
    return fieldValue !== undefined && fieldValue !== null && String(fieldValue) === value;
  };
}

/** The place of a list over all users as text. The last two numbers are among the things of own devices. */
function cursorOf({ tenantId, afterDevice, afterThing, own }: ThingCursor): string {
  const ofOwn = own && `.${own.type ?? 0}.${own.afterDevice ?? 0}`;
  return `${tenantId}.${afterDevice}.${afterThing}${ofOwn ?? ""}`;
}

function cursorIn(cursor: string): ThingCursor {
  const found = /^(\d{1,10})\.(\d{1,10})\.([\w-]{0,64})(?:\.(\d{1,10})\.(\d{1,10}))?$/.exec(cursor);
  const numbers = [found?.[1], found?.[2], found?.[4], found?.[5]].map((text) => Number(text ?? 0));
  if (!found || numbers.some((one) => one > 2_147_483_647)) {
    throw new BadParameter("cursor", "The cursor is not one of this list. Start without it.");
  }
  const [tenantId = 0, afterDevice = 0, type = 0, afterOwn = 0] = numbers;
  const own = found[4] === undefined ? undefined : { type, afterDevice: afterOwn };
  return { tenantId: tenantId as TenantId, afterDevice, afterThing: found[3]!, own };
}

export function thingTable(things: readonly Answer[], width?: number): string {
  if (things.length === 0) return "There are no things.";
  return table(
    ["USER", whole("THING"), "KIND", "NAME", "ROOM", "STALE"],
    things.map((one) => [
      one.userId,
      one.thingId,
      one.kind,
      one.name ?? "-",
      one.room ?? "-",
      one.stale ? "yes" : "no",
    ]),
    width,
  );
}

/** A thing with its traits: what each can do, and each field with its value and the time of its last change. */
export function thingAnswer(thing: HomeThing) {
  const { userId, thingId, deviceId, kind, name, room, homeName, maker, model, source, goneMs, isStale, confirmedMs } =
    thing;
  const traits = Object.entries(thing.state).map(([trait, fields]) => {
    const shown = Object.entries(fields).map(([field, [value, timeMs]]) => [field, { value, updateTime: timeMs }]);
    const capabilities = thing.capabilities[trait as keyof typeof thing.capabilities] ?? {};
    return [trait, { capabilities, state: Object.fromEntries(shown) }] as const;
  });
  return {
    userId,
    thingId,
    deviceId,
    kind,
    name,
    room,
    homeName,
    maker,
    model,
    source,
    goneTime: goneMs,
    stale: isStale || goneMs !== null,
    confirmedTime: confirmedMs,
    traits: Object.fromEntries(traits),
  };
}
