import { type Html, html } from "../../../web/html.ts";

/** Icons in the colour of the text beside them. The text says the same, so they are hidden from screen readers. */
const drawings = {
  check: html`<path d="M5 12.500l4.500 4.500L19 7.500"/>`,
  house: html`<path d="M4 11.500L12 5l8 6.500M6.500 10v9h11v-9"/>`,
  away: html`<path d="M10 5H6v14h4M13 8.500l3.500 3.500-3.500 3.500M16 12H9.500"/>`,
  fan: html`<circle cx="12" cy="12" r="1.800"/><path d="M12 10.200C10.500 7 11.500 4 14 4s2.500 3.500-.5 6.500M13.800 12c3.200-1.500 6.200-.5 6.200 2s-3.500 2.500-6.500-.5M12 13.800c1.500 3.200.5 6.200-2 6.200s-2.500-3.500.5-6.500M10.200 12C7 13.500 4 12.500 4 10s3.500-2.500 6.500.5"/>`,
  thermostat: html`<path d="M10 13.500V6a2 2 0 1 1 4 0v7.500a4 4 0 1 1-4 0zM12 9.500v6"/>`,
  shield: html`<path d="M12 4l7 2.500v5c0 4.300-3 7.300-7 8.500-4-1.200-7-4.200-7-8.500v-5zM9 12l2.300 2.300L15.300 10"/>`,
  warning: html`<path d="M12 4.500L21 19.500H3zM12 10.500v4M12 17v.1"/>`,
  flame: html`<path d="M12 3.500c.5 3.500 5.500 5.500 5.500 10.500a5.500 5.500 0 0 1-11 0c0-2.500 1.500-4 2.500-5.500.5 2 1 2.500 2 3 1-2.500 1-5 1-8z"/>`,
  offline: html`<path d="M4 4l16 16M8.500 15.500a5 5 0 0 1 7 0M5.500 12a9.500 9.500 0 0 1 4-2.300M14 9.500a9.500 9.500 0 0 1 4.500 2.500M12 19v.1"/>`,
  plug: html`<path d="M9 4v5M15 4v5M7 9h10v3a5 5 0 0 1-10 0zM12 17v3.500"/>`,
  lamp: html`<path d="M8 4h8l3 8H5zM12 12v6M8.500 20h7"/>`,
} as const;

export type Icon = keyof typeof drawings;

export function iconOf(name: Icon): Html {
  return html`<svg class="icon" width="24" height="24" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.800" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${drawings[name]}</svg>`;
}
