import type { OutletHealth } from "../../../assistants/assistants.ts";
import { ago } from "../../devices/times.ts";

export interface ShownHealth {
  readonly lastDirective: { readonly time: string; readonly name: string; readonly error: string | null } | null;
  readonly directivesSince: string | null;
  readonly reportLagMs: number;
  readonly errors: OutletHealth["errors"];
}

/** How an outlet works, as `outlet list` and `outlet show` print it. */
export function shownHealth({ last, sinceMs, reportLagMs, errors }: OutletHealth): ShownHealth {
  return {
    lastDirective: last ? { time: new Date(last.timeMs).toISOString(), name: last.name, error: last.error } : null,
    directivesSince: sinceMs === undefined ? null : new Date(sinceMs).toISOString(),
    reportLagMs,
    errors,
  };
}

/** `EXECUTE, answered, 5 min ago`. */
export function directiveInWords({ lastDirective, directivesSince }: ShownHealth): string {
  if (lastDirective) {
    const { name, error, time } = lastDirective;
    const answer = `${name}, ${error === null ? "answered" : `answered with ${error}`}, ${ago(Date.parse(time))}`;
    return directivesSince === null ? `${answer}; not every node has answered` : answer;
  }
  return directivesSince === null
    ? "unknown, because not every node has answered"
    : `none since all nodes have been up: ${directivesSince}`;
}

/** The same for a list: `5 min ago`, `-` for none, or `unknown`. */
export function directiveInShort({ lastDirective, directivesSince }: ShownHealth): string {
  if (lastDirective) return ago(Date.parse(lastDirective.time));
  return directivesSince === null ? "unknown" : "-";
}

/** `none waits`, or `12 s`. */
export function lagInWords({ reportLagMs }: ShownHealth): string {
  return reportLagMs === 0 ? "none waits" : `${(reportLagMs / 1_000).toFixed(reportLagMs < 10_000 ? 1 : 0)} s`;
}

/** `3 of NOT_FOUND, 1 of HTTP 500`. */
export function errorsInWords({ errors }: ShownHealth): string {
  return errors.map(({ code, count }) => `${count} of ${code}`).join(", ") || "none";
}
