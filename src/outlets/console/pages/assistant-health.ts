import { type Html, html } from "../../../web/html.ts";
import { lengthWords } from "../kit/durations.ts";
import { state } from "../kit/state.ts";
import { when } from "../kit/times.ts";

/** How an outlet works, as `outlet list` and `outlet show` answer it. */
export interface OutletHealth {
  readonly lastDirective: { readonly time: string; readonly name: string; readonly error: string | null } | null;
  readonly directivesSince: string | null;
  readonly reportLagMs: number;
  readonly errors: readonly { readonly code: string; readonly count: number }[];
}

export function lastDirective({ lastDirective: last, directivesSince }: OutletHealth, nowMs: number): Html {
  if (last) {
    const isKnown = directivesSince !== null;
    const outcome =
      last.error === null ? state(isKnown ? "good" : "off", "answered") : state("bad", `answered with ${last.error}`);
    const others = isKnown ? undefined : html` <span class="soft">not every node has answered</span>`;
    return html`${last.name} ${when(last.time, nowMs)} ${outcome}${others}`;
  }
  if (directivesSince === null) return html`<span class="soft">unknown: not every node has answered</span>`;
  return html`<span class="soft">none since all nodes have been up: ${when(directivesSince, nowMs)}</span>`;
}

/** Reports are collected for a moment and sent again after a failure: a longer lag means that the maker refuses them. */
const normalLagMs = 10_000;

export function reportLag({ reportLagMs: ms }: OutletHealth): Html {
  if (ms === 0) return state("good", "none waits");
  return state(ms <= normalLagMs ? "good" : "warn", `the oldest has waited ${lengthWords(ms)}`);
}

/** `3 of NOT_FOUND, 1 of HTTP 500`. */
export function errorsByCode({ errors }: OutletHealth): string {
  return errors.map(({ code, count }) => `${count} of ${code}`).join(", ") || "none";
}
