import type { DeviceCommit } from "../../../src/devices/commit.ts";
import type { DeviceStates, StateTables } from "../../../src/devices/states.ts";
import type { DeviceId, UserId } from "../../../src/model/ids.ts";
import type { Store } from "../../../src/store/seam.ts";
import { withMethods, withTables } from "./changed-parts.ts";
import { plant, replace } from "./plant.ts";

const module = () => import("../../../src/devices/states.ts");

/** Device states that see another store. */
function onStore(change: (store: Store<StateTables>) => Store<StateTables>) {
  return replace(module, {
    DeviceStates: (original) =>
      class extends original {
        constructor(store: Store<StateTables>, options?: ConstructorParameters<typeof DeviceStates>[1]) {
          super(change(store), options);
        }
      },
  });
}

export const statePlants = [
  plant(
    "state-kept-when-overtaken",
    "a state that a commit overtook while it was read is kept",
    replace(module, {
      DeviceStates: (original) =>
        class extends original {
          readonly #loading = new Map<DeviceId, number>();

          override async get(userId: UserId, deviceId: DeviceId) {
            this.#count(deviceId, 1);
            try {
              return await super.get(userId, deviceId);
            } finally {
              this.#count(deviceId, -1);
            }
          }

          override apply(commits: readonly DeviceCommit[]) {
            super.apply(commits.filter(({ deviceId }) => !this.#loading.get(deviceId)));
          }

          #count(deviceId: DeviceId, by: number) {
            this.#loading.set(deviceId, (this.#loading.get(deviceId) ?? 0) + by);
          }
        },
    }),
  ),
  plant(
    "no-version-check",
    "a node believes its memory of a device though another node may have written",
    onStore((store) => withMethods(store, { isShared: false })),
  ),
  plant(
    "torn-read",
    "a device and its attributes are read in two looks",
    onStore((store) =>
      withTables(store, () => ({
        attributes: { all: (userId, deviceId) => store.read((later) => later.attributes.all(userId, deviceId)) },
      })),
    ),
  ),
];
