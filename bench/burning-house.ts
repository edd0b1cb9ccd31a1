import { setTimeout as sleep } from "node:timers/promises";
import { startHomeAssistant } from "../simulator/home-assistant/simulator.ts";
import type { Credential } from "../src/ecosystems/credential.ts";
import type { DeviceId, UserId } from "../src/model/ids.ts";
import { addDevice } from "../src/provisioning/operator-devices.ts";
import type { Store } from "../src/store/seam.ts";
import type { LogPosition } from "../src/store/tables/log-position.ts";
import { type AlarmedHome, type AlarmSource, alarmedHome, type NotifiedHome } from "./alarmed-home.ts";
import { tokensOf } from "./assisted-homes.ts";
import { type AssistantName, type AssistedHome, type AssistingMaker, assistingMakers } from "./assisting-makers.ts";
import { NoisyEcosystem } from "./ecosystems/noisy-ecosystem.ts";
import { addClient, addGrant } from "./granted-client.ts";
import { MeasuredProcess } from "./measured-process.ts";
import { type PreparedFolder, prepare, preparedFolder } from "./prepared-folder.ts";
import { addUsers } from "./users.ts";

export interface BurningHousePlan {
  /** The number of other accounts that the same service follows. */
  readonly others: number;
  /** The assistant; Google's when left out. */
  readonly assistant?: AssistantName;
  /** Whose homes the assistant knows: only that of the house, or all. Only the house when left out. */
  readonly assisted?: "house" | "all";
  /** The address of a PostgreSQL database; SQLite when left out. */
  readonly databaseUrl?: string | undefined;
  /** Starts the service with these settings; by default in a child process. */
  readonly run?: (settings: Readonly<Record<string, string>>) => Promise<RunningService>;
  /** Another user has a Home Assistant with a smoke alarm. */
  readonly hasInstance?: boolean;
}

export interface RunningService extends AsyncDisposable {
  readonly url: string;
}

/** A house with an alert on its smoke alarm, among many other accounts that the same service follows. */
export interface BurningHouse extends AlarmedHome, AsyncDisposable {
  readonly ecosystem: NoisyEcosystem;
  /** The maker of the assistant. */
  readonly maker: AssistingMaker;
  /** The homes that the assistant knows; first the house. */
  readonly assisted: readonly AssistedHome[];
  /** The house with a Home Assistant; undefined unless the plan has it. */
  readonly instance: AlarmedHome | undefined;
  /** Stops the service and counts the stored commits to devices of the other accounts. */
  stopAndCount(): Promise<number>;
}

const linkedAtOnce = 50;

export async function burningHouse({
  others,
  assistant = "google",
  assisted = "house",
  databaseUrl,
  run = (settings) => MeasuredProcess.service(settings),
  hasInstance = false,
}: BurningHousePlan): Promise<BurningHouse> {
  await using finishing = new AsyncDisposableStack();
  const ecosystem = finishing.use(await NoisyEcosystem.start());
  const hearth = hasInstance ? finishing.use(await smokingInstance()) : undefined;
  const folder = finishing.use(
    preparedFolder({
      BREEZEWAY_ECOSYSTEMS: JSON.stringify({
        nest: { protocol: "nest", apiUrl: ecosystem.url },
        home: { protocol: "home-assistant", allowPrivateNetworks: true },
      }),
      BREEZEWAY_ALLOW_PRIVATE_WEBHOOKS: "true",
      BREEZEWAY_LOG_LEVEL: "warn",
      ...(databaseUrl !== undefined && { BREEZEWAY_DATABASE_URL: databaseUrl }),
    }),
  );
  const maker = finishing.use(await assistingMakers[assistant]());
  const { house, other, logEnd } = await linkHomes(folder, {
    tokens: await ecosystem.addAccounts(others + 1),
    credential: hearth?.credential,
    maker,
    assisted,
  });
  const service = await run(folder.settings);
  const running = finishing.use(new AsyncDisposableStack());
  running.use(service);
  await ecosystem.untilFollowed(others + 1);
  await hearth?.untilFollowed();
  const known: AssistedHome[] = [];
  for (const token of house.assistantTokens) known.push(await maker.link(service.url, token));
  const alarmed = async (home: LinkedHome, source: AlarmSource, atMaker: AssistedHome) =>
    finishing.use(await alarmedHome(service, home, source, atMaker));
  const first = await alarmed(house, { play: (scene) => ecosystem.play(scene) }, known[0]!);
  const second =
    hearth && other && (await alarmed(other, hearth, await maker.link(service.url, other.assistantTokens[0]!)));
  const kept = finishing.move();
  return {
    ecosystem,
    maker,
    assisted: known,
    instance: second,
    soundAlarm: (deadlineMs) => first.soundAlarm(deadlineMs),
    async stopAndCount() {
      await running.disposeAsync();
      return prepare(folder, ({ store }) => countCommits(store, house, logEnd));
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

interface LinkedHome extends NotifiedHome {
  readonly userId: UserId;
  /** Access tokens of the assistant's maker; first that of the user of the house. */
  readonly assistantTokens: readonly string[];
}

interface LinkedHomes {
  readonly house: LinkedHome;
  /** The home with a Home Assistant. */
  readonly other: LinkedHome | undefined;
  /** The end of the log when all accounts were linked. */
  readonly logEnd: LogPosition;
}

interface HomesPlan {
  readonly tokens: readonly string[];
  readonly credential: Credential | undefined;
  readonly maker: AssistingMaker;
  readonly assisted: "house" | "all";
}

/** Adds a linked user for each account. The first user, and that of a Home Assistant, also get a lamp and access tokens. */
function linkHomes(folder: PreparedFolder, { tokens, credential, maker, assisted }: HomesPlan): Promise<LinkedHomes> {
  return prepare(folder, async (parts) => {
    const { identity, store, federation } = parts;
    const { tenantId } = await identity.addTenant({ name: "Bench" });
    const users = await store.transaction((tx) => addUsers(tx, tenantId, tokens.length + (credential ? 1 : 0)));
    const devices: DeviceId[] = [];
    const unlinked = tokens.entries();
    const linkSome = async () => {
      for (const [index, token] of unlinked) devices[index] = await federation.link(users[index]!, "nest", token);
    };
    await Promise.all(Array.from({ length: linkedAtOnce }, linkSome));
    const client = await addClient(parts, tenantId);
    const outlet = await maker.addOutlet(parts, tenantId);
    const homeOf = async (userId: UserId, virtual: DeviceId, assistedUsers: readonly UserId[]): Promise<LinkedHome> => {
      const lamp = await addDevice(store, { userId, name: "Hall lamp", typeName: "Lamp" });
      const { accessToken } = await store.transaction((tx) => addGrant(tx, client, userId));
      return { userId, virtual, lamp, accessToken, assistantTokens: await tokensOf(parts, outlet, assistedUsers) };
    };
    const owner = users[0]!;
    const house = await homeOf(owner, devices[0]!, assisted === "all" ? users.slice(0, tokens.length) : [owner]);
    const last = users.at(-1)!;
    const other = credential && (await homeOf(last, await federation.link(last, "home", credential), [last]));
    return { house, other, logEnd: await store.read((tx) => tx.log.end()) };
  });
}

/** A Home Assistant in this process, whose smoke alarm sounds when a scene is played. */
async function smokingInstance() {
  const { instance, tokens, url, connections, stop } = await startHomeAssistant();
  return {
    credential: { accessToken: tokens.addLongLived(), address: url } satisfies Credential,
    async play(scene: "smoke" | "clear"): Promise<number> {
      const playedMs = performance.timeOrigin + performance.now();
      instance.change("binary_sensor.kitchen_smoke", scene === "smoke" ? "on" : "off");
      return playedMs;
    },
    async untilFollowed(): Promise<void> {
      while (![...connections].some(({ entitySubscriptions }) => entitySubscriptions.size > 0)) await sleep(100);
    },
    [Symbol.asyncDispose]: () => stop(),
  };
}

async function countCommits(
  store: Store,
  { userId }: Pick<LinkedHome, "userId">,
  logEnd: LogPosition,
): Promise<number> {
  let commits = 0;
  for (let after = logEnd; ; ) {
    const page = await store.read((tx) => tx.log.tail(after, 10_000));
    const last = page.at(-1);
    if (!last) return commits;
    commits += page.filter((entry) => entry.kind === "attribute" && entry.userId !== userId).length;
    after = last.position;
  }
}
