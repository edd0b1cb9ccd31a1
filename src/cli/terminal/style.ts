import { hasColour, type OutputStream, type Terminal } from "./terminal.ts";

const codes = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

export type Style = Readonly<Record<keyof typeof codes, (text: string) => string>>;

/** Emphasis where colour is supported; plain text elsewhere. */
export function styleFor(terminal: Pick<Terminal, "environment">, outlet: OutputStream): Style {
  const isOn = hasColour(terminal, outlet);
  const entries = Object.entries(codes).map(([name, [on, off]]) => [
    name,
    (text: string) => (isOn && text !== "" ? `\u001b[${on}m${text}\u001b[${off}m` : text),
  ]);
  return Object.fromEntries(entries) as Style;
}
