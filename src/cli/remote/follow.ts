import { setTimeout as pause } from "node:timers/promises";
import type { EventOptions } from "../../../sdk/src/index.ts";
import type { Answer } from "../administration/admin-command.ts";
import { clockTime } from "../devices/times.ts";
import type { Printer } from "../terminal/output.ts";
import type { Api } from "./api.ts";
import { ServiceRefused, Unreachable } from "./service-errors.ts";

/** An event of the service; or `connected` when a stream begins, and `lost` with `{since, reason}` when it is over. */
export interface Happening {
  readonly id: string;
  readonly type: string;
  readonly data: Answer;
}

const longestPauseMs = 15_000;

/**
 * Follows the events of a service. After a lost connection it resumes after the last event; the caller and the person
 * hear since when nothing is known. Only a refusal ends it.
 */
export async function* follow(api: Api, options: EventOptions, print: Printer): AsyncGenerator<Happening> {
  let last = options.lastEventId;
  let heardMs = Date.now();
  let isLost = false;
  for (let failures = 0; ; ) {
    let isNew = true;
    let reason = `The connection to ${api.baseUrl} was lost.`;
    try {
      for await (const { id, type, ...data } of api.connection({ ...options, lastEventId: last })) {
        heardMs = Date.now();
        failures = 0;
        last = id || last;
        if (isLost) tellLive(print, api.baseUrl);
        isLost = false;
        // All that happens after this event is told: a device that is read now misses nothing.
        if (isNew) yield { id, type: "connected", data: {} };
        isNew = false;
        if (type === "resync")
          print.words("Events are missing here: the service could not resume the stream. Read the devices again.");
        if (type !== "heartbeat") yield { id, type, data };
      }
    } catch (error) {
      const isRefused = error instanceof ServiceRefused && error.status !== 503;
      // The first connection was refused: the person hears why at once. Later it may be a restart.
      if (isRefused || (last === undefined && failures === 0)) throw error;
      if (error instanceof Unreachable && error.isSilence) reason = `${api.baseUrl} is silent.`;
      else if (error instanceof ServiceRefused) reason = error.message;
    }
    if (!isLost) {
      isLost = true;
      tellLost(print, heardMs, reason);
      yield { id: last ?? "", type: "lost", data: { since: heardMs, reason } };
    }
    await pause(Math.min(longestPauseMs, 500 * 2 ** failures++));
    await api.enterAgain().catch(() => undefined);
  }
}

/** Tells a person and a program that what was shown is no longer known. */
export function tellLost(print: Printer, sinceMs: number, reason: string): void {
  print.words(`Not live since ${clockTime(sinceMs)}: ${reason} Trying again …`);
  if (print.isJson) print.line({ type: "connection", state: "lost", since: sinceMs, reason }, "");
}

export function tellLive(print: Printer, baseUrl: string): void {
  print.words(`Live again: connected to ${baseUrl}.`);
  if (print.isJson) print.line({ type: "connection", state: "live" }, "");
}
