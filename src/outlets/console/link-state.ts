import { type Html, html } from "../../web/html.ts";
import { iconOf } from "./tiles/icons.ts";

interface StateLook {
  readonly words: string;
  readonly look: "good" | "warn" | "bad" | "gray";
}

/** The state of a link as a word, an icon and a colour. */
const looks: Readonly<Record<string, StateLook>> = {
  live: { words: "Live", look: "good" },
  connecting: { words: "Connecting", look: "gray" },
  waiting: { words: "Waiting", look: "warn" },
  stale: { words: "Stale", look: "warn" },
  needs_reauth: { words: "Needs a new consent", look: "bad" },
  not_followed: { words: "Not followed", look: "bad" },
};

export const linkStates: readonly string[] = Object.keys(looks);

export function stateWords(state: string): string {
  return looks[state]?.words ?? state.replaceAll("_", " ");
}

export function stateBadge(state: string): Html {
  const { look } = looks[state] ?? { look: "gray" };
  const icon = look === "good" ? "check" : look === "gray" ? "offline" : "warning";
  return html`<span class="state ${look}">${iconOf(icon)}${stateWords(state)}</span>`;
}
