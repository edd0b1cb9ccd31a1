import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { DeviceId } from "../src/model/ids.ts";
import { attributeName, structureSummary } from "../src/virtual-device/attribute-names.ts";
import { EventStream } from "../test/events/event-stream.ts";
import type { AssistedHome } from "./assisting-makers.ts";

/** The time from an emergency in the ecosystem until its owner is informed, in milliseconds. */
export interface Latencies {
  /** The alarm's own event on the event stream. */
  readonly alarm: number;
  /** The event about the alert's write to its target. */
  readonly target: number;
  /** The webhook message about the same write. */
  readonly webhook: number;
  /** When the assistant's maker hears of the smoke: Google by a notification, Alexa by a ChangeReport. */
  readonly assistant: number;
}

/** A linked home, a lamp that its alert switches, and an access token of its owner. */
export interface NotifiedHome {
  readonly virtual: DeviceId;
  readonly lamp: DeviceId;
  readonly accessToken: string;
}

/** Where the smoke alarm sounds. */
export interface AlarmSource {
  /** Plays the scene, and returns when it did, in milliseconds since 1970. */
  play(scene: "smoke" | "clear"): Promise<number>;
}

/** A home whose owner hears of its smoke alarm on a stream, by a webhook and from an assistant. */
export interface AlarmedHome {
  /** Sounds the alarm once, waits until the stream, the webhook and the assistant's maker have been told, and ends it. */
  soundAlarm(deadlineMs: number): Promise<Latencies>;
}

const emergency = attributeName(structureSummary(1, "emergenciesAll"));

/** Gives the home an alert, a webhook and a stream. `assisted`: the home as the assistant's maker knows it. */
export async function alarmedHome(
  service: { readonly url: string },
  home: NotifiedHome,
  source: AlarmSource,
  assisted: Pick<AssistedHome, "alarms">,
): Promise<AlarmedHome & AsyncDisposable> {
  await using finishing = new AsyncDisposableStack();
  const receiver = finishing.use(await startReceiver());
  const stream = await EventStream.open(service.url, home.accessToken);
  finishing.defer(() => stream.close());
  await post(service, home, "/v3/webhooks", { url: receiver.url, deviceIds: [home.lamp] });
  await post(service, home, "/v3/alerts", {
    ...{ deviceId: home.virtual, attrName: emergency, operation: "equals", stringThreshold: "true" },
    ...{ action: "attribute", targets: [{ deviceId: home.lamp, attrName: "power", value: "on" }] },
    ...{ autoDisarm: true },
  });
  const kept = finishing.move();
  let fires = 0;
  const alarms = (state: string) => (event: { name: string; data: { name?: string; value?: unknown } }) =>
    event.name === "attribute" && event.data.name === emergency && event.data.value === state;
  const isTarget = (event: { name: string; data: { deviceId?: number } }) =>
    event.name === "attribute" && event.data.deviceId === home.lamp;
  return {
    async soundAlarm(deadlineMs) {
      fires += 1;
      const before = assisted.alarms();
      const waiting = {
        alarm: stream.until(fires, alarms("true")),
        target: stream.until(fires, isTarget),
        webhook: receiver.until(fires),
        assistant: untilTold(() => assisted.alarms() > before, deadlineMs),
      };
      const playedMs = await source.play("smoke");
      const latencies = await latenciesOf(waiting, playedMs, deadlineMs);
      await source.play("clear");
      await stream.until(fires, alarms("false"));
      return latencies;
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function post(
  { url }: { readonly url: string },
  { accessToken }: NotifiedHome,
  path: string,
  body: object,
): Promise<void> {
  const headers = { authorization: `Bearer ${accessToken}`, "content-type": "application/json" };
  const answer = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
}

/** A server that receives webhooks. */
async function startReceiver() {
  let received = 0;
  let next = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    request.resume().once("end", () => {
      response.writeHead(204).end();
      received += 1;
      next.resolve();
      next = Promise.withResolvers();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    async until(count: number): Promise<void> {
      while (received < count) await next.promise;
    },
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function untilTold(isTold: () => boolean, deadlineMs: number): Promise<void> {
  for (const untilMs = performance.now() + deadlineMs; !isTold() && performance.now() < untilMs; ) await sleep(1);
  if (!isTold()) await new Promise(() => undefined);
}

async function latenciesOf(
  waiting: Readonly<Record<keyof Latencies, Promise<unknown>>>,
  playedMs: number,
  deadlineMs: number,
): Promise<Latencies> {
  const names = Object.keys(waiting) as (keyof Latencies)[];
  const latencies: Partial<Record<keyof Latencies, number>> = {};
  const all = Promise.all(
    names.map(async (name) => {
      await waiting[name];
      latencies[name] = performance.timeOrigin + performance.now() - playedMs;
    }),
  );
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const missing = names.filter((name) => latencies[name] === undefined);
    late.reject(new Error(`not reported within ${deadlineMs} ms: ${missing.join(", ")}`));
  }, deadlineMs);
  await Promise.race([all, late.promise]).finally(() => clearTimeout(timer));
  return latencies as Latencies;
}
