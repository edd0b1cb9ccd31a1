import { type Html, html } from "./html.ts";

/** Icons in the colour of the text. They are decorative, so screen readers skip them. */
const icon = {
  cross: html`<path d="M8 8l8 8M16 8l-8 8"/>`,
  check: html`<path d="M7 12.500l3.500 3.500 6.500-7.500"/>`,
  clock: html`<path d="M12 7v5.200l3.200 2"/>`,
  warning: html`<path d="M12 7v6M12 16.600v.1"/>`,
  person: html`<circle cx="12" cy="10" r="3"/><path d="M6.500 18a6 6 0 0 1 11 0"/>`,
};

export type Icon = keyof typeof icon;

/** With an id, `sameIcon` can show it again. */
export function iconOf(name: Icon, id?: string): Html {
  return html`<svg width="24" height="24" viewBox="0 0 24 24" stroke-width="2" aria-hidden="true"><g${id === undefined ? undefined : html` id="${id}"`} fill="none" stroke="currentColor" stroke-linecap="round" stroke-linejoin="round"><circle cx="12" cy="12" r="10"/>${icon[name]}</g></svg>`;
}

/** An icon of the same page again, in few bytes. A style sets its size and the width of its lines. */
export function sameIcon(id: string): Html {
  return html`<svg viewBox="0 0 24 24" aria-hidden="true"><use href="#${id}"/></svg>`;
}
