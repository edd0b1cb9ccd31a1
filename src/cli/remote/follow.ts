import { setTimeout as pause } from "node:timers/promises";
import type { EventOptions } from "../../../sdk/src/index.ts";
import type { Answer } from "../administration/admin-command.ts";
import { clockTime } from "../devices/times.ts";
import type { Printer } from "../terminal/output.ts";
import type { Api } from "./api.ts";
import { ServiceRefused, Unreachable } from "./service-errors.ts";

/**
 * An event of the service, or `connected` when a stream begins, `live` when it has caught up with what was missed, or
 * `lost` with `{since, reason}` when it ends. After `resync` the caller must read the devices again.
 */
export interface FollowedEvent {
  readonly id: string;
  readonly type: string;
  readonly data: Answer;
}

const longestPauseMs = 15_000;

/**
 * Follows the events of a service. After a lost connection it resumes after the last event, and reports since when the
 * state is unknown. Only a refusal ends it.
 */
export async function* follow(api: Api, options: EventOptions, print: Printer): AsyncGenerator<FollowedEvent> {
  let last = options.lastEventId;
  let lastEventMs = Date.now();
  let isLost = false;
  for (let failures = 0; ; ) {
    let isNew = true;
    let isLive = false;
    let isCatchingUp = false;
    let reason = `The connection to ${api.baseUrl} was lost.`;
    try {
      for await (const { id, type, ...data } of api.connection({ ...options, lastEventId: last })) {
        failures = 0;
        last = id || last;
        if (type === "heartbeat") isCatchingUp = "catchingUp" in data;
        // Later changes arrive as events, so a device that is read now becomes current.
        if (isNew) yield { id, type: "connected", data: {} };
        isNew = false;
        if (type === "resync") {
          print.words("Events are missing here: the service could not resume the stream. Read the devices again.");
          // Before `live`: the caller reads the devices again first.
          yield { id, type, data };
        }
        // Until the stream has caught up, the state is as of the time when the connection was lost.
        if (!isCatchingUp) {
          lastEventMs = Date.now();
          if (isLost) reportLive(print, api.baseUrl);
          isLost = false;
          if (!isLive) yield { id, type: "live", data: {} };
          isLive = true;
        }
        if (type !== "heartbeat" && type !== "resync") yield { id, type, data };
      }
    } catch (error) {
      const isRefused = error instanceof ServiceRefused && error.status !== 503;
      // A failure of the first connection is reported at once. A later one may be a restart.
      if (isRefused || (last === undefined && failures === 0)) throw error;
      if (error instanceof Unreachable && error.isSilence) reason = `${api.baseUrl} is silent.`;
      else if (error instanceof ServiceRefused) reason = error.message;
    }
    if (!isLost) {
      isLost = true;
      reportLost(print, lastEventMs, reason);
      yield { id: last ?? "", type: "lost", data: { since: lastEventMs, reason } };
    }
    await pause(retryPauseMs(failures++));
    await api.renewAccess().catch(() => undefined);
  }
}

/** How long to wait before the next try, after this many failures before the last one. */
export function retryPauseMs(failures: number): number {
  return Math.min(longestPauseMs, 500 * 2 ** failures);
}

/** Reports, as text and as JSON, that the shown values may be out of date. */
export function reportLost(print: Printer, sinceMs: number, reason: string): void {
  print.words(`Not live since ${clockTime(sinceMs)}: ${reason} Trying again …`);
  if (print.isJson) print.line({ type: "connection", state: "lost", since: sinceMs, reason }, "");
}

export function reportLive(print: Printer, baseUrl: string): void {
  print.words(`Live again: connected to ${baseUrl}.`);
  if (print.isJson) print.line({ type: "connection", state: "live" }, "");
}
