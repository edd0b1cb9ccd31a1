import { AsyncLocalStorage } from "node:async_hooks";
import { type LineLevel, lineBounds } from "../../model/log-line.ts";
import { keptLine, type OpenLines, type RunWithLines } from "../kept-lines.ts";
import type { Logger } from "../runtime.ts";
import type { TurnOwner } from "../time-slices.ts";

const present = new AsyncLocalStorage<OpenLines>();

export const runWithLines: RunWithLines = (lines, act) => present.run(lines, act);

/** Runs work for all tenants that a request has woken: its lines are those of no request. */
export const runOutsideRequests = <Result>(act: () => Result): Result => present.exit(act);

/** Whose turns the present work takes; undefined when it belongs to no request. */
export const presentOwner = (): TurnOwner | undefined => present.getStore()?.owner;

/** Sets the owner of the present request, once its caller is known. */
export function setPresentOwner(owner: TurnOwner): void {
  const request = present.getStore();
  if (request) request.owner = owner;
}

/** The same log. A line that the work of a request writes gets the id of the request, and is kept with it. */
export function withRequestLines(report: Logger): Logger {
  const isWritten = (level: LineLevel) => report.isLevelEnabled?.(level) ?? true;
  const writing = (level: LineLevel) => (fields: object, sentence: string) => {
    const request = present.getStore();
    if (!request?.isOpen) return report[level](fields, sentence);
    const ofRequest = { requestId: request.requestId, ...fields };
    report[level](ofRequest, sentence);
    if (request.lines.length >= lineBounds.perRequest || !isWritten(level)) return;
    request.lines.push(keptLine(Date.now(), level, sentence, ofRequest));
  };
  return {
    debug: writing("debug"),
    info: writing("info"),
    warn: writing("warn"),
    error: writing("error"),
    isLevelEnabled: (level) => isWritten(level as LineLevel),
  };
}
