import { setTimeout as pause } from "node:timers/promises";
import { clockTime } from "../devices/times.ts";
import type { Printer } from "../terminal/output.ts";
import { type Answer, type Api, type Query, ServiceRefused } from "./api.ts";

/** An event of the service; or `connected` when a stream begins, and `lost` with `{since, reason}` when it is over. */
export interface Happening {
  readonly id: string;
  readonly type: string;
  readonly data: Answer;
}

const longestPauseMs = 15_000;
const heartbeatSeconds = 2;
/** A service of the version before ignores `heartbeatSeconds`, and sends a heartbeat every 15 seconds. */
const silenceOfOldMs = 20_000;

/**
 * Follows the events of a service. A lost connection is taken up again behind the last event, and the caller and the
 * person are told since when nothing is known. Only a refusal ends it.
 */
export async function* follow(api: Api, query: Query, print: Printer, lastEventId?: string): AsyncGenerator<Happening> {
  let last = lastEventId;
  let heardMs = Date.now();
  let isLost = false;
  for (let failures = 0; ; ) {
    let isNew = true;
    let reason = `The connection to ${api.baseUrl} was lost.`;
    const stop = new AbortController();
    const silence = silenceTimer(stop);
    try {
      for await (const { id, event, data } of api.events({ ...query, heartbeatSeconds }, last, stop.signal)) {
        const told = JSON.parse(data);
        silence.heard(event === "heartbeat" ? told.everySeconds : undefined);
        heardMs = Date.now();
        failures = 0;
        last = id || last;
        if (isLost) tellLive(print, api.baseUrl);
        isLost = false;
        // All that happens after this event is told: a device that is read now misses nothing.
        if (isNew) yield { id, type: "connected", data: {} };
        isNew = false;
        if (event === "resync")
          print.words("Events are missing here: the service could not resume the stream. Read the devices again.");
        if (event !== "heartbeat") yield { id, type: event, data: told };
      }
    } catch (error) {
      const isRefused = error instanceof ServiceRefused && error.status !== 503;
      // The first connection was refused: the person hears why at once. Later it may be a restart.
      if (isRefused || (last === undefined && failures === 0)) throw error;
      if (silence.isOver) reason = `${api.baseUrl} is silent.`;
      else if (error instanceof ServiceRefused) reason = error.message;
    } finally {
      silence.end();
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

/** Aborts a stream that misses two heartbeats. */
function silenceTimer(stop: AbortController) {
  let isOver = false;
  const giveUp = () => {
    isOver = true;
    stop.abort();
  };
  let withinMs = silenceOfOldMs;
  let timer = setTimeout(giveUp, withinMs);
  return {
    get isOver() {
      return isOver;
    },
    /** `everySeconds`: the interval that a heartbeat has confirmed. */
    heard(everySeconds: number | undefined) {
      if (everySeconds !== undefined) withinMs = 2 * everySeconds * 1_000;
      clearTimeout(timer);
      timer = setTimeout(giveUp, withinMs);
    },
    end: () => clearTimeout(timer),
  };
}
