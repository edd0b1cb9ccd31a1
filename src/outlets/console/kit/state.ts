import { type Html, html } from "../../../web/html.ts";
import { type Icon, iconOf } from "../../../web/icons.ts";

export type StatusLevel = "good" | "warn" | "bad" | "off";

const icons: Readonly<Record<StatusLevel, Icon>> = { good: "check", warn: "clock", bad: "warning", off: "cross" };

/** A state as a word, an icon and a colour. */
export function state(mood: StatusLevel, words: string): Html {
  return html`<span class="state ${mood}">${iconOf(icons[mood])}${words}</span>`;
}

/** Whether a user or a client is suspended. */
export function accessState({ suspended }: { readonly suspended: boolean }): Html {
  return suspended ? state("off", "suspended") : state("good", "active");
}
