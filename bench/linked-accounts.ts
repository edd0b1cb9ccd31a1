import { setTimeout as sleep } from "node:timers/promises";
import { AddressTaken, type Simulator, startSimulator } from "../simulator/simulator.ts";
import { callControl } from "../src/cli/administration/control-socket.ts";
import type { DeviceId, TenantId, UserId } from "../src/model/ids.ts";
import { dataFolder } from "../src/store/disk/data-folder.ts";
import { addUsers } from "./people.ts";
import { type PreparedFolder, prepare, preparedFolder } from "./prepared-folder.ts";

/** What an account of the simulator holds. */
export interface House {
  readonly structures: { thermostats: number; alarms: number }[];
}

const usualHouse: House = { structures: [{ thermostats: 2, alarms: 3 }] };
const linkedAtOnce = 50;
const longestWaitMs = 120_000;

/** A data folder with so many users, each linked to an account of the simulator, and no service on it yet. */
export interface LinkedAccounts extends AsyncDisposable {
  readonly folder: PreparedFolder;
  readonly simulator: Simulator;
  readonly tenantId: TenantId;
  /** In the order of the houses. */
  readonly devices: readonly LinkedDevice[];
  /** Resolves when the service that runs on the folder says that all links are in that state. */
  untilAllAre(state: "live" | "waiting"): Promise<void>;
}

export interface LinkedDevice {
  readonly userId: UserId;
  readonly deviceId: DeviceId;
}

/** With the usual house for each, or with one for each of the places from 0 on. */
export async function linkedAccounts(
  count: number,
  houseAt: (place: number) => House = () => usualHouse,
): Promise<LinkedAccounts> {
  await using finishing = new AsyncDisposableStack();
  const simulator = await onQuietPort();
  finishing.defer(() => simulator.stop());
  const ecosystems = { nest: { protocol: "nest", apiUrl: simulator.url } };
  const folder = finishing.use(preparedFolder({ BREEZEWAY_ECOSYSTEMS: JSON.stringify(ecosystems) }));
  const linked = await link(count, houseAt, folder, simulator);
  const kept = finishing.move();
  return {
    folder,
    simulator,
    ...linked,
    async untilAllAre(state) {
      const deadlineMs = performance.now() + longestWaitMs;
      for (;;) {
        const { links } = (await callControl(dataFolder(folder.path).controlSocket, "status", {})) as {
          links: Readonly<Record<string, number>>;
        };
        if (links[state] === count || (count === 0 && Object.keys(links).length === 0)) return;
        if (performance.now() > deadlineMs) throw new Error(`not all are ${state}: ${JSON.stringify(links)}`);
        await sleep(250);
      }
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Through the federation itself, which proves each token against the simulator. */
function link(count: number, houseAt: (place: number) => House, folder: PreparedFolder, simulator: Simulator) {
  return prepare(folder, async ({ identity, store, federation }) => {
    const { tenantId } = await identity.addTenant({ name: "Bench" });
    const users = await store.transaction((tx) => addUsers(tx, tenantId, count));
    const devices: LinkedDevice[] = [];
    const waiting = users.entries();
    const linkSome = async () => {
      for (const [place, userId] of waiting) {
        const { token } = simulator.addAccount({ seed: userId, ...houseAt(place) });
        devices[place] = { userId, deviceId: await federation.link(userId, "nest", token) };
      }
    };
    await Promise.all(Array.from({ length: linkedAtOnce }, linkSome));
    return { tenantId, devices };
  });
}

/** Below the range from which outgoing connections take their ports: when it is closed, nobody else answers there. */
async function onQuietPort(): Promise<Simulator> {
  for (let port = 20_000 + (process.pid % 5_000); ; port++) {
    try {
      return await startSimulator({ port });
    } catch (error) {
      if (!(error instanceof AddressTaken)) throw error;
    }
  }
}
