import { type Html, html } from "../../../web/html.ts";
import { type StatusLevel, state } from "../kit/state.ts";
import { clock } from "../times.ts";

/** A log line as `request show` answers it. */
export interface RequestLine {
  readonly time: string;
  readonly level: "debug" | "info" | "warn" | "error";
  readonly sentence: string;
  /** JSON; cut when it is long. */
  readonly fields: string;
}

const moods: Readonly<Record<RequestLine["level"], StatusLevel>> = {
  debug: "off",
  info: "good",
  warn: "warn",
  error: "bad",
};

/** Each line as a sentence; opened, it shows the line as the log has it. */
export function requestLines(lines: readonly RequestLine[] | null): Html {
  if (lines === null)
    return html`<p>${state("off", "unknown")} The node that answered is of an older version, which keeps no log lines.</p>`;
  if (lines.length === 0)
    return html`<p>None is kept: the node wrote none at its log level, or newer lines have taken their place.</p>`;
  return html`<ul class="lines">${lines.map(
    (
      line,
    ) => html`<li><details><summary>${clock(Date.parse(line.time))} ${state(moods[line.level], line.level)} ${sentenceOf(line)}</summary>
<pre tabindex="0">${rawOf(line)}</pre></details></li>`,
  )}</ul>`;
}

/** The message as a sentence, with the reason where the fields have one. */
function sentenceOf({ sentence, fields }: RequestLine): string {
  const begun = `${sentence.slice(0, 1).toUpperCase()}${sentence.slice(1)}`;
  const { code, error } = (parsed(fields) ?? {}) as { code?: unknown; error?: { message?: unknown } | string };
  const message = typeof error === "object" ? error?.message : error;
  const reason =
    typeof message === "string" ? message : typeof code === "string" ? code.replaceAll("_", " ") : undefined;
  return reason === undefined ? `${begun}.` : `${begun}: ${reason.replace(/\.$/, "")}.`;
}

/** Cut fields are no JSON, and are shown as they are. */
function rawOf({ time, level, sentence, fields }: RequestLine): string {
  const parsedFields = parsed(fields);
  return parsedFields
    ? JSON.stringify({ level, time, ...parsedFields, message: sentence })
    : `${level} ${time} ${sentence} ${fields}`;
}

function parsed(fields: string): object | undefined {
  try {
    return JSON.parse(fields);
  } catch {
    return undefined;
  }
}
