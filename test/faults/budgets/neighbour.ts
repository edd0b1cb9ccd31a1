import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Simulator } from "../../../simulator/simulator.ts";
import { attributeName, structureSummary } from "../../../src/virtual-device/attribute-names.ts";
import { EventStream, type ReceivedEvent } from "../../events/event-stream.ts";
import { type RequestOptions, sendRequest } from "./requests.ts";
import type { Neighbour } from "./template.ts";

/** Durations in milliseconds, and failures. */
export interface Measured {
  readonly reads: number[];
  readonly emergencies: number[];
  readonly signIns: number[];
  readonly failures: string[];
}

const ownAddress = "127.0.0.1";
const emergency = attributeName(structureSummary(1, "emergenciesAll"));
/** Reads and writes are sent at a fixed rate (open loop), so that queueing counts as latency. */
const everyMs = { device: 25, list: 100, write: 200 };
const betweenEmergenciesMs = 300;
/** An alarm that takes longer counts as lost. */
const longestAlarmMs = 120_000;

/**
 * A tenant other than the attacker: it reads and writes its devices, signs in, and has smoke alarms. Its latencies are the
 * measurement.
 */
export class QuietNeighbour {
  readonly #url: string;
  readonly #neighbour: Neighbour;
  readonly #simulator: Simulator;
  readonly #stream: EventStream;
  readonly #receiver: Receiver | undefined;
  #fires = 0;

  private constructor(parts: {
    readonly url: string;
    readonly neighbour: Neighbour;
    readonly simulator: Simulator;
    readonly stream: EventStream;
    readonly receiver: Receiver | undefined;
  }) {
    this.#url = parts.url;
    this.#neighbour = parts.neighbour;
    this.#simulator = parts.simulator;
    this.#stream = parts.stream;
    this.#receiver = parts.receiver;
  }

  /** Sets up an alert on the alarm, an open stream, and a webhook if webhooks on loopback are allowed. */
  static async setUp(
    url: string,
    neighbour: Neighbour,
    simulator: Simulator,
    hasWebhook: boolean,
  ): Promise<QuietNeighbour> {
    const { accessToken: token, lamp, virtual } = neighbour;
    const receiver = hasWebhook ? await startReceiver() : undefined;
    const stream = await EventStream.open(url, token);
    // If the service dies, the stream rejects; the alarm reports that.
    stream.ended.catch(() => undefined);
    const create = async (path: string, json: object) => {
      const { status, text } = await sendRequest(url, { path, token, json }, ownAddress);
      if (status !== 201) throw new Error(`${path}: ${status} ${text}`);
    };
    if (receiver) await create("/v3/webhooks", { url: receiver.url, deviceIds: [lamp] });
    await create("/v3/alerts", {
      ...{ deviceId: virtual, attrName: emergency, operation: "equals", stringThreshold: "true", autoDisarm: true },
      ...{ action: "attribute", targets: [{ deviceId: lamp, attrName: "power", value: "on" }] },
    });
    const moved = new QuietNeighbour({ url, neighbour, simulator, stream, receiver });
    await moved.#soundAlarm();
    return moved;
  }

  /**
   * Runs until `over` resolves, and at least until there were this many alarms. `died` resolves when the service has ended:
   * then nothing more is measured, and no alarm is awaited.
   */
  async run(over: Promise<unknown>, emergencies: number, died: Promise<unknown>): Promise<Measured> {
    const measured: Measured = { reads: [], emergencies: [], signIns: [], failures: [] };
    let isOver = false;
    let isDead = false;
    const lost = died.then(() => {
      isDead = true;
    });
    const ended = over
      .catch(() => undefined)
      .then(() => {
        isOver = true;
      });
    const { virtual, lamp, accessToken: token } = this.#neighbour;
    const paced = [
      this.#sendEvery(everyMs.device, measured, { path: `/v3/devices/${virtual}`, token }),
      this.#sendEvery(everyMs.list, measured, { path: "/v3/devices", token }),
      this.#sendEvery(everyMs.write, measured, {
        ...{ method: "PUT", path: `/v3/devices/${lamp}`, token },
        json: { level: "1" },
      }),
    ];
    const signingIn = this.#signInUntil(() => isOver || isDead, measured);
    while (!isDead && (!isOver || measured.emergencies.length < emergencies)) {
      const tookMs = await this.#alarmWithin(longestAlarmMs, lost);
      if (tookMs !== undefined) measured.emergencies.push(tookMs);
      else {
        measured.failures.push(isDead ? "the service has died" : `no alarm within ${longestAlarmMs / 1_000} s`);
        isDead = true;
      }
      await new Promise((resolve) => setTimeout(resolve, betweenEmergenciesMs));
    }
    if (isDead) await Promise.all(paced.map((stop) => stop()));
    await ended;
    await signingIn;
    await Promise.all(paced.map((stop) => stop()));
    return measured;
  }

  leave(): void {
    this.#stream.close();
    this.#receiver?.close();
  }

  /** Drops the stream of its link, so that the service has to reconnect. */
  loseStream(): void {
    this.#simulator.drop(this.#neighbour.accountId);
  }

  /** Sends the request at an interval. The returned function stops it and resolves when all are answered. */
  #sendEvery(ms: number, measured: Measured, request: RequestOptions): () => Promise<void> {
    const waiting = new Set<Promise<void>>();
    const timer = setInterval(() => {
      const startedMs = performance.now();
      const one = sendRequest(this.#url, request, ownAddress).then(
        ({ status }) => {
          measured.reads.push(performance.now() - startedMs);
          if (status !== 200) measured.failures.push(`${request.method ?? "GET"} ${request.path}: ${status}`);
        },
        (error: Error) => void measured.failures.push(`${request.path}: ${error.message}`),
      );
      waiting.add(one);
      void one.then(() => waiting.delete(one));
    }, ms);
    return async () => {
      clearInterval(timer);
      await Promise.all(waiting);
    };
  }

  /** Signs in again and again, with the right password. */
  async #signInUntil(isOver: () => boolean, measured: Measured): Promise<void> {
    const { person, tenantId } = this.#neighbour;
    do {
      const startedMs = performance.now();
      const form = { ...person, appId: String(tenantId) };
      const request = { path: "/zdk/services/zamapi/userLogin", form };
      const { status } = await sendRequest(this.#url, request, ownAddress).catch(() => ({ status: 0 }));
      if (status === 200) measured.signIns.push(performance.now() - startedMs);
      else measured.failures.push(`sign-in: ${status}`);
      await new Promise((resolve) => setTimeout(resolve, 500));
    } while (!isOver());
  }

  /** Undefined when the service has died, or when the alarm was not reported in time. */
  async #alarmWithin(limitMs: number, lost: Promise<void>): Promise<number | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), limitMs);
    });
    const alarm = this.#soundAlarm();
    const tookMs = await Promise.race([alarm.catch(() => lost), late, lost]);
    clearTimeout(timer);
    // It may still end when the service does.
    alarm.catch(() => undefined);
    return tookMs ?? undefined;
  }

  /** Starts and ends the alarm. Returns the time until stream, target and webhook reported it. */
  async #soundAlarm(): Promise<number> {
    this.#fires += 1;
    const alarm = (state: string) => (event: ReceivedEvent) =>
      event.name === "attribute" && event.data.name === emergency && event.data.value === state;
    const lampOn = ({ name, data }: ReceivedEvent) =>
      name === "attribute" && data.deviceId === this.#neighbour.lamp && data.name === "power";
    const { accountId } = this.#neighbour;
    const startedMs = performance.now();
    await this.#simulator.playScene(accountId, { scene: "smoke" });
    await Promise.all([
      this.#stream.until(this.#fires, alarm("true")),
      this.#stream.until(this.#fires, lampOn),
      this.#receiver?.until(this.#fires),
    ]);
    const tookMs = performance.now() - startedMs;
    await this.#simulator.playScene(accountId, { scene: "clear" });
    await this.#stream.until(this.#fires, alarm("false"));
    return tookMs;
  }
}

interface Receiver {
  readonly url: string;
  /** Resolves when the receiver got this many alarms. */
  until(count: number): Promise<void>;
  close(): void;
}

async function startReceiver(): Promise<Receiver> {
  let alarms = 0;
  let next = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request.setEncoding("utf8")) body += piece;
    response.writeHead(204).end();
    if (!body.includes('"power"')) return;
    alarms += 1;
    next.resolve();
    next = Promise.withResolvers();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    async until(count) {
      while (alarms < count) await next.promise;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
