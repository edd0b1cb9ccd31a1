import { alarmPlace, alarmWords } from "../../home/sounding.ts";
import { ownSource } from "../../own-things/own-things.ts";
import { type Html, html } from "../../web/html.ts";
import { named } from "../../web/page.ts";
import type { ConsolePage, PageContext, ShownAlarm } from "./console-page.ts";
import { iconOf } from "./tiles/icons.ts";
import { ago } from "./times.ts";

/** Alarms that the band names; a link leads to the homes of all. */
const mostNamed = 3;

/** The smoke and CO alarms that sound, on top of every page. The page of a home shows its own ones itself. */
export async function alarmBand({ path }: ConsolePage, context: PageContext): Promise<Html | undefined> {
  if (!context.wants("alarms")) return undefined;
  const { alarms, isComplete } = await context.alarms();
  const { parameter } = context;
  const isOwn = ({ userId, source }: ShownAlarm) =>
    path === "/homes/:user/:ecosystem" && String(userId) === parameter("user") && source === parameter("ecosystem");
  const others = alarms.filter((alarm) => !isOwn(alarm));
  if (others.length === 0) return undefined;
  const more = others.length - mostNamed;
  const words = isComplete ? `and ${more} more` : `and ${Math.max(more, 1)} or more others`;
  const lines = others.slice(0, mostNamed).map((alarm) => {
    const stale = staleWords(alarm, context.nowMs);
    const more = html`${named(alarm.userName)}${stale && html` · ${stale}`}`;
    return bandLine(alarmAddress(alarm, context), alarmWords(alarm), alarm, more);
  });
  // Of all tenants, also while one is chosen.
  const rest = html`<li><a href="/console/homes?alarm=true">${words}</a></li>`;
  return band(more > 0 || !isComplete ? [...lines, rest] : lines);
}

export function band(lines: readonly Html[]): Html {
  return html`<div class="band" role="alert">${iconOf("flame")}<ul>${lines}</ul></div>`;
}

/** `Smoke emergency: Hallway, Maple Street`, as a link, and what else is known. */
export function bandLine(
  to: string,
  words: string,
  thing: Parameters<typeof alarmPlace>[0],
  more: Html | undefined,
): Html {
  return html`<li><a href="${to}">${words}: <bdi>${alarmPlace(thing)}</bdi></a> <span class="whose">${more}</span></li>`;
}

/** The tile of the thing on the page of its home, or the page of an own device. */
export function alarmAddress({ userId, source, deviceId, thingId }: ShownAlarm, { address }: PageContext): string {
  const page =
    source === ownSource ? `/devices/${userId}/${deviceId}` : `/homes/${userId}/${encodeURIComponent(source)}`;
  return `${address(page)}#${thingId}`;
}

/** The present state of a stale alarm is unknown: the band says how old its emergency is. */
export function staleWords(
  { stale, confirmedTime }: Pick<ShownAlarm, "stale" | "confirmedTime">,
  nowMs: number,
): Html | undefined {
  if (!stale) return undefined;
  return html`as of ${confirmedTime === null ? "an unknown time" : ago(confirmedTime, nowMs)}, unknown now`;
}

/** `Smoke emergency: Hallway, Maple Street, of ada`, with its age in the reader's words when it is stale. */
export function alarmSentence(alarm: ShownAlarm, nowMs: number): Html {
  const stale = staleWords(alarm, nowMs);
  return html`${alarmWords(alarm)}: <bdi>${alarmPlace(alarm)}</bdi>, of ${named(alarm.userName)}${stale && html`, ${stale}`}.`;
}
