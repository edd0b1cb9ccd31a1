import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { addDevice } from "../src/devices/inventory.ts";
import { attributeName, structureSummary } from "../src/model/attribute-names.ts";
import type { DeviceId, UserId } from "../src/model/ids.ts";
import type { Store } from "../src/store/seam.ts";
import type { LogPosition } from "../src/store/tables/log.ts";
import { EventStream } from "../test/events/event-stream.ts";
import { addClient, addGrant } from "./granted.ts";
import { MeasuredProcess } from "./measured-process.ts";
import { NoisyEcosystem } from "./noisy-ecosystem.ts";
import { addUsers } from "./people.ts";
import { type PreparedFolder, prepare, preparedFolder } from "./prepared-folder.ts";

export interface BurningHousePlan {
  /** How many other accounts the same service follows. */
  readonly others: number;
  /** Where the service keeps what it has; SQLite when left out. */
  readonly databaseUrl?: string | undefined;
  /** Runs the service with those settings; a process of its own when left out. */
  readonly run?: (settings: Readonly<Record<string, string>>) => Promise<RunningService>;
}

export interface RunningService extends AsyncDisposable {
  readonly url: string;
}

/** How long after the ecosystem told of an emergency its owner heard of it, in milliseconds. */
export interface Heard {
  /** That the alarm sounds, on the event stream. */
  readonly alarm: number;
  /** What the alert wrote to its target, on the event stream. */
  readonly target: number;
  /** The same, by a webhook. */
  readonly webhook: number;
}

/** A house with an alert on its smoke alarm, among many others that are followed by the same service. */
export interface BurningHouse extends AsyncDisposable {
  readonly ecosystem: NoisyEcosystem;
  /** Lets the alarm sound once, waits until everybody has been told, and ends it. */
  burn(deadlineMs: number): Promise<Heard>;
  /** Stops the service and answers how many commits of the ecosystem to the others' devices it has made durable. */
  stopAndCount(): Promise<number>;
}

const emergency = attributeName(structureSummary(1, "emergenciesAll"));
const linkedAtOnce = 50;

export async function burningHouse({
  others,
  databaseUrl,
  run = (settings) => MeasuredProcess.service(settings),
}: BurningHousePlan): Promise<BurningHouse> {
  await using finishing = new AsyncDisposableStack();
  const ecosystem = finishing.use(await NoisyEcosystem.start());
  const folder = finishing.use(
    preparedFolder({
      BREEZEWAY_ECOSYSTEMS: JSON.stringify({ nest: { protocol: "nest", apiUrl: ecosystem.url } }),
      BREEZEWAY_ALLOW_PRIVATE_WEBHOOKS: "true",
      BREEZEWAY_LOG_LEVEL: "warn",
      ...(databaseUrl !== undefined && { BREEZEWAY_DATABASE_URL: databaseUrl }),
    }),
  );
  const home = await moveIn(folder, await ecosystem.addAccounts(others + 1));
  const service = await run(folder.settings);
  const running = finishing.use(new AsyncDisposableStack());
  running.use(service);
  const receiver = finishing.use(await startReceiver());
  const stream = await EventStream.open(service.url, home.accessToken);
  finishing.defer(() => stream.close());
  await ask(service, home, "/v3/webhooks", { url: receiver.url, deviceIds: [home.lamp] });
  await ask(service, home, "/v3/alerts", {
    ...{ deviceId: home.virtual, attrName: emergency, operation: "equals", stringThreshold: "true" },
    ...{ action: "attribute", targets: [{ deviceId: home.lamp, attrName: "power", value: "on" }] },
    ...{ autoDisarm: true },
  });
  await ecosystem.untilFollowed(others + 1);
  const kept = finishing.move();
  let fires = 0;
  return {
    ecosystem,
    async burn(deadlineMs) {
      fires += 1;
      const alarms = (state: string) => (event: { name: string; data: { name?: string; value?: unknown } }) =>
        event.name === "attribute" && event.data.name === emergency && event.data.value === state;
      const isTarget = (event: { name: string; data: { deviceId?: number } }) =>
        event.name === "attribute" && event.data.deviceId === home.lamp;
      const waiting = {
        alarm: stream.until(fires, alarms("true")),
        target: stream.until(fires, isTarget),
        webhook: receiver.until(fires),
      };
      const playedMs = await ecosystem.play("smoke");
      const heard = await heardBy(waiting, playedMs, deadlineMs);
      await ecosystem.play("clear");
      await stream.until(fires, alarms("false"));
      return heard;
    },
    async stopAndCount() {
      await running.disposeAsync();
      return prepare(folder, ({ store }) => countCommits(store, home));
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

interface Home {
  readonly userId: UserId;
  readonly virtual: DeviceId;
  readonly lamp: DeviceId;
  readonly accessToken: string;
  /** Where the log stood when everybody had moved in. */
  readonly logEnd: LogPosition;
}

/** A user for each account; the first has a lamp too, and a client that may act for them. */
function moveIn(folder: PreparedFolder, tokens: readonly string[]): Promise<Home> {
  return prepare(folder, async (parts) => {
    const { identity, store, federation } = parts;
    const { tenantId } = await identity.addTenant({ name: "Bench" });
    const users = await store.transaction((tx) => addUsers(tx, tenantId, tokens.length));
    const devices: DeviceId[] = [];
    const waiting = tokens.entries();
    const linkSome = async () => {
      for (const [place, token] of waiting) devices[place] = await federation.link(users[place]!, "nest", token);
    };
    await Promise.all(Array.from({ length: linkedAtOnce }, linkSome));
    const [userId, virtual] = [users[0]!, devices[0]!];
    const lamp = await addDevice(store, { userId, name: "Hall lamp", typeName: "Lamp" });
    const client = await addClient(parts, tenantId);
    const { accessToken } = await store.transaction((tx) => addGrant(tx, client, userId));
    return { userId, virtual, lamp, accessToken, logEnd: await store.read((tx) => tx.log.end()) };
  });
}

async function ask({ url }: RunningService, { accessToken }: Home, path: string, body: object): Promise<void> {
  const headers = { authorization: `Bearer ${accessToken}`, "content-type": "application/json" };
  const answer = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
}

/** Somebody's own server that takes webhooks. */
async function startReceiver() {
  let received = 0;
  let told = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    request.resume().once("end", () => {
      response.writeHead(204).end();
      received += 1;
      told.resolve();
      told = Promise.withResolvers();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    async until(count: number): Promise<void> {
      while (received < count) await told.promise;
    },
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function heardBy(
  waiting: Readonly<Record<keyof Heard, Promise<unknown>>>,
  playedMs: number,
  deadlineMs: number,
): Promise<Heard> {
  const names = Object.keys(waiting) as (keyof Heard)[];
  const heard: Partial<Record<keyof Heard, number>> = {};
  const all = Promise.all(
    names.map(async (name) => {
      await waiting[name];
      heard[name] = performance.timeOrigin + performance.now() - playedMs;
    }),
  );
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const missing = names.filter((name) => heard[name] === undefined);
    late.reject(new Error(`not heard within ${deadlineMs} ms: ${missing.join(", ")}`));
  }, deadlineMs);
  await Promise.race([all, late.promise]).finally(() => clearTimeout(timer));
  return heard as Heard;
}

async function countCommits(store: Store, { userId, logEnd }: Home): Promise<number> {
  let commits = 0;
  for (let after = logEnd; ; ) {
    const page = await store.read((tx) => tx.log.tail(after, 10_000));
    const last = page.at(-1);
    if (!last) return commits;
    commits += page.filter((entry) => entry.kind === "attribute" && entry.userId !== userId).length;
    after = last.position;
  }
}
