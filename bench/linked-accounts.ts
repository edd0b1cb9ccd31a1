import { AddressTaken, type Simulator, type SimulatorOptions, startSimulator } from "../simulator/simulator.ts";
import type { DeviceId, TenantId, UserId } from "../src/model/ids.ts";
import { type PreparedFolder, prepare, preparedFolder } from "./prepared-folder.ts";
import { untilLinksAre } from "./until-linked.ts";
import { addUsers } from "./users.ts";

/** The structures of a simulated account. */
export interface House {
  readonly structures: { thermostats: number; alarms: number }[];
}

const usualHouse: House = { structures: [{ thermostats: 2, alarms: 3 }] };
const linkedAtOnce = 50;

/** A data folder with users that are linked to accounts of the simulator. No service runs on it yet. */
export interface LinkedAccounts extends AsyncDisposable {
  readonly folder: PreparedFolder;
  readonly simulator: Simulator;
  readonly tenantId: TenantId;
  /** In the order of the houses. */
  readonly devices: readonly LinkedDevice[];
  /** Resolves when the service that runs on the folder reports all links in this state. */
  untilAllAre(state: "live" | "waiting"): Promise<void>;
}

export interface LinkedDevice {
  readonly userId: UserId;
  readonly deviceId: DeviceId;
  /** The ecosystem's token of the account. */
  readonly token: string;
}

/** `houseAt` chooses the house of each account, by its index. */
export async function linkedAccounts(
  count: number,
  houseAt: (index: number) => House = () => usualHouse,
  options: SimulatorOptions = {},
): Promise<LinkedAccounts> {
  await using finishing = new AsyncDisposableStack();
  const simulator = await startOnFixedPort(options);
  finishing.defer(() => simulator.stop());
  const ecosystems = { nest: { protocol: "nest", apiUrl: simulator.url } };
  const folder = finishing.use(preparedFolder({ BREEZEWAY_ECOSYSTEMS: JSON.stringify(ecosystems) }));
  const linked = await link(count, houseAt, folder, simulator);
  const kept = finishing.move();
  return {
    folder,
    simulator,
    ...linked,
    untilAllAre: (state) => untilLinksAre(folder, count, state),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Links through the federation itself, which verifies each token with the simulator. */
function link(count: number, houseAt: (index: number) => House, folder: PreparedFolder, simulator: Simulator) {
  return prepare(folder, async ({ identity, store, federation }) => {
    const { tenantId } = await identity.addTenant({ name: "Bench" });
    const users = await store.transaction((tx) => addUsers(tx, tenantId, count));
    const devices: LinkedDevice[] = [];
    const unlinked = users.entries();
    const linkSome = async () => {
      for (const [index, userId] of unlinked) {
        const { token } = simulator.addAccount({ seed: userId, ...houseAt(index) });
        devices[index] = { userId, token, deviceId: await federation.link(userId, "nest", token) };
      }
    };
    await Promise.all(Array.from({ length: linkedAtOnce }, linkSome));
    return { tenantId, devices };
  });
}

/** Uses a port below the ephemeral range: after the simulator stops, no other process will listen there. */
async function startOnFixedPort(options: SimulatorOptions): Promise<Simulator> {
  for (let port = 20_000 + (process.pid % 5_000); ; port++) {
    try {
      return await startSimulator({ ...options, port });
    } catch (error) {
      if (!(error instanceof AddressTaken)) throw error;
    }
  }
}
