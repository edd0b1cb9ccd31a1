/** One line of a chart; its values belong to the chart's times. */
export interface Line {
  readonly name: string;
  readonly values: readonly number[];
}

export interface Chart {
  readonly title: string;
  readonly unit: string;
  readonly lines: readonly Line[];
}

const width = 760;
const panel = { height: 190, top: 44, bottom: 26, left: 64, right: 170 };
const colours = ["#1f6feb", "#d1480f", "#1a7f37", "#8250df"];

/** Charts below each other over the same times, in seconds, as an SVG image. All of them begin at zero. */
export function lineCharts(title: string, seconds: readonly number[], charts: readonly Chart[]): string {
  const height = 40 + charts.length * panel.height;
  const panels = charts.map((chart, index) => panelOf(chart, seconds, 40 + index * panel.height)).join("\n");
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"
  font-family="sans-serif" font-size="12">
<title>${escaped(title)}</title>
<rect width="${width}" height="${height}" fill="#ffffff"/>
<text x="16" y="26" font-size="15" font-weight="bold">${escaped(title)}</text>
${panels}
</svg>
`;
}

function panelOf({ title, unit, lines }: Chart, seconds: readonly number[], y: number): string {
  const most = roundedUp(Math.max(...lines.flatMap(({ values }) => values.filter(Number.isFinite)), 0));
  const last = seconds.at(-1) ?? 1;
  const area = { width: width - panel.left - panel.right, height: panel.height - panel.top - panel.bottom };
  const xOf = (second: number) => panel.left + (area.width * second) / last;
  const yOf = (value: number) => y + panel.top + area.height * (1 - value / most);
  const marks = [0, most / 2, most].map(
    (value) => `<path d="M${panel.left} ${fixed(yOf(value))}h${area.width}" stroke="#d0d7de"/>
<text x="${panel.left - 8}" y="${fixed(yOf(value) + 4)}" text-anchor="end">${value.toLocaleString("en-US")}</text>`,
  );
  const times = [0, last / 2, last].map(
    (second) =>
      `<text x="${fixed(xOf(second))}" y="${y + panel.height - 6}" text-anchor="middle">${Math.round(second)} s</text>`,
  );
  const drawn = lines.map(({ name, values }, index) => {
    const colour = colours[index % colours.length]!;
    const points = values.flatMap((value, at) =>
      Number.isFinite(value) ? [`${fixed(xOf(seconds[at]!))},${fixed(yOf(value))}`] : [],
    );
    const nameY = y + panel.top + 10 + index * 18;
    return `<polyline points="${points.join(" ")}" fill="none" stroke="${colour}" stroke-width="1.6"/>
<text x="${width - panel.right + 14}" y="${nameY}" fill="${colour}">${escaped(name)}</text>`;
  });
  const heading = `<text x="${panel.left}" y="${y + 30}" font-weight="bold">${escaped(`${title}, ${unit}`)}</text>`;
  return [heading, ...marks, ...times, ...drawn].join("\n");
}

/** The next of 1, 2, 5, 10, 20, 50 and so on. */
function roundedUp(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * [1, 2, 5, 10].find((step) => step * power >= value)!;
}

function fixed(value: number): string {
  return value.toFixed(1);
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
