import { setTimeout as pause } from "node:timers/promises";
import type { Printer } from "../output.ts";
import { type Answer, type Api, type Query, ServiceRefused } from "./api.ts";

export interface Happening {
  readonly id: string;
  readonly type: string;
  readonly data: Answer;
}

const longestPauseMs = 15_000;
/** Three heartbeats: a connection that says nothing for so long is gone, though nobody told us (a laptop slept). */
const silenceMs = 45_000;

/**
 * What happens, for as long as somebody looks: a connection that is lost is taken up again behind the last event, and
 * the person hears of it. Only a refusal ends it.
 */
export async function* follow(api: Api, query: Query, print: Printer, lastEventId?: string): AsyncGenerator<Happening> {
  let last = lastEventId;
  for (let failures = 0; ; ) {
    let isNew = true;
    const silence = new AbortController();
    const listening = setTimeout(() => silence.abort(), silenceMs);
    try {
      for await (const { id, event, data } of api.events(query, last, silence.signal)) {
        listening.refresh();
        if (failures > 0) print.words(`Connected again to ${api.baseUrl}.`);
        failures = 0;
        last = id || last;
        // What is read from here on can't fall between reading and hearing.
        if (isNew) yield { id, type: "connected", data: {} };
        isNew = false;
        if (event === "resync") print.words("Not everything since then could be told: what is shown may have gaps.");
        if (event !== "heartbeat") yield { id, type: event, data: JSON.parse(data) };
      }
    } catch (error) {
      const isRefused = error instanceof ServiceRefused && error.status !== 503;
      // Whoever was never let in hears why at once; later it may be a restart.
      if (isRefused || (last === undefined && failures === 0)) throw error;
    } finally {
      clearTimeout(listening);
    }
    if (failures === 0) print.words(`The connection to ${api.baseUrl} was lost; trying again …`);
    await pause(Math.min(longestPauseMs, 500 * 2 ** failures++));
    await api.enterAgain().catch(() => undefined);
  }
}
