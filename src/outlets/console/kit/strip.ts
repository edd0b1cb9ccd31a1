import { type Html, html } from "../../../web/html.ts";

/** Bars of the last 24 hours, the present one last. A second row of counts, such as failures, is drawn on top. */
export function strip(label: string, hours: readonly number[], failures: readonly number[] = []): Html {
  const sums = hours.map((count, hour) => count + (failures[hour] ?? 0));
  const most = Math.max(1, ...sums);
  const height = (count: number) => (count === 0 ? 0 : Math.max(1, Math.round((count / most) * 20)));
  const bars = sums.flatMap((sum, hour) => {
    const [whole, failed] = [height(sum), height(failures[hour] ?? 0)];
    return [...bar("bar", hour, whole), ...bar("bar failed", hour, failed)];
  });
  return html`<svg class="strip" viewBox="0 0 96 22" preserveAspectRatio="none" role="img" aria-label="${label}, by hour: at most ${most === 1 ? Math.max(0, ...sums) : most} in an hour"><rect class="ground" x="0" y="21" width="96" height="1"/>${bars}</svg>`;
}

function bar(look: string, hour: number, height: number): readonly Html[] {
  if (height === 0) return [];
  return [html`<rect class="${look}" x="${hour * 4}" y="${21 - height}" width="3" height="${height}"/>`];
}

export function total(hours: readonly number[]): number {
  return hours.reduce((sum, count) => sum + count, 0);
}
