import { AsyncLocalStorage } from "node:async_hooks";
import type { TestContext } from "node:test";
import { commitOn } from "../../src/devices/commit.ts";
import { DeviceStates } from "../../src/devices/states.ts";
import type { Connector, StreamListener } from "../../src/ecosystems/connector.ts";
import { fanEcho } from "../../src/federation/commands/fan-echo.ts";
import { fanGate } from "../../src/federation/commands/fan-gate.ts";
import { federationOn } from "../../src/federation/federation.ts";
import { faultPause } from "../../src/federation/link-faults.ts";
import { LinkSupervisor } from "../../src/federation/link-supervisor.ts";
import type { Home } from "../../src/home/home.ts";
import type { DeviceId, NodeId, UserId } from "../../src/model/ids.ts";
import type { LineLevel } from "../../src/model/log-line.ts";
import { Membership } from "../../src/nodes/membership.ts";
import { OutgoingCalls } from "../../src/runtime/network/outgoing-calls.ts";
import { processErrorOwners } from "../../src/runtime/process/process-error-owners.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { ownerlessStore } from "../../src/store/ownerless-store.ts";
import type { OpenStore, Store, Transaction } from "../../src/store/seam.ts";
import { thermostatAttribute } from "../../src/virtual-device/attribute-names.ts";
import { makeHome } from "../contracts/store/home.ts";
import { plainThingIds } from "../home/thing-ids.ts";
import { home } from "./made-homes.ts";
import { flushPromises, type ManualRuntime, manualRuntime } from "./manual-runtime.ts";
import { type FaultPoint, PlantedFault } from "./planted-fault.ts";
import { ScriptedStream } from "./scripted-connector.ts";

/** One user's linked home. */
export interface House {
  readonly userId: UserId;
  readonly token: string;
  deviceId: DeviceId;
  account: Home;
  readonly streams: ScriptedStream[];
}

/** Many linked homes on one store, and one fault at a time in the work for one of them. */
export async function madeStreet(
  t: TestContext,
  store: OpenStore,
  houseCount: number,
  { random = (): number => 0.5 } = {},
) {
  const fault = new PlantedFault();
  const moved = manualRuntime({ random });
  const runtime = plantedRuntime(moved, fault);
  const blind: DeviceId[] = [];
  const watched = plantedStore(store, fault, blind);
  const houses: House[] = [];
  const connector = streetConnector(houses, fault);
  const connectors = new Map([["nest", connector]]);
  const states = new DeviceStates(watched);
  const linkStore = ownerlessStore(watched, processErrorOwners);
  const commit = commitOn({
    store: linkStore,
    gates: [fanGate({ connectors, stateOf: (deviceId) => federation.keeper.standing(deviceId)?.state })],
    reactions: [fanEcho((commandId) => federation.fans.sentAt(commandId))],
    committed: (commits) =>
      processErrorOwners.outside(() => {
        states.apply(commits);
        federation.afterCommit(commits);
      }),
    report: runtime.report,
  });
  const membership = new Membership("node-a" as NodeId, watched, runtime);
  const kinds: string[] = [];
  const openToken = (sealed: string, place: string) => {
    fault.pass("open token", houses.find(({ userId }) => place.includes(`user ${userId} `))?.userId);
    return sealed;
  };
  const federation = federationOn({
    store: linkStore,
    states,
    commit: async (request) => {
      fault.pass("commit", request.userId);
      return commit(request);
    },
    membership,
    connectors,
    sealing: { seal: (token) => token, open: openToken },
    thingIdOf: plainThingIds,
    runtime: { ...runtime, nowMs: () => membership.nowMs() },
    outgoing: new OutgoingCalls({ timers: runtime }),
    countFault: (kind) => void kinds.push(kind),
    owners: processErrorOwners,
  });
  await membership.start();
  await federation.start();
  t.after(async () => {
    fault.remove();
    let isStopped = false;
    const stopped = federation.stop().then(() => {
      isStopped = true;
    });
    while (!isStopped) await moved.advance(100);
    await stopped;
    await membership.stop();
  });

  /** Lets promises run and time pass until the condition is true. */
  async function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
    // On a busy machine the answers of PostgreSQL take many rounds: the limit is a time.
    const giveUpMs = performance.now() + 60_000;
    for (let round = 0; performance.now() < giveUpMs; round++) {
      if (await isSo()) return;
      // Growing steps: a pause may last minutes, the store's answer only some turns. A step is shorter than the shortest
      // pause, so that no pause begins and ends between two looks at the condition.
      if (round % 20 === 19) await moved.advance(Math.min(0.9 * faultPause.fromMs, 100 + round));
      else await flushPromises();
    }
    throw new Error(`it did not come about that ${what}`);
  }

  for (let i = 1; i <= houseCount; i++) {
    const { userId } = await makeHome(store, { devices: 0, name: `user ${i}` });
    const house: House = { userId, token: `c.${i}`, deviceId: 0 as DeviceId, account: home(), streams: [] };
    houses.push(house);
    house.deviceId = await federation.link(userId, "nest", house.token);
  }
  const isLive = ({ deviceId }: House) => federation.keeper.supervisor(deviceId)?.isLive === true;
  const isSettled = (house: House) => isLive(house) && federation.keeper.supervisor(house.deviceId)?.isWritten === true;
  await until(() => houses.every(isSettled), "all links are live");
  blind.length = 0;

  return {
    houses,
    federation,
    fault,
    runtime: moved,
    /** The kinds of all counted faults. */
    kinds,
    /** Devices with a stored blind interval. */
    blind,
    until,
    isSettled,
    standing: ({ deviceId }: House) => federation.keeper.standing(deviceId)!,
    status: ({ userId }: House) => federation.status(userId, "nest"),
    /** Changes the house's account and sends it on its stream. */
    bring(house: House, account: Home): void {
      house.account = account;
      house.streams.at(-1)!.brings(account);
    },
    async value({ userId, deviceId }: House, key: number): Promise<string | null> {
      const [row] = await store.read((tx) => tx.attributes.some(userId, deviceId, [key]));
      return row?.value ?? null;
    },
    async askFan({ userId, deviceId }: House, value: string): Promise<void> {
      const changes = [{ key: thermostatAttribute(1, 1, "requestWrite"), value }];
      await commit({ userId, cause: { by: "client", user: userId }, updates: [{ deviceId, changes }] });
    },
  };
}

export type Street = Awaited<ReturnType<typeof madeStreet>>;

/** Each house's stream opens with its account. */
function streetConnector(houses: readonly House[], fault: PlantedFault): Connector {
  const of = (token: string) => houses.find((house) => house.token === token)!;
  return {
    name: "nest",
    displayName: "Nest account",
    capabilities: { fanNeedsHome: false, planning: { endsEcoFirst: false } },
    async read(token) {
      fault.pass("read", of(token).userId);
      return of(token).account;
    },
    follow(token, listener, signal) {
      const house = of(token);
      fault.pass("follow throws", house.userId);
      // As a socket does: callbacks run in the context of the owner that opened it.
      const asOwner = AsyncLocalStorage.snapshot();
      const hostile: StreamListener = {
        home: (account) => asOwner(() => listener.home(throwing(account, () => fault.pass("account", house.userId)))),
        unchanged: () => asOwner(() => listener.unchanged()),
        partial: () => asOwner(() => listener.partial()),
        stored: () => asOwner(() => listener.stored()),
      };
      const stream = new ScriptedStream(hostile, signal);
      house.streams.push(stream);
      queueMicrotask(() => stream.isOpen && stream.brings(house.account));
      return (async () => {
        fault.pass("follow rejects", house.userId);
        return stream.ended;
      })();
    },
    pauseMs() {
      fault.pass("pauseMs", presentUser());
      return 1_000;
    },
    async act(token) {
      fault.pass("act", of(token).userId);
      return { state: "accepted" };
    },
    revoke: async () => true,
  };
}

/** The same account, but reading its alarms passes the fault point first. */
function throwing(account: Home, pass: () => void): Home {
  return Object.defineProperty({ ...account }, "alarms", {
    enumerable: true,
    get() {
      pass();
      return account.alarms;
    },
  });
}

/** The user whose link the present work belongs to. */
function presentUser(): number | undefined {
  const owner = processErrorOwners.present;
  return owner instanceof LinkSupervisor ? owner.link.userId : undefined;
}

function plantedRuntime(moved: ManualRuntime, fault: PlantedFault): Runtime {
  const pass = (point: FaultPoint) => fault.pass(point, presentUser());
  const at = (level: LineLevel) => (fields: object, sentence: string) => {
    pass("report");
    moved.report[level](fields, sentence);
  };
  return {
    nowMs() {
      pass("nowMs");
      return Math.floor(moved.nowMs());
    },
    elapsedMs() {
      pass("elapsedMs");
      return moved.elapsedMs();
    },
    random() {
      pass("random");
      return moved.random();
    },
    after(delayMs, act) {
      pass("after");
      // As real timers do: the step runs in the context of the owner that set it.
      return moved.after(delayMs, AsyncLocalStorage.bind(act));
    },
    report: { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") },
  };
}

/** The store as a single node's own, whatever the database: the test controls time, and leases would need real time. */
function plantedStore(store: OpenStore, fault: PlantedFault, blind: DeviceId[]): Store {
  const links = (table: Transaction["links"]): Transaction["links"] => ({
    ...table,
    setState(userId, ...rest) {
      fault.pass("record", userId);
      return table.setState(userId, ...rest);
    },
    ofDevice(userId, ...rest) {
      fault.pass("load", userId);
      return table.ofDevice(userId, ...rest);
    },
  });
  const blindIntervals = (table: Transaction["blindIntervals"]): Transaction["blindIntervals"] => ({
    ...table,
    add(userId, deviceId, interval) {
      blind.push(deviceId);
      return table.add(userId, deviceId, interval);
    },
  });
  const planted = (tx: Transaction) =>
    new Proxy(tx, {
      get(given, name: keyof Transaction) {
        if (name === "links") return links(given.links);
        return name === "blindIntervals" ? blindIntervals(given.blindIntervals) : given[name];
      },
    });
  return {
    isShared: false,
    transaction: (body, priority) => store.transaction((tx) => body(planted(tx)), priority),
    read: (body, priority) => store.read((tx) => body(planted(tx)), priority),
  };
}
