/** A colour as its three parts, 0 to 255. */
export type Color = readonly [red: number, green: number, blue: number];

const white: Color = [255, 255, 255];
const black: Color = [0, 0, 0];
/** The text colour of the pages. */
const nearBlack: Color = [0x14, 0x17, 0x1c];

/** Minimum contrast of text, and of the lines that outline controls (WCAG 2.2, 1.4.3 and 1.4.11). */
export const leastForText = 4.5;
export const leastForLines = 3;

/** Reads "#rrggbb"; undefined when it is something else. */
export function readColor(text: string): Color | undefined {
  if (!/^#[0-9a-f]{6}$/i.test(text)) return undefined;
  const part = (place: number) => Number.parseInt(text.slice(place, place + 2), 16);
  return [part(1), part(3), part(5)];
}

/** Writes a colour as "#rrggbb". */
export function writeColor(color: Color): string {
  return `#${color.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

/** The contrast ratio of two colours, from 1 to 21 (WCAG 2.2). */
export function contrastOf(one: Color, other: Color): number {
  const [darker, lighter] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b);
  return (lighter! + 0.05) / (darker! + 0.05);
}

/** The text colour that is easier to read on a colour: white or near-black. */
export function textOn(color: Color): Color {
  return contrastOf(color, white) >= contrastOf(color, nearBlack) ? white : nearBlack;
}

/**
 * The nearest shade of a colour that has at least that contrast with a background. Most colours have it unchanged; the
 * others are darkened on a light background. On a dark one they are brightened, then faded to white.
 */
export function shadeOn(color: Color, background: Color, least: number): Color {
  const goals = luminanceOf(background) > 0.18 ? [black] : [brightest(color), white];
  const steps = 32;
  let from = color;
  for (const goal of goals) {
    for (let step = 0; step < steps; step++) {
      const shade = mix(from, goal, step / steps);
      if (contrastOf(shade, background) >= least) return shade;
    }
    from = goal;
  }
  return from;
}

/** Why a colour can't be a tenant's accent; undefined when it can. */
export function accentProblem(color: string): string | undefined {
  const accent = readColor(color);
  if (!accent) return "The accent must be a colour written as #rrggbb, such as #0b6470.";
  if (contrastOf(accent, textOn(accent)) >= leastForText) return undefined;
  return `The accent is too close to both white and black: text on a button of that colour must reach a contrast of ${leastForText}:1. Choose a darker or a lighter shade.`;
}

function luminanceOf(color: Color): number {
  const [red, green, blue] = color.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

/** The brightest colour of the same hue and saturation. */
function brightest(color: Color): Color {
  const most = Math.max(...color);
  return most === 0 ? black : mix(black, color, 255 / most);
}

function mix(from: Color, to: Color, share: number): Color {
  const [red, green, blue] = from.map((part, place) => Math.round(part + (to[place]! - part) * share));
  return [red!, green!, blue!];
}
