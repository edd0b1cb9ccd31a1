import { type Html, html } from "../../../web/html.ts";

/** Renders the text of a description: text between backquotes is code. */
export function renderText(text: string): Html {
  return text
    .split("`")
    .reduce((written, part, index) => html`${written}${index % 2 === 1 ? html`<code>${part}</code>` : part}`, html``);
}

/** The fragment of a section. */
export function anchor(name: string): string {
  return name.toLowerCase().replaceAll(" ", "-");
}
