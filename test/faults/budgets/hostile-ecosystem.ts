import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

/** An ecosystem that behaves well until the test starts a flood. */
export interface HostileEcosystem {
  readonly url: string;
  /** Starts or stops the flood: one large account after the other on each stream. */
  flood(isOn: boolean): void;
  /** The number of accounts sent so far, by kind. */
  readonly sent: Record<string, number>;
}

let running: Promise<HostileEcosystem> | undefined;

/** The instance of this process. */
export function hostileEcosystem(): Promise<HostileEcosystem> {
  running ??= start();
  return running;
}

async function start(): Promise<HostileEcosystem> {
  const sent: Record<string, number> = {};
  const count = (what: string) => {
    sent[what] = (sent[what] ?? 0) + 1;
  };
  const state = { isFlooding: false };
  const server = createServer(async (request, response) => {
    request.resume();
    response.on("error", () => undefined);
    if (request.headers.accept !== "text/event-stream") {
      response.setHeader("content-type", "application/json").end(JSON.stringify(account("", 1)));
      return;
    }
    count("streams opened");
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(put(account("", 1)));
    for (let i = 0; !response.destroyed; i++) {
      if (state.isFlooding) {
        // Most are just below 2 MB, every 20th is larger.
        const isTooLarge = i % 20 === 19;
        count(isTooLarge ? "accounts beyond 2 MB" : "accounts of 1.9 MB");
        await writeAndDrain(response, put(account(`${i}`, isTooLarge ? 12_000 : 9_000)));
      } else await pause(50);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  server.unref();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    flood(isOn) {
      state.isFlooding = isOn;
    },
    sent,
  };
}

async function writeAndDrain(response: ServerResponse, text: string): Promise<void> {
  if (response.write(text)) return;
  const ended = new AbortController();
  await Promise.race([
    once(response, "drain", { signal: ended.signal }).catch(() => undefined),
    once(response, "close", { signal: ended.signal }).catch(() => undefined),
  ]);
  ended.abort();
}

function put(document: object): string {
  return `event: put\ndata: ${JSON.stringify({ path: "/", data: document })}\n\n`;
}

/** An account of this many thermostats, about 210 bytes each, with new names in each round. */
function account(round: string, thermostats: number): object {
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
