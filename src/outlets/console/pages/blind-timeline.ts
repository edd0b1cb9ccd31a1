import { justLinked } from "../../../model/just-linked.ts";
import { type Html, html } from "../../../web/html.ts";
import { clock, length, minute, utcMinute } from "../times.ts";

export interface BlindInterval {
  readonly from: number;
  /** Null while the interval lasts. */
  readonly to: number | null;
  readonly cause: string;
}

const shownMs = 86_400_000;
const width = 1_440;
const mostListed = 20;
/** The store keeps this many ended intervals of a link (`blindIntervalsKept`). */
const mostKept = 1_000;

export interface SeenLink {
  /** The state that the page shows, `stale` included. */
  readonly state: string;
  /** When the ecosystem last confirmed the home. Milliseconds since 1970; 0 for never. */
  readonly confirmedTime: number;
}

/**
 * The last 24 hours as a strip of seen, blind and unknown times, and a list of the newest blind intervals below it.
 * While the link is not live, the time since its last confirmation is unknown.
 */
export function blindTimeline(intervals: readonly BlindInterval[], link: SeenLink, nowMs: number): Html {
  const fromMs = nowMs - shownMs;
  const at = (timeMs: number) => Math.min(width, Math.max(0, ((timeMs - fromMs) / shownMs) * width));
  const bar = (look: string, from: number, to: number, least = 0) => {
    const barWidth = Math.max(least, at(to) - at(from));
    return html`<rect class="${look}" x="${Math.min(at(from), width - barWidth).toFixed(1)}" y="0" width="${barWidth.toFixed(1)}" height="24"/>`;
  };
  const recent = intervals.filter(({ to }) => (to ?? nowMs) > fromMs);
  const beginMs = knownFrom(intervals);
  const endMs = link.state === "live" ? nowMs : Math.min(link.confirmedTime, nowMs);
  const words = wordsOf(recent.length, { isBeginKnown: beginMs <= fromMs, endMs, nowMs });
  return html`<h2>Seen in the last 24 hours</h2>
<svg class="strip" viewBox="0 0 ${width} 24" preserveAspectRatio="none" role="img" aria-label="${words}">${bar("seen", fromMs, nowMs)}${
    beginMs > fromMs ? bar("unknown", fromMs, beginMs) : undefined
  }${endMs < nowMs ? bar("unknown", endMs, nowMs) : undefined}${recent.map(({ from, to }) => bar("blind", from, to ?? nowMs, 2))}</svg>
<p class="small">${withLocalTime(words, endMs)}</p>
${
  recent.length === 0
    ? undefined
    : html`<ul class="lines">${recent
        .slice(-mostListed)
        .reverse()
        .map((one) => intervalLine(one, nowMs))}</ul>`
}`;
}

/** The sentence in the reader's zone; the label of the drawing stays in UTC. */
function withLocalTime(words: string, timeMs: number): Html {
  const [before, after] = words.split(utcMinute(timeMs));
  return after === undefined ? html`${words}` : html`${before}${minute(timeMs)}${after}`;
}

interface Known {
  readonly isBeginKnown: boolean;
  /** The home is known up to this time. */
  readonly endMs: number;
  readonly nowMs: number;
}

function wordsOf(blindCount: number, { isBeginKnown, endMs, nowMs }: Known): string {
  const before = isBeginKnown ? "" : " What was before is not known.";
  const count = `${blindCount} blind ${blindCount === 1 ? "interval" : "intervals"}.`;
  if (endMs >= nowMs) return `${blindCount === 0 ? "The home was seen all the time." : count}${before}`;
  if (endMs <= nowMs - shownMs)
    return `Not known: the home was not confirmed in this time.${blindCount === 0 ? "" : ` ${count}`}`;
  const until = utcMinute(endMs);
  const seen =
    blindCount === 0 ? `The home was seen until ${until}.` : `${count} The home was last confirmed at ${until}.`;
  return `${seen} What was since then is not known.${before}`;
}

/**
 * The time from which all blind intervals are known: when the home was linked, or the start of the oldest kept interval
 * if the store has dropped older ones. 0: all are known.
 */
function knownFrom(intervals: readonly BlindInterval[]): number {
  const linked = intervals.findLast(({ cause }) => cause === justLinked);
  const oldest = intervals.length >= mostKept ? intervals[0] : undefined;
  return (linked ?? oldest)?.from ?? 0;
}

function intervalLine({ from, to, cause }: BlindInterval, nowMs: number): Html {
  const seconds = ((to ?? nowMs) - from) / 1_000;
  return html`<li><span>${clock(from)} to ${to === null ? "now" : clock(to)}, ${length(seconds)}</span> <span class="small">${cause}</span></li>`;
}
