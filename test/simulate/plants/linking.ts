import type { FederatedTokenParts } from "../../../src/federation/federated-tokens.ts";
import type { FederationTables } from "../../../src/federation/keeper.ts";
import type { UserId } from "../../../src/model/ids.ts";
import { type TableChanges, withMethods, withTables } from "./changed-parts.ts";
import { plant, replace } from "./plant.ts";

const tokens = () => import("../../../src/federation/federated-tokens.ts");

function withTokenParts(change: (parts: FederatedTokenParts) => Partial<FederatedTokenParts>) {
  return replace(tokens, {
    FederatedTokens: (original) =>
      class extends original {
        constructor(parts: FederatedTokenParts) {
          super({ ...parts, ...change(parts) });
        }
      },
  });
}

function unlinkingOn(change: (tx: FederationTables) => TableChanges<FederationTables>) {
  return replace(() => import("../../../src/federation/unlinking.ts"), {
    removeLink: (original) => (store, userId, ecosystem) => original(withTables(store, change), userId, ecosystem),
  });
}

export const linkingPlants = [
  plant(
    "relink-in-place",
    "a new token for a link that this node owns leaves the link's state and epoch as they were",
    withTokenParts(({ keeper, membership }) => ({
      keeper: withMethods(keeper, { isFollowing: (link) => link.owner === membership.id }),
    })),
  ),
  plant(
    "added-when-read",
    "the log says that a device was added when its account was read, not when it was stored",
    replace(() => import("../../../src/devices/log-entries.ts"), {
      deviceEntry: (original) => (userId, deviceId, timeMs, what) =>
        original(userId, deviceId, what === "added" ? timeMs - 100 : timeMs, what),
    }),
  ),
  plant(
    "unlink-keeps-attributes",
    "an unlinking leaves the device's attributes in the store",
    unlinkingOn((tx) => ({
      attributes: { removeOfDevice: async (userId, deviceId) => (await tx.attributes.all(userId, deviceId)).length },
    })),
  ),
  plant(
    "unlink-keeps-log",
    "an unlinking leaves the device's history in the store",
    unlinkingOn(() => ({ log: { removeOfDevice: async () => 0 } })),
  ),
  plant(
    "drop-forgotten",
    "an unlinking doesn't stop the link's follower",
    withTokenParts(({ keeper }) => ({ keeper: withMethods(keeper, { drop: async () => undefined }) })),
  ),
  plant(
    "removed-state-remembered",
    "a node still shows a device whose removal it has acknowledged",
    withTokenParts(({ states }) => ({ states: withMethods(states, { forget: () => undefined }) })),
  ),
  plant(
    "revoked-first",
    "the token is revoked before the link is removed",
    replace(tokens, {
      FederatedTokens: (original) =>
        class extends original {
          readonly #tokenParts: FederatedTokenParts;

          constructor(parts: FederatedTokenParts) {
            super(parts);
            this.#tokenParts = parts;
          }

          override async unlink(userId: UserId, ecosystemName: string) {
            const { store, connectors, sealing } = this.#tokenParts;
            const { tokenContext } = await import("../../../src/federation/link-key.ts");
            const connector = connectors.get(ecosystemName.toLowerCase())!;
            const link = await store.read((tx) => tx.links.find(userId, connector.name));
            const token = link && sealing.open(link.sealedToken, tokenContext(userId, connector.name));
            if (token !== undefined) await connector.revoke(token, new AbortController().signal).catch(() => false);
            return super.unlink(userId, ecosystemName);
          }
        },
    }),
  ),
];
