import type { Commit } from "../devices/commit.ts";
import type { DeviceStates } from "../devices/states.ts";
import type { Connector } from "../ecosystem/connector.ts";
import { blankValues } from "../model/attribute-values.ts";
import { UnknownDevice } from "../model/errors.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import { type LargeStrings, largeStrings } from "../model/large-strings.ts";
import { decodeIndexMap } from "../model/stored-index-map.ts";
import type { Surroundings } from "../model/surroundings.ts";
import type { Membership } from "../nodes/membership.ts";
import type { Store } from "../store/seam.ts";
import { FederatedTokens, type Unlinked } from "./federated-tokens.ts";
import { type Freshness, freshnessOf, freshnessOfEach } from "./freshness.ts";
import { type FederationTables, LinkKeeper } from "./keeper.ts";
import { type LinkStatus, linkStatus } from "./link-status.ts";

/** What the adaptor interface offers a platform user (docs/interface.md). */
export interface Federation {
  /** Links the user to an account of that ecosystem: proven, filled and durable when it resolves. */
  link(userId: UserId, ecosystemName: string, accessToken: string): Promise<DeviceId>;
  /** Replaces the token of an existing link; the virtual device and its indexes stay. */
  relink(userId: UserId, ecosystemName: string, accessToken: string): Promise<DeviceId>;
  /** Ends the link and removes its virtual device with all that belonged to it. */
  unlink(userId: UserId, ecosystemName: string): Promise<Unlinked>;
  /** The same for every link of the user, also to an ecosystem that is no longer configured or doesn't answer. */
  unlinkAll(userId: UserId): Promise<readonly Unlinked[]>;
  /** How the link stands, and what was noticed about its account. */
  status(userId: UserId, ecosystemName: string): Promise<LinkStatus>;
  /** The index map of a virtual device; UnknownDevice for any other. */
  largeStrings(userId: UserId, deviceId: DeviceId): Promise<LargeStrings>;
  /** How far a device's state can be believed now; an ordinary device is always present. */
  freshness(userId: UserId, deviceId: DeviceId): Promise<Freshness>;
  /** The same of many devices that the caller was shown, at one price; one whose link has just ended is left out. */
  freshnessOfEach(
    devices: readonly { readonly id: DeviceId; readonly isVirtual: boolean }[],
  ): Promise<ReadonlyMap<DeviceId, Freshness>>;
}

export interface FederationParts {
  readonly store: Store<FederationTables>;
  readonly states: DeviceStates;
  readonly commit: Commit;
  readonly membership: Membership;
  readonly connectors: ReadonlyMap<string, Connector>;
  readonly sealing: {
    seal(token: string, place: string): string;
    open(sealedToken: string, place: string): string;
  };
  readonly surroundings: Surroundings;
}

/** Federation with the streams behind it: nothing is followed before it is started. */
export interface RunningFederation extends Federation {
  readonly keeper: LinkKeeper;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function federationOn(parts: FederationParts): RunningFederation {
  const { store, sealing } = parts;
  const stopping = new AbortController();
  const keeper = new LinkKeeper({ ...parts, openToken: sealing.open });
  const tokens = new FederatedTokens({
    ...parts,
    keeper,
    sealToken: sealing.seal,
    openToken: sealing.open,
    signal: stopping.signal,
  });
  const freshness = (userId: UserId, deviceId: DeviceId) => freshnessOf({ ...parts, keeper }, userId, deviceId);
  return {
    keeper,
    start: () => keeper.start(),
    async stop() {
      stopping.abort();
      await keeper.stop();
    },
    link: (userId, ecosystemName, accessToken) => tokens.link(userId, ecosystemName, accessToken),
    relink: (userId, ecosystemName, accessToken) => tokens.relink(userId, ecosystemName, accessToken),
    unlink: (userId, ecosystemName) => tokens.unlink(userId, ecosystemName),
    unlinkAll: (userId) => tokens.unlinkAll(userId),
    status: async (userId, ecosystemName) => linkStatus(store, keeper, freshness, userId, tokens.nameOf(ecosystemName)),
    freshness,
    freshnessOfEach: (devices) => freshnessOfEach({ ...parts, keeper }, devices),
    largeStrings: (userId, deviceId) =>
      store.read(async (tx) => {
        const link = await tx.links.ofDevice(userId, deviceId);
        if (!link) throw new UnknownDevice();
        const values = [...blankValues];
        for (const { key, value } of await tx.attributes.all(userId, deviceId)) values[key as number] = value;
        return largeStrings(decodeIndexMap(link.indexMap), values);
      }),
  };
}
