import { type Html, html } from "../../../web/html.ts";

/** Words of a description: what stands between backquotes is code. */
export function words(text: string): Html {
  return text
    .split("`")
    .reduce((written, part, place) => html`${written}${place % 2 === 1 ? html`<code>${part}</code>` : part}`, html``);
}

/** What an address calls a section. */
export function anchor(name: string): string {
  return name.toLowerCase().replaceAll(" ", "-");
}
