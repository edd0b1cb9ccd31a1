import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { type RawAnswer, sendRaw } from "./raw-answers.ts";

/** An ecosystem with streams that behaves well until the test starts a flood, or gives it a script. */
export interface HostileEcosystem {
  /** Starts or stops the flood: one large account after the other on each stream. */
  flood(isOn: boolean): void;
  /** The number of accounts sent so far, by kind. */
  readonly sent: Record<string, number>;
  /** The answer to plain reads of the account, instead of the account. */
  reading: RawAnswer | undefined;
  /** The streams that are open. */
  readonly streams: Set<ServerResponse>;
  /** Called when a stream was opened and has sent the account. */
  onStream: (response: ServerResponse) => void;
  readonly answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
}

/** The instance of this process. */
export const hostileEcosystem: HostileEcosystem = makeEcosystem();

function makeEcosystem(): HostileEcosystem {
  const count = (what: string) => {
    ecosystem.sent[what] = (ecosystem.sent[what] ?? 0) + 1;
  };
  const state = { isFlooding: false };
  const ecosystem: HostileEcosystem = {
    sent: {},
    reading: undefined,
    streams: new Set(),
    onStream: () => undefined,
    flood(isOn) {
      state.isFlooding = isOn;
    },
    async answer(request, response) {
      request.resume();
      response.on("error", () => undefined);
      if (request.headers.accept !== "text/event-stream") {
        if (ecosystem.reading) return void (await sendRaw(response.socket!, ecosystem.reading));
        response.setHeader("content-type", "application/json").end(JSON.stringify(account("", 1)));
        return;
      }
      count("streams opened");
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(put(account("", 1)));
      ecosystem.streams.add(response);
      response.once("close", () => ecosystem.streams.delete(response));
      ecosystem.onStream(response);
      for (let i = 0; !response.destroyed; i++) {
        if (state.isFlooding) {
          // Most are just below 2 MB, every 20th is larger.
          const isTooLarge = i % 20 === 19;
          count(isTooLarge ? "accounts beyond 2 MB" : "accounts of 1.9 MB");
          await writeAndDrain(response, put(account(`${i}`, isTooLarge ? 12_000 : 9_000)));
        } else await pause(50);
      }
    },
  };
  return ecosystem;
}

export async function writeAndDrain(response: ServerResponse, text: string): Promise<void> {
  if (response.write(text)) return;
  const ended = new AbortController();
  await Promise.race([
    once(response, "drain", { signal: ended.signal }).catch(() => undefined),
    once(response, "close", { signal: ended.signal }).catch(() => undefined),
  ]);
  ended.abort();
}

export function put(document: object): string {
  return `event: put\ndata: ${JSON.stringify({ path: "/", data: document })}\n\n`;
}

/** An account of this many thermostats, about 210 bytes each, with new names in each round. */
export function account(round: string, thermostats: number): object {
  const ids = Array.from({ length: thermostats }, (_, i) => `thermostat-${i}`);
  const all = ids.map((id) => [
    id,
    {
      ...{ device_id: id, name: `Room ${round}`, name_long: `Room ${round} ${"x".repeat(60)}`, structure_id: "home" },
      ...{ is_online: true, has_fan: true, fan_timer_active: false },
    },
  ]);
  return {
    devices: { thermostats: Object.fromEntries(all), smoke_co_alarms: {} },
    structures: { home: { structure_id: "home", name: `Home ${round}`, away: "home", thermostats: ids.slice(0, 20) } },
  };
}
