import { type Html, html } from "../../../web/html.ts";
import { named } from "../../../web/page.ts";
import { thingWords } from "../alerts/editor.ts";
import type { ConsolePage, PageContext } from "../console-page.ts";
import type { ListedThing } from "../devices/thing-tiles.ts";
import { asCommand } from "../kit/as-command.ts";
import { attempt, refusal } from "../kit/refused.ts";
import { type StatusLevel, state } from "../kit/state.ts";
import { type Column, filterForm, kept, pager, tableOf } from "../kit/table.ts";
import { alarmLook } from "../tiles/alarm-tile.ts";
import { stateWords as deviceWords } from "../tiles/device-tile.ts";
import { climateWords, modeWords } from "../tiles/thermostat-words.ts";
import { ago } from "../times.ts";

const path = "/things";
const filters = ["user", "kind", "name", "state", "stale"];
const perPage = 50;
const kinds = ["thermostat", "alarm", "fan", "light", "switch", "sensor", "home", "other"].map(
  (kind) => [kind, kind] as const,
);

/** The things of all users, or of one with the devices, and what each shows now. */
export const things: ConsolePage = {
  path,
  title: "Things",
  navigationLabel: "Things",
  subject: "tenants",
  // Not each change of a thing: in a large deployment the page would be made anew all the time.
  refreshOn: ["device", "link"],
  query: [...filters, "cursor"],
  async render(context) {
    const user = context.parameter("user") ?? "";
    const form = filterForm(context, path, [
      { name: "user", label: "Home, user or user id" },
      { name: "kind", label: "Kind", choices: kinds },
      { name: "name", label: "Name, room or home" },
      { name: "state", label: "Shows, as in smoke.state=alarm" },
      { name: "stale", label: "Out of date", choices: [["true", "may be"]] },
    ]);
    const tried = await attempt<Found>(find(context, user));
    return {
      filter: html`${form}${tried.refused && refusal(tried.refused)}`,
      things: tried.refused ? undefined : list(context, tried.answer),
      devices: tried.refused || !tried.answer.owner ? undefined : devices(context, tried.answer.owner),
    };
  },
};

/** A thing in the list. */
interface FoundThing extends ListedThing {
  readonly userId: number;
  readonly userName: string;
}

interface Owner {
  readonly userId: number;
  readonly name: string;
  readonly devices: readonly {
    readonly deviceId: number;
    readonly deviceName: string;
    readonly deviceTypeName: string;
  }[];
}

interface Found {
  /** Undefined for the things of all users. */
  readonly owner: Owner | undefined;
  readonly things: readonly FoundThing[];
  readonly cursor?: string;
  readonly input: Readonly<Record<string, string>>;
}

async function find(context: PageContext, user: string): Promise<Found> {
  const { call, tenant, parameter } = context;
  const { name, stale, ...plain } = kept(context, filters);
  const input = { ...plain, ...(name !== undefined && { filter: name }) };
  // A user is of one tenant.
  const ofTenant: Readonly<Record<string, string>> = user === "" && tenant ? { tenant: String(tenant.tenantId) } : {};
  const cursor = parameter("cursor");
  const [owner, answer] = await Promise.all([
    user === "" ? undefined : (call("user show", { user }) as Promise<Owner>),
    call("home things", {
      ...input,
      ...ofTenant,
      "page-size": String(perPage),
      ...(stale === "true" && { stale: true }),
      ...(cursor !== undefined && { cursor }),
    }),
  ]);
  const linkInput = { ...input, ...ofTenant, ...(stale === "true" && { stale }) };
  return { owner, things: answer.things, cursor: answer.cursor, input: linkInput };
}

function list(context: PageContext, { owner, things: found, cursor, input }: Found): Html {
  const { address, nowMs, callOf, baseUrl } = context;
  const call = callOf("home things");
  const ofUser: Column<FoundThing> = {
    title: "User",
    cell: ({ userId, userName }) =>
      html`<a href="${address(path, { user: String(userId) })}">${userName === "" ? `user ${userId}` : named(userName)}</a>`,
  };
  const title = owner
    ? html`<h2>Things of <a href="${address(`/users/${owner.userId}`)}">${named(owner.name)}</a></h2>`
    : html`<h2>Things of all users</h2>`;
  return html`${title}
${
  found.length === 0
    ? html`<p>${empty(context, owner, cursor)}</p>`
    : tableOf<FoundThing>(
        owner ? `Things of ${owner.name}` : "Things of all users",
        [
          {
            title: "Thing",
            cell: (thing) =>
              html`<a href="${address(`/devices/${thing.userId}/${thing.deviceId}`)}#${thing.thingId}"><bdi>${thingWords(thing)}</bdi></a>`,
          },
          ...(owner ? [] : [ofUser]),
          { title: "Kind", cell: ({ kind: of }) => of },
          { title: "Shows", cell: (thing) => shows(thing, nowMs) },
          { title: "Source", cell: ({ source, maker, model }) => [source, maker, model].filter(Boolean).join(", ") },
          { title: "Id", cell: ({ thingId }) => html`<span class="code">${thingId}</span>` },
        ],
        found,
      )
}
${pager(context, path, filters, cursor)}
${call && asCommand(call, input, baseUrl)}`;
}

function empty(context: PageContext, owner: Owner | undefined, cursor: string | undefined): string {
  if (cursor !== undefined) return "None of the things that were examined so far fits. The next page goes on.";
  const isFiltered = Object.keys(kept(context, [...filters.filter((name) => name !== "user"), "cursor"])).length > 0;
  if (isFiltered) return "No thing fits.";
  return owner ? "This user has no things." : "There are no things yet.";
}

/** What a thing shows now. What may be out of date says so, with the time of the last confirmation. */
function shows(thing: ListedThing, nowMs: number): Html {
  const words = wordsOf(thing);
  if (thing.goneTime !== null)
    return html`${state("off", "Gone")} <span class="small">${ago(thing.goneTime, nowMs)}</span>`;
  if (!thing.stale) return thing.kind === "alarm" ? alarmState(thing) : html`<bdi>${words}</bdi>`;
  const isConfirmed = thing.confirmedTime !== null && thing.confirmedTime !== 0;
  const was = isConfirmed ? ago(thing.confirmedTime, nowMs) : html`never confirmed`;
  // An emergency that was seen stays visible, as on the tile of the alarm.
  if (thing.kind === "alarm" && ["red", "yellow"].includes(alarmLook(thing).look)) {
    return html`${alarmState(thing)} <span class="small">seen ${was}; unknown now</span>`;
  }
  // An alarm that was clear is not shown as clear, not even as it was.
  if (thing.kind === "alarm") {
    return html`${state("warn", "Unknown now")} <span class="small">${isConfirmed ? "last confirmed " : ""}${was}</span>`;
  }
  return html`${state("warn", "Unknown now")} <span class="small"><bdi>${words}</bdi>, ${was}</span>`;
}

const moods: Readonly<Record<string, StatusLevel>> = { red: "bad", yellow: "warn", green: "good" };

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

function devices({ address }: PageContext, { userId, devices: owned }: Owner): Html {
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
