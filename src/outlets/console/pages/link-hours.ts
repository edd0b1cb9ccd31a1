import { type Html, html } from "../../../web/html.ts";
import { total } from "../kit/strip.ts";
import { length } from "../times.ts";

/** The blind time of the last 24 hours, as `activity` answers it. */
export interface BlindFigures {
  readonly ms: number;
  readonly blindLinks: number;
  readonly links: number;
  readonly isAll: boolean;
  /** Milliseconds of all links in each hour, the present one last. */
  readonly hours: {
    readonly seenMs: readonly number[];
    readonly blindMs: readonly number[];
    readonly unknownMs: readonly number[];
  };
}

type Kind = "seen" | "blind" | "unknown";

/** Blind time by hour. Unknown time has a look of its own: it is never drawn as no blind time. */
export function blindStrip({ hours }: BlindFigures): Html {
  const sums = hours.blindMs.map((ms, hour) => ms + hours.unknownMs[hour]!);
  const label = `Blind time by hour: at most ${length(Math.max(...hours.blindMs) / 1_000)} in an hour.${unknownHours(hours.unknownMs)}`;
  return stacked(label, ["blind", "unknown"], hours, () => Math.max(fullBarMs, ...sums));
}

/** A bar of full height stands for at least this time: a stream that was opened anew within a second is no outage. */
const fullBarMs = 60_000;

/** Of each hour the shares in which links were seen, blind or unknown. An hour before the first link is empty. */
export function linkStrip({ hours }: BlindFigures): Html {
  const all = (hour: number) => hours.seenMs[hour]! + hours.blindMs[hour]! + hours.unknownMs[hour]!;
  const label = `Links by hour: seen, blind and unknown.${unknownHours(hours.unknownMs)}`;
  return stacked(label, ["seen", "blind", "unknown"], hours, (hour) => Math.max(1, all(hour)));
}

/** `99.8 %` of the time that is known; `unknown` when none is. */
export function seenShare({ hours }: BlindFigures): string {
  const [seenMs, blindMs] = [total(hours.seenMs), total(hours.blindMs)];
  if (seenMs + blindMs === 0) return "unknown";
  // Rounded down: 100 % is said only if it was all the time.
  return `${Math.floor((1_000 * seenMs) / (seenMs + blindMs)) / 10} %`;
}

export function unknownWords({ hours }: BlindFigures): string {
  const unknownMs = total(hours.unknownMs);
  return unknownMs === 0 ? "of the time, all of it known" : `of the known time; ${length(unknownMs / 1_000)} unknown`;
}

/** How many links were in each state, once in each hour, as `activity` answers it. */
export interface StateFigures {
  readonly isCounted: readonly boolean[];
  readonly states: readonly { readonly state: string; readonly hours: readonly (number | null)[] }[];
}

/**
 * The number of links in one state by hour. The last bar is the present number. An hour in which links were not counted
 * is drawn as unknown, over the whole height: it is never drawn as no links.
 */
export function stateStrip(words: string, state: string, present: number, { isCounted, states }: StateFigures): Html {
  const counted = states.find((one) => one.state === state)?.hours ?? isCounted.map((known) => (known ? 0 : null));
  const hours = counted.with(-1, present);
  const known = hours.filter((count) => count !== null);
  const most = Math.max(1, ...known);
  const missing = hours.length - known.length;
  const unknown = missing === 0 ? "" : ` In ${missing} ${missing === 1 ? "hour" : "hours"} links were not counted.`;
  const bars = hours.flatMap((count, hour) => {
    if (count === 0) return [];
    const tall = count === null ? height : Math.max(1, Math.round((count / most) * height));
    const look = count === null ? "unknown" : "bar";
    return [html`<rect class="${look}" x="${hour * 4}" y="${height + 1 - tall}" width="3" height="${tall}"/>`];
  });
  const label = `${words}, by hour: ${Math.min(...known)} to ${Math.max(...known)} links.${unknown}`;
  return html`<svg class="strip" viewBox="0 0 96 22" preserveAspectRatio="none" role="img" aria-label="${label}"><rect class="ground" x="0" y="21" width="96" height="1"/>${bars}</svg>`;
}

/** What strips of states leave out; undefined when links were counted in every hour. */
export function uncountedWords({ isCounted }: StateFigures): string | undefined {
  // The present number takes the place of the last hour.
  const missing = isCounted.slice(0, -1).filter((known) => !known).length;
  if (missing === 0) return undefined;
  return `Links are counted once an hour. In ${missing} of the last 24 hours they were not, and grey bars stand for these.`;
}

function unknownHours(unknownMs: readonly number[]): string {
  const count = unknownMs.filter((ms) => ms > 0).length;
  return count === 0 ? "" : ` In ${count} ${count === 1 ? "hour" : "hours"} some of it is unknown.`;
}

const height = 20;

function stacked(
  label: string,
  kinds: readonly Kind[],
  { seenMs, blindMs, unknownMs }: BlindFigures["hours"],
  most: (hour: number) => number,
): Html {
  const values = { seen: seenMs, blind: blindMs, unknown: unknownMs };
  const bars = seenMs.flatMap((_, hour) => {
    let bottom = height + 1;
    return kinds.flatMap((kind) => {
      const ms = values[kind][hour]!;
      if (ms === 0) return [];
      // One unit at least, so that a short time is seen.
      const tall = Math.min(bottom, Math.max(1, Math.round((ms / most(hour)) * height)));
      bottom -= tall;
      return [html`<rect class="${kind}" x="${hour * 4}" y="${bottom}" width="3" height="${tall}"/>`];
    });
  });
  return html`<svg class="strip" viewBox="0 0 96 22" preserveAspectRatio="none" role="img" aria-label="${label}"><rect class="ground" x="0" y="21" width="96" height="1"/>${bars}</svg>`;
}
