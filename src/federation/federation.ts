import type { Commit, DeviceCommit } from "../devices/commit.ts";
import type { DeviceStates } from "../devices/states.ts";
import type { Connector } from "../ecosystem/connector.ts";
import { placeOf } from "../model/attribute-names.ts";
import { blankValues } from "../model/attribute-values.ts";
import { UnknownDevice } from "../model/errors.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import { type LargeStrings, largeStrings } from "../model/large-strings.ts";
import { decodeIndexMap } from "../model/stored-index-map.ts";
import type { Membership } from "../nodes/membership.ts";
import type { ErrorOwners } from "../runtime/error-owners.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Store } from "../store/seam.ts";
import type { CommandRow } from "../store/tables/commands.ts";
import type { DeviceRow } from "../store/tables/devices.ts";
import { AwaitedFans } from "./awaited-fans.ts";
import { receiptsKept } from "./fan-receipts.ts";
import { FanSender } from "./fan-sender.ts";
import { FederatedTokens, type Unlinked } from "./federated-tokens.ts";
import { type Freshness, freshnessHere, freshnessOf, freshnessOfEach, tallyOf } from "./freshness.ts";
import { type FederationTables, LinkKeeper } from "./keeper.ts";
import type { LinkFaultKind } from "./link-faults.ts";
import { type LinkOverview, linkOverview, type ShownLink, shownLinksOf } from "./link-overview.ts";
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
    devices: readonly Pick<DeviceRow, "userId" | "id" | "isVirtual">[],
  ): Promise<ReadonlyMap<DeviceId, Freshness>>;
  /** The same of one, if this node knows it without asking; undefined says nothing. */
  freshnessHere(device: { readonly id: DeviceId; readonly isVirtual: boolean }): Freshness | undefined;
  /** What became of the fan requests of a device, the newest first. */
  receipts(userId: UserId, deviceId: DeviceId): Promise<readonly CommandRow[]>;
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
  readonly runtime: Runtime;
  /** Counts an unexpected error in one link's work. */
  readonly countFault?: (kind: LinkFaultKind) => void;
  /** To whom an error belongs that nothing caught. */
  readonly owners?: ErrorOwners;
}

/** Federation with the streams behind it: nothing is followed, and nothing sent, before it is started. */
export interface RunningFederation extends Federation {
  readonly keeper: LinkKeeper;
  readonly fans: FanSender;
  /** The links that this node follows, by state, and how many of them are stale. */
  tally(): ReturnType<typeof tallyOf>;
  /** The links of a user, and all links counted, as an administrator reads them. */
  shownLinksOf(userId: UserId): Promise<readonly ShownLink[]>;
  overview(): Promise<LinkOverview>;
  /** Told after each commit: a fan request that became durable here is sent at once. */
  heard(commits: readonly DeviceCommit[]): void;
  start(): Promise<void>;
  /** Ends the streams and gives the links back, while all else goes on: others follow them from now on. */
  handBack(): Promise<void>;
  stop(): Promise<void>;
}

export function federationOn(parts: FederationParts): RunningFederation {
  const { store, sealing } = parts;
  const stopping = new AbortController();
  const awaited = new AwaitedFans();
  const keeper = new LinkKeeper({
    ...parts,
    openToken: sealing.open,
    restated: (...snapshot) => awaited.restated(...snapshot),
  });
  const fans = new FanSender({
    ...parts,
    awaited,
    connectionOf: (deviceId) => keeper.supervisor(deviceId)?.connection,
  });
  const tokens = new FederatedTokens({
    ...parts,
    keeper,
    sealToken: sealing.seal,
    openToken: sealing.open,
    signal: stopping.signal,
  });
  const here = { ...parts, keeper };
  const freshness = (userId: UserId, deviceId: DeviceId) => freshnessOf(here, userId, deviceId);
  return {
    keeper,
    fans,
    tally: () => tallyOf(keeper, parts.runtime.nowMs()),
    shownLinksOf: (userId) => shownLinksOf(here, userId),
    overview: () => linkOverview(here),
    heard: (commits) => {
      if (commits.some(isFanRequest)) fans.wake();
    },
    async start() {
      await keeper.start();
      await fans.start();
    },
    handBack: () => keeper.stop(),
    async stop() {
      stopping.abort();
      // Links are handed back at once; a fan request that is under way needs none to record its outcome.
      await Promise.all([fans.stop(), keeper.stop()]);
    },
    receipts: (userId, deviceId) => store.read((tx) => tx.commands.ofDevice(userId, deviceId, receiptsKept)),
    link: (userId, ecosystemName, accessToken) => tokens.link(userId, ecosystemName, accessToken),
    relink: (userId, ecosystemName, accessToken) => tokens.relink(userId, ecosystemName, accessToken),
    unlink: (userId, ecosystemName) => tokens.unlink(userId, ecosystemName),
    unlinkAll: (userId) => tokens.unlinkAll(userId),
    status: async (userId, ecosystemName) => linkStatus(store, keeper, freshness, userId, tokens.nameOf(ecosystemName)),
    freshness,
    freshnessOfEach: (devices) => freshnessOfEach(here, devices),
    freshnessHere: (device) => freshnessHere(here, device),
    largeStrings: (userId, deviceId) =>
      store.read(async (tx) => {
        const link = await tx.links.ofDevice(userId, deviceId);
        if (!link) {
          const isOrdinary = (await tx.devices.find(userId, deviceId)) !== undefined;
          throw new UnknownDevice(isOrdinary ? "This device is no virtual device: it has no index map." : undefined);
        }
        const values = [...blankValues];
        for (const { key, value } of await tx.attributes.all(userId, deviceId)) values[key as number] = value;
        return largeStrings(decodeIndexMap(link.indexMap), values);
      }),
  };
}

function isFanRequest({ cause, changes }: DeviceCommit): boolean {
  if (cause.by === "ecosystem") return false;
  return changes.some(({ key, value }) => {
    const place = typeof key === "number" && value !== null ? placeOf(key) : undefined;
    return place?.kind === "thermostat" && place.field === "requestWrite";
  });
}
