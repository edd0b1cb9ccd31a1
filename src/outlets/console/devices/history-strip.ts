import { type Html, html } from "../../../web/html.ts";
import type { PastChange } from "./shown-device.ts";

const width = 240;
const height = 12;
/** Marks of one strip; more would not be told apart. */
const mostMarks = 120;

/** The changes of one attribute since `fromMs` as marks on a line; its words are for those who can't see it. */
export function historyStrip(changes: readonly PastChange[], fromMs: number, nowMs: number): Html {
  if (changes.length === 0) return html`<span class="soft">none</span>`;
  const places = changes.map(({ time }) => Math.round(((time - fromMs) / Math.max(1, nowMs - fromMs)) * (width - 2)));
  const marks = [...new Set(places.map((place) => Math.max(0, Math.min(width - 2, place))))].slice(-mostMarks);
  const words = `${changes.length} ${changes.length === 1 ? "change" : "changes"}`;
  return html`<span class="history"><svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" aria-hidden="true"><rect class="line" y="5" width="${width}" height="2"/>${marks.map(
    (place) => html`<rect class="mark" x="${place}" width="2" height="${height}"/>`,
  )}</svg> ${words}</span>`;
}
