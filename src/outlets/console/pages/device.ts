import { type Html, html } from "../../../web/html.ts";
import { named } from "../../../web/page.ts";
import { alertReason, alertState, type ShownAlert } from "../alerts/shown-alert.ts";
import type { ConsolePage, PageContext } from "../console-page.ts";
import { attributeGroups, indexMap } from "../devices/attribute-groups.ts";
import type { PastChanges, ShownDevice } from "../devices/shown-device.ts";
import { type ListedThing, thingTiles } from "../devices/thing-tiles.ts";
import { asCommand } from "../kit/as-command.ts";
import { type Ask, askLinks, openAsk, typed } from "../kit/ask.ts";
import { clientOf, type Names, namesOf } from "../kit/names.ts";
import { state } from "../kit/state.ts";
import { factsOf } from "../kit/table.ts";
import { ago } from "../times.ts";

/** One device: its things with their traits first, then its attributes, which slot is which thing, and who watches. */
export const device: ConsolePage = {
  path: "/devices/:user/:device",
  title: "Device",
  subject: "tenants",
  refreshOn: ["attribute", "thing", "thingCommand", "command", "link", "device", "alert", "thingAlert"],
  query: ["do"],
  partsNotRefreshed: ["ask"],
  async render(context) {
    const { call, parameter, nowMs, address, callOf, baseUrl } = context;
    const input = { user: parameter("user")!, device: parameter("device")! };
    const [shown, past, { things }, { alerts }]: [ShownDevice, PastChanges, Things, Alerts] = await Promise.all([
      call("home device show", input),
      call("home device history", { ...input, from: "24h" }),
      call("home things", { user: input.user }),
      call("home alert list", { user: input.user, device: input.device, "page-size": "50" }),
    ]);
    const names = await namesOf(context, shown.webhooks);
    const here = `/devices/${shown.userId}/${shown.deviceId}`;
    const asks = asksOf(shown);
    const showing = callOf("home device show");
    const own = things.filter(({ deviceId, goneTime }) => deviceId === shown.deviceId && goneTime === null);
    return {
      ask: openAsk(context, here, asks),
      device: html`<p><a href="${address("/things", { user: input.user })}">All things of <bdi>${shown.userName}</bdi></a></p>
<h2><bdi>${shown.deviceName}</bdi></h2>
${factsOf([
  ["Device", shown.deviceId],
  ["Type", html`<bdi>${shown.deviceTypeName}</bdi>`],
  ["Room", shown.room === null ? undefined : html`<bdi>${shown.room}</bdi>`],
  ["User", html`<a href="${address(`/users/${shown.userId}`)}">${named(shown.userName)}</a>`],
  ["State", freshness(shown, nowMs)],
])}
${askLinks(context, here, asks)}
${showing && asCommand(showing, input, baseUrl)}`,
      things:
        own.length === 0
          ? undefined
          : html`<h2>Things</h2><div class="tiles">${thingTiles(own, shown.userId, address(here), context)}</div>`,
      attributes: attributeGroups(shown, past, nowMs),
      index: indexMap(shown),
      watchers: watchers(context, shown, alerts, names),
    };
  },
};

interface Things {
  readonly things: readonly ListedThing[];
}

interface Alerts {
  readonly alerts: readonly ShownAlert[];
}

/** Values of an own device are what was last written; those of a linked account are as old as its confirmation. */
function freshness({ virtual, stale, confirmedTime }: ShownDevice, nowMs: number): Html {
  if (!virtual) return html`Its values are as they were last written.`;
  const confirmed =
    confirmedTime === null || confirmedTime === 0 ? "never confirmed" : html`confirmed ${ago(confirmedTime, nowMs)}`;
  return html`${stale ? state("warn", "Stale") : state("good", "Current")} ${confirmed}`;
}

function watchers(
  { address, callOf }: PageContext,
  shown: ShownDevice,
  alerts: readonly ShownAlert[],
  names: Names,
): Html {
  const lines = [
    ...alerts.map(
      (alert) =>
        html`<li><span><a href="${address(`/alerts/${alert.userId}/${alert.alertId}`)}"><bdi>${alert.sentence}</bdi></a></span> <span>${alertState(alert)} <span class="small">${alertReason(alert)}</span></span></li>`,
    ),
    ...shown.webhooks.map(
      ({ webhookId, clientId, ofTenant }) =>
        html`<li><span><a href="${address(`/webhooks/${webhookId}`)}">A webhook</a> of ${clientOf(clientId, names)}</span> <span class="small">${ofTenant ? "of the whole tenant" : "of this user"}</span></li>`,
    ),
  ];
  return html`<h2>Who watches</h2>
${lines.length === 0 ? html`<p class="small">No alert and no webhook.</p>` : html`<ul class="lines">${lines}</ul>`}
${alerts.length === 50 ? html`<p class="small">The newest 50 alerts.</p>` : undefined}
${
  callOf("home alert add") &&
  html`<p class="asks"><a class="button" href="${address("/alerts/new", { user: String(shown.userId), watch: `device:${shown.deviceId}` })}">New alert</a></p>`
}`;
}

function asksOf({ userId, deviceId, attributes, virtual }: ShownDevice): readonly Ask[] {
  const input = { user: String(userId), device: String(deviceId) };
  const example = attributes.find(({ writable }) => writable)?.name ?? "power";
  return [
    {
      name: "write",
      act: "home device write",
      link: "Write attributes",
      title: "Write attributes",
      words: virtual
        ? "Of a linked account only the fan requests can be written. The ecosystem then decides."
        : "All of them are written, or none. Alerts that watch them may fire.",
      input,
      fields: typed({
        option: "set",
        label: "Attributes, one in each line",
        hint: `As name=value: ${example}=on. Nothing after the sign erases the value.`,
        isLines: true,
        isRequired: true,
        isFirst: true,
      }),
      example: { ...input, set: [`${example}=on`] },
      button: "Write",
    },
  ];
}
