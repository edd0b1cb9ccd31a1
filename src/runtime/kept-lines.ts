import { type LineLevel, type LogLine, lineBounds } from "../model/log-line.ts";
import { isSecretName, safeFields } from "./safe-fields.ts";
import type { TurnOwner } from "./time-slices.ts";

/** The lines of a request in progress. It refers to nothing else, because timers that a request starts keep it. */
export interface OpenLines {
  readonly requestId: string;
  readonly lines: LogLine[];
  /** False once the request has ended: what it has started may go on, and writes lines of its own. */
  isOpen: boolean;
  /** Whose turns its reads take: of its client's address until its caller is known. */
  owner: TurnOwner;
}

/** Runs the work of a request, so that the lines that it writes are known as lines of the request. */
export type RunWithLines = <Result>(lines: OpenLines, act: () => Result) => Result;

/** The line as it is kept. This runs for each request: most lines are kept without a copy. */
export function keptLine(timeMs: number, level: LineLevel, sentence: string, fields: object): LogLine {
  const members = fields as Record<string, unknown>;
  return { timeMs, level, sentence, fields: isPlain(members) ? members : cutJson(safeFields(members)) };
}

/** Members that a plain line has at most, and characters of each. */
const shortMembers = 16;
const shortText = 128;

/** Short values that need no redaction. */
function isPlain(fields: Readonly<Record<string, unknown>>): boolean {
  let members = 0;
  for (const name in fields) {
    const value = fields[name];
    if (++members > shortMembers || (typeof value === "object" && value !== null)) return false;
    if ((typeof value === "string" && value.length > shortText) || isSecretName(name)) return false;
  }
  return true;
}

function cutJson(fields: object): string {
  const text = JSON.stringify(fields);
  return text.length <= lineBounds.bytes ? text : `${text.slice(0, lineBounds.bytes - 1).toWellFormed()}…`;
}
