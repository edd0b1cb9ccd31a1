import { brand, masthead } from "./brand.ts";
import { clip, html } from "./html.ts";
import type { Page } from "./page.ts";

export function messagePage(title: string, sentence: string): Page {
  const body = html`${masthead}
<main><div class="card"><h1>${title}</h1><p>${clip(sentence, 300)}</p>
<p class="soft">Go back to the app and start again from there if you like.</p></div></main>`;
  return { title, body };
}

/** Shows the PIN that the owner types into an app without a redirect address. */
export function pinPage(app: string, pin: string): Page {
  const body = html`${masthead}
<main><div class="card"><h1>Your PIN for ${clip(app, 60)}</h1>
<p>Type it into the app. It works once, within 48 hours.</p>
<p class="pin">${pin}</p>
<p class="soft">Anyone who has it gets the access that you have just allowed. ${brand} never asks for it.</p></div></main>`;
  return { title: "Your PIN", body };
}
