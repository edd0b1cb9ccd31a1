import { type Html, html } from "../../../web/html.ts";
import { clock, length } from "../times.ts";

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

/** The last 24 hours as a strip of seen, blind and unknown times, and a list of the newest blind intervals below it. */
export function blindTimeline(intervals: readonly BlindInterval[], nowMs: number): Html {
  const fromMs = nowMs - shownMs;
  const recent = intervals.filter(({ to }) => (to ?? nowMs) > fromMs);
  const bars = recent.map(({ from, to }) => {
    const start = Math.max(0, ((from - fromMs) / shownMs) * width);
    const barWidth = Math.max(2, (((to ?? nowMs) - Math.max(from, fromMs)) / shownMs) * width);
    return html`<rect class="blind" x="${start.toFixed(1)}" y="0" width="${barWidth.toFixed(1)}" height="24"/>`;
  });
  const unknownWidth = Math.max(0, ((knownFrom(intervals) - fromMs) / shownMs) * width);
  const count = `${recent.length} blind ${recent.length === 1 ? "interval" : "intervals"}.`;
  const isAllKnown = unknownWidth === 0;
  const words = `${recent.length === 0 ? "The home was seen all the time." : count}${isAllKnown ? "" : " What was before is not known."}`;
  return html`<h2>Seen in the last 24 hours</h2>
<svg class="strip" viewBox="0 0 ${width} 24" preserveAspectRatio="none" role="img" aria-label="${words}"><rect class="seen" width="${width}" height="24"/><rect class="unknown" width="${unknownWidth.toFixed(1)}" height="24"/>${bars}</svg>
<p class="small">${words}</p>
${
  recent.length === 0
    ? undefined
    : html`<ul class="lines">${recent
        .slice(-mostListed)
        .reverse()
        .map((one) => intervalLine(one, nowMs))}</ul>`
}`;
}

/**
 * The time from which all blind intervals are known: when the home was linked, or the start of the oldest kept interval
 * if the store has dropped older ones. 0: all are known.
 */
function knownFrom(intervals: readonly BlindInterval[]): number {
  const linked = intervals.findLast(({ cause }) => cause === "just linked");
  const oldest = intervals.length >= mostKept ? intervals[0] : undefined;
  return (linked ?? oldest)?.from ?? 0;
}

function intervalLine({ from, to, cause }: BlindInterval, nowMs: number): Html {
  const seconds = ((to ?? nowMs) - from) / 1_000;
  return html`<li><span>${clock(from)} to ${to === null ? "now" : clock(to)} UTC, ${length(seconds)}</span> <span class="small">${cause}</span></li>`;
}
