import { type Html, html } from "../../../web/html.ts";
import { named } from "../../../web/page.ts";
import { thingWords } from "../alerts/editor.ts";
import type { ConsolePage, PageContext } from "../console-page.ts";
import type { ListedThing } from "../devices/thing-tiles.ts";
import { asCommand } from "../kit/as-command.ts";
import { attempt, refusal } from "../kit/refused.ts";
import { type Mood, state } from "../kit/state.ts";
import { filterForm, pager, tableOf } from "../kit/table.ts";
import { alarmLook } from "../tiles/alarm-tile.ts";
import { stateWords as deviceWords } from "../tiles/device-tile.ts";
import { climateWords, modeWords } from "../tiles/thermostat-words.ts";
import { ago } from "../times.ts";

const path = "/things";
const filters = ["user", "kind", "name"];
const perPage = 50;
const kinds = ["thermostat", "alarm", "fan", "light", "switch", "sensor", "home", "other"].map(
  (kind) => [kind, kind] as const,
);

/** The things of a user, with what each shows now. Without a user: whose things can be looked at. */
export const things: ConsolePage = {
  path,
  title: "Things",
  rail: "Things",
  subject: "tenants",
  hears: ["thing", "attribute", "device", "link"],
  query: [...filters, "cursor"],
  async render(context) {
    const user = context.parameter("user") ?? "";
    const form = filterForm(context, path, [
      { name: "user", label: "User id" },
      { name: "kind", label: "Kind", choices: kinds },
      { name: "name", label: "Name or room" },
    ]);
    if (user === "") return { filter: form, users: await users(context) };
    const tried = await attempt<Found>(home(context, user));
    return {
      filter: html`${form}${tried.refused && refusal(tried.refused)}`,
      things: tried.refused ? undefined : list(context, tried.answer),
      devices: tried.refused ? undefined : devices(context, tried.answer),
    };
  },
};

interface Found {
  readonly userId: number;
  readonly userName: string;
  readonly things: readonly ListedThing[];
  readonly devices: readonly {
    readonly deviceId: number;
    readonly deviceName: string;
    readonly deviceTypeName: string;
  }[];
}

async function home({ call }: PageContext, user: string): Promise<Found> {
  const [shown, answer] = await Promise.all([call("user show", { user }), call("home things", { user })]);
  return { userId: shown.userId, userName: shown.name, devices: shown.devices, things: answer.things };
}

/** The first users that fit the name. */
async function users({ call, address, tenant, parameter }: PageContext): Promise<Html> {
  const filter = parameter("name") ?? "";
  const ofTenant = tenant && { tenant: String(tenant.tenantId) };
  const answer = await call("user list", {
    "page-size": String(perPage),
    ...(filter !== "" && { filter }),
    ...ofTenant,
  });
  const found = answer.users as readonly { readonly userId: number; readonly name: string; readonly tenant: string }[];
  return html`<h2>Whose things?</h2>
${
  found.length === 0
    ? html`<p>No user fits.</p>`
    : html`<ul class="lines">${found.map(
        ({ userId, name, tenant: of }) =>
          html`<li><a href="${address(path, { user: String(userId) })}">${named(name)}</a> <span class="small"><bdi>${of}</bdi></span></li>`,
      )}</ul>`
}
<p class="small">The first ${perPage} users that fit.</p>`;
}

function list(context: PageContext, { things: all, userId, userName }: Found): Html {
  const { parameter, address, nowMs, callOf, baseUrl } = context;
  const [kind, name, cursor] = [parameter("kind") ?? "", (parameter("name") ?? "").toLowerCase(), parameter("cursor")];
  const fitting = all.filter(
    (thing) =>
      (kind === "" || thing.kind === kind) &&
      `${thing.name ?? ""} ${thing.room ?? ""} ${thing.homeName ?? ""}`.toLowerCase().includes(name),
  );
  const start = cursor === undefined ? 0 : fitting.findIndex(({ thingId }) => thingId === cursor) + 1;
  const page = fitting.slice(start, start + perPage);
  const next = fitting.length > start + perPage ? page.at(-1)?.thingId : undefined;
  const call = callOf("home things");
  const shown =
    page.length === 0
      ? html`<p>${all.length === 0 ? "This user has no things." : "No thing fits."}</p>`
      : tableOf<ListedThing>(
          `Things of ${userName}`,
          [
            {
              title: "Thing",
              cell: (thing) =>
                html`<a href="${address(`/devices/${userId}/${thing.deviceId}`)}#${thing.thingId}"><bdi>${thingWords(thing)}</bdi></a>`,
            },
            { title: "Kind", cell: ({ kind: of }) => of },
            { title: "Shows", cell: (thing) => shows(thing, nowMs) },
            { title: "Source", cell: ({ source, maker, model }) => [source, maker, model].filter(Boolean).join(", ") },
            { title: "Id", cell: ({ thingId }) => html`<span class="code">${thingId}</span>` },
          ],
          page,
        );
  return html`<h2>Things of <a href="${address(`/users/${userId}`)}">${named(userName)}</a></h2>
${shown}
${pager(context, path, filters, next)}
${call && asCommand(call, { user: String(userId) }, baseUrl)}`;
}

/** What a thing shows now. What may be out of date says so, with the time of the last confirmation. */
function shows(thing: ListedThing, nowMs: number): Html {
  const words = wordsOf(thing);
  if (thing.goneTime !== null)
    return html`${state("off", "Gone")} <span class="small">${ago(thing.goneTime, nowMs)}</span>`;
  if (!thing.stale) return thing.kind === "alarm" ? alarmState(thing) : html`<bdi>${words}</bdi>`;
  const was =
    thing.confirmedTime === null || thing.confirmedTime === 0 ? html`never confirmed` : ago(thing.confirmedTime, nowMs);
  // An emergency that was seen stays visible, as on the tile of the alarm.
  if (thing.kind === "alarm" && ["red", "yellow"].includes(alarmLook(thing).look)) {
    return html`${alarmState(thing)} <span class="small">seen ${was}; unknown now</span>`;
  }
  return html`${state("warn", "Unknown now")} <span class="small"><bdi>${words}</bdi>, ${was}</span>`;
}

const moods: Readonly<Record<string, Mood>> = { red: "bad", yellow: "warn", green: "good" };

/** An alarm that burns stands out in a list too. */
function alarmState(thing: ListedThing): Html {
  const { look, word } = alarmLook(thing);
  return state(moods[look] ?? "off", word);
}

function wordsOf(thing: ListedThing): string {
  const { presence } = thing.traits;
  if (thing.kind === "alarm") return alarmLook(thing).word;
  if (thing.kind === "thermostat") return `${modeWords(thing)}; ${climateWords(thing)}`;
  if (presence) return String(presence.state.state?.value ?? "unknown");
  return deviceWords(thing);
}

function devices({ address }: PageContext, { userId, devices: owned }: Found): Html {
  return html`<h2>Devices</h2>
${
  owned.length === 0
    ? html`<p class="small">This user has no device.</p>`
    : html`<ul class="lines">${owned
        .slice(0, perPage)
        .map(
          ({ deviceId, deviceName, deviceTypeName }) =>
            html`<li><span><a href="${address(`/devices/${userId}/${deviceId}`)}"><bdi>${deviceName}</bdi></a></span> <span class="small"><bdi>${deviceTypeName}</bdi>, device ${deviceId}</span></li>`,
        )}</ul>`
}
${owned.length > perPage ? html`<p class="small">The first ${perPage} of ${owned.length}.</p>` : undefined}`;
}
