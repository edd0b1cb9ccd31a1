import { type Html, html } from "../../../web/html.ts";
import { named } from "../../../web/page.ts";
import { band, bandLine, staleWords } from "../alarm-band.ts";
import type { ConsolePage, PageContext } from "../console-page.ts";
import { type Ask, askLinks, openAsk } from "../kit/ask.ts";
import { stateBadge } from "../link-state.ts";
import { alarmLook, alarmTile } from "../tiles/alarm-tile.ts";
import type { Button } from "../tiles/button.ts";
import { commandButtons, stoppedButtons } from "../tiles/console-button.ts";
import { deviceTile } from "../tiles/device-tile.ts";
import type { ShownReceipt, ShownThing } from "../tiles/shown-thing.ts";
import { thermostatTile } from "../tiles/thermostat-tile.ts";
import { commandWords, unitOf } from "../tiles/thermostat-words.ts";
import { ago } from "../times.ts";
import { type BlindInterval, blindTimeline } from "./blind-timeline.ts";

export interface ShownHome {
  readonly userId: number;
  readonly userName: string;
  readonly link: {
    readonly ecosystem: string;
    readonly deviceId: number;
    readonly state: string;
    readonly reason: string;
    readonly confirmedTime: number;
  };
  readonly blindIntervals: readonly BlindInterval[];
  readonly things: readonly (ShownThing & { readonly stale: boolean; readonly confirmedTime: number | null })[];
  readonly commands: readonly ShownReceipt[];
}

/** Older receipts say nothing about the last press of a button. */
const receiptMs = 10 * 60_000;

/** One linked home: what burns, its rooms, since when it is seen, and what was commanded. */
export const home: ConsolePage = {
  path: "/homes/:user/:ecosystem",
  title: "Home",
  subject: "tenants",
  refreshOn: ["attribute", "thing", "thingCommand", "command", "link", "device"],
  query: ["do"],
  partsNotRefreshed: ["ask"],
  async render(context) {
    const { call, parameter } = context;
    const shown: ShownHome = await call("home show", { user: parameter("user"), ecosystem: parameter("ecosystem") });
    return {
      emergency: emergencyBand(shown, context.nowMs),
      ask: openAsk(context, pathOf(shown), asksOf(shown, context)),
      link: linkCard(shown, context),
      rooms: rooms(shown, context),
      blind: blindTimeline(shown.blindIntervals, shown.link, context.nowMs),
      commands: commandList(shown, context),
    };
  },
};

/** Alarms of this home that sound, each with a link to its tile. A stale one is shown as of its last confirmation. */
function emergencyBand({ things }: ShownHome, nowMs: number): Html | undefined {
  const lines = things
    .filter((thing) => ["red", "yellow"].includes(alarmLook(thing).look))
    .map((thing) => bandLine(`#${thing.thingId}`, alarmLook(thing).word, thing, staleWords(thing, nowMs)));
  return lines.length === 0 ? undefined : band(lines);
}

/** Below `/console`. */
const pathOf = ({ userId, link }: ShownHome) => `/homes/${userId}/${encodeURIComponent(link.ecosystem)}`;

function linkCard(shown: ShownHome, context: PageContext): Html {
  const { userName, link } = shown;
  const { ecosystem, deviceId, state, reason, confirmedTime } = link;
  return html`<header class="card-head"><h2><bdi>${userName}</bdi> at ${ecosystem}</h2>${stateBadge(state)}</header>
<dl class="home-facts"><div><dt>Device</dt><dd>${deviceId}</dd></div>
<div><dt>Confirmed</dt><dd>${confirmedTime > 0 ? ago(confirmedTime, context.nowMs) : "never"}</dd></div>
${reason === "" ? undefined : html`<div><dt>Reason</dt><dd>${reason}</dd></div>`}</dl>
${askLinks(context, pathOf(shown), asksOf(shown, context))}`;
}

function asksOf(shown: ShownHome, { address }: PageContext): readonly Ask[] {
  const { userId, userName, link } = shown;
  const { ecosystem, deviceId } = link;
  const input = { user: String(userId), ecosystem };
  return [
    {
      name: "renew",
      act: "home page",
      link: "Connect again",
      title: "Connect the home again",
      words: html`Makes a page for one use, on which ${named(userName)} signs in and consents again. Its address is shown once.`,
      input: { ...input, renew: "true" },
      button: "Make the page",
      afterwards: address(pathOf(shown)),
    },
    {
      name: "unlink",
      act: "home unlink",
      link: "Disconnect",
      title: "Disconnect the home",
      words: html`${named(userName)} is disconnected from ${ecosystem}. The device ${deviceId}, its alerts and its history are removed. This can't be undone.`,
      input,
      button: "Disconnect",
      isGrave: true,
      afterwards: address("/homes", { done: "home unlink" }),
    },
  ];
}

/** The things by room; those without a room come last. */
export function rooms({ userId, link, things, commands }: ShownHome, context: PageContext): Html {
  const shown = things.filter(({ kind }) => kind !== "home");
  if (shown.length === 0) return html`<h2>Things</h2><p class="small">The ecosystem shows none.</p>`;
  const { operator, address, nowMs } = context;
  const here = address(`/homes/${userId}/${encodeURIComponent(link.ecosystem)}`);
  const button = operator.role === "viewer" ? stoppedButtons("only-looks") : commandButtons(userId, here);
  const isAway = things.some(({ traits: { presence } }) => /away/i.test(String(presence?.state.state?.value)));
  const tile = (thing: ShownHome["things"][number]) => {
    const receipt = commands.find((one) => one.thingId === thing.thingId && nowMs - one.requestedTime < receiptMs);
    return tileOf({ thing, receipt, button, isAway, asOfMs: thing.stale ? (thing.confirmedTime ?? 0) : undefined });
  };
  const by = (name: (thing: ShownThing) => string | null, among: typeof shown) =>
    [...Map.groupBy(among, (thing) => name(thing) ?? "")].sort(([a], [b]) => a.localeCompare(b));
  return html`${operator.role === "viewer" ? html`<p class="small" id="only-looks">Your role may look, and send no command.</p>` : undefined}
${by(({ homeName }) => homeName, shown).map(
  ([homeName, inHome]) => html`<h2><bdi>${homeName || "Without a home"}</bdi></h2>
<div class="rooms">${by(({ room }) => room, inHome).map(
    ([room, inRoom]) =>
      html`<div class="room"><h3><bdi>${room || "Without a room"}</bdi></h3>${inRoom.map(tile)}</div>`,
  )}</div>`,
)}`;
}

interface Tile {
  readonly thing: ShownThing;
  readonly receipt: ShownReceipt | undefined;
  readonly button: Button;
  readonly isAway: boolean;
  readonly asOfMs: number | undefined;
}

/** While a state is not current, its buttons can't be pressed: what they would change is unknown. */
function tileOf({ thing, receipt, button, isAway, asOfMs }: Tile): Html {
  if (thing.kind === "alarm") return alarmTile(thing, asOfMs);
  const pressed = asOfMs === undefined ? button : stoppedButtons(`${thing.thingId}-name`);
  if (thing.kind === "thermostat") {
    // Only the ecosystem whose fans have timers refuses commands while nobody is home.
    const isRefused = isAway && thing.traits.fanTimer !== undefined;
    return thermostatTile({ thing, receipt, isRefused, button: pressed, asOfMs });
  }
  return deviceTile({ thing, receipt, button: pressed, asOfMs });
}

/** What the states of commands mean. */
const stateWords: Readonly<Record<string, string>> = {
  queued: "waits to be sent",
  sending: "sent",
  accepted: "accepted",
  confirmed: "confirmed by the home",
  rejected: "refused",
  contradicted: "accepted, but the home shows otherwise",
  expired: "unknown whether it was carried out",
  replaced: "replaced by a newer one",
};

function commandList({ commands, things }: ShownHome, { nowMs }: PageContext): Html {
  const line = (receipt: ShownReceipt) => {
    const thing = things.find(({ thingId }) => thingId === receipt.thingId);
    return html`<li><span><strong><bdi>${thing?.name ?? "a thing"}</bdi></strong>: ${commandWords(receipt, thing && unitOf(thing))} · ${stateWords[receipt.state] ?? receipt.state}${
      receipt.error ? html`<span class="small"> ${receipt.error.text}</span>` : undefined
    }</span> <span class="small">${ago(receipt.requestedTime, nowMs)}</span></li>`;
  };
  return html`<h2>Commands</h2>
${commands.length === 0 ? html`<p class="small">None yet.</p>` : html`<ol class="lines">${commands.map(line)}</ol>`}`;
}
