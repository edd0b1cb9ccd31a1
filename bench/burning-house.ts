import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { HomeGraph } from "../simulator/google-home/home-graph.ts";
import type { LinkedUser } from "../simulator/google-home/home-graph-answers.ts";
import type { DeviceId, UserId } from "../src/model/ids.ts";
import { addDevice } from "../src/provisioning/inventory.ts";
import type { Store } from "../src/store/seam.ts";
import type { LogPosition } from "../src/store/tables/log-position.ts";
import { attributeName, structureSummary } from "../src/virtual-device/attribute-names.ts";
import { EventStream } from "../test/events/event-stream.ts";
import { addGoogleOutlet, syncGoogle, tokensOf } from "./assisted-homes.ts";
import { NoisyEcosystem } from "./ecosystems/noisy-ecosystem.ts";
import { addClient, addGrant } from "./granted-client.ts";
import { MeasuredProcess } from "./measured-process.ts";
import { type PreparedFolder, prepare, preparedFolder } from "./prepared-folder.ts";
import { addUsers } from "./users.ts";

export interface BurningHousePlan {
  /** The number of other accounts that the same service follows. */
  readonly others: number;
  /** Whose homes Google knows: only that of the house, or all. Only the house when left out. */
  readonly assisted?: "house" | "all";
  /** The address of a PostgreSQL database; SQLite when left out. */
  readonly databaseUrl?: string | undefined;
  /** Starts the service with these settings; by default in a child process. */
  readonly run?: (settings: Readonly<Record<string, string>>) => Promise<RunningService>;
}

export interface RunningService extends AsyncDisposable {
  readonly url: string;
}

/** The time from an emergency in the ecosystem until its owner is informed, in milliseconds. */
export interface Latencies {
  /** The alarm's own event on the event stream. */
  readonly alarm: number;
  /** The event about the alert's write to its target. */
  readonly target: number;
  /** The webhook message about the same write. */
  readonly webhook: number;
  /** Google's notification of the smoke. */
  readonly google: number;
}

/** A house with an alert on its smoke alarm, among many other accounts that the same service follows. */
export interface BurningHouse extends AsyncDisposable {
  readonly ecosystem: NoisyEcosystem;
  readonly graph: HomeGraph;
  /** The users whose homes Google knows, with their tokens at Google; first the user of the house. */
  readonly assisted: readonly AssistedUser[];
  /** Sounds the alarm once, waits until the stream, the webhook and Google have been told, and ends it. */
  soundAlarm(deadlineMs: number): Promise<Latencies>;
  /** Stops the service and counts the stored commits to devices of the other accounts. */
  stopAndCount(): Promise<number>;
}

export interface AssistedUser {
  readonly user: LinkedUser;
  readonly token: string;
}

const emergency = attributeName(structureSummary(1, "emergenciesAll"));
const linkedAtOnce = 50;

export async function burningHouse({
  others,
  assisted = "house",
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
  const graph = await HomeGraph.start();
  finishing.defer(() => graph.stop());
  const home = await linkHomes(folder, await ecosystem.addAccounts(others + 1), graph, assisted);
  const service = await run(folder.settings);
  const running = finishing.use(new AsyncDisposableStack());
  running.use(service);
  const receiver = finishing.use(await startReceiver());
  const stream = await EventStream.open(service.url, home.accessToken);
  finishing.defer(() => stream.close());
  await post(service, home, "/v3/webhooks", { url: receiver.url, deviceIds: [home.lamp] });
  await post(service, home, "/v3/alerts", {
    ...{ deviceId: home.virtual, attrName: emergency, operation: "equals", stringThreshold: "true" },
    ...{ action: "attribute", targets: [{ deviceId: home.lamp, attrName: "power", value: "on" }] },
    ...{ autoDisarm: true },
  });
  await ecosystem.untilFollowed(others + 1);
  const known: AssistedUser[] = [];
  for (const token of home.googleTokens) known.push({ token, user: await syncGoogle(service.url, { graph }, token) });
  const { notifications } = known[0]!.user;
  const kept = finishing.move();
  let fires = 0;
  return {
    ecosystem,
    graph,
    assisted: known,
    async soundAlarm(deadlineMs) {
      fires += 1;
      const notified = notifications.length;
      const alarms = (state: string) => (event: { name: string; data: { name?: string; value?: unknown } }) =>
        event.name === "attribute" && event.data.name === emergency && event.data.value === state;
      const isTarget = (event: { name: string; data: { deviceId?: number } }) =>
        event.name === "attribute" && event.data.deviceId === home.lamp;
      const waiting = {
        alarm: stream.until(fires, alarms("true")),
        target: stream.until(fires, isTarget),
        webhook: receiver.until(fires),
        google: untilNotified(() => notifications.length > notified, deadlineMs),
      };
      const playedMs = await ecosystem.play("smoke");
      const latencies = await latenciesOf(waiting, playedMs, deadlineMs);
      await ecosystem.play("clear");
      await stream.until(fires, alarms("false"));
      return latencies;
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
  /** Access tokens at Google; first that of the user of the house. */
  readonly googleTokens: readonly string[];
  /** The end of the log when all accounts were linked. */
  readonly logEnd: LogPosition;
}

/** Adds a linked user for each account. The first user also gets a lamp and an access token. */
function linkHomes(
  folder: PreparedFolder,
  tokens: readonly string[],
  graph: HomeGraph,
  assisted: "house" | "all",
): Promise<Home> {
  return prepare(folder, async (parts) => {
    const { identity, store, federation } = parts;
    const { tenantId } = await identity.addTenant({ name: "Bench" });
    const users = await store.transaction((tx) => addUsers(tx, tenantId, tokens.length));
    const devices: DeviceId[] = [];
    const unlinked = tokens.entries();
    const linkSome = async () => {
      for (const [index, token] of unlinked) devices[index] = await federation.link(users[index]!, "nest", token);
    };
    await Promise.all(Array.from({ length: linkedAtOnce }, linkSome));
    const [userId, virtual] = [users[0]!, devices[0]!];
    const lamp = await addDevice(store, { userId, name: "Hall lamp", typeName: "Lamp" });
    const client = await addClient(parts, tenantId);
    const { accessToken } = await store.transaction((tx) => addGrant(tx, client, userId));
    const google = await addGoogleOutlet(parts, tenantId, { graph });
    const googleTokens = await tokensOf(parts, google, assisted === "all" ? users : [userId]);
    return { userId, virtual, lamp, accessToken, googleTokens, logEnd: await store.read((tx) => tx.log.end()) };
  });
}

async function post({ url }: RunningService, { accessToken }: Home, path: string, body: object): Promise<void> {
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

async function untilNotified(isNotified: () => boolean, deadlineMs: number): Promise<void> {
  for (const untilMs = performance.now() + deadlineMs; !isNotified() && performance.now() < untilMs; ) await sleep(1);
  if (!isNotified()) await new Promise(() => undefined);
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
