import type { Commit, DeviceCommit } from "../devices/commit.ts";
import type { DeviceStates } from "../devices/states.ts";
import type { ThingControl } from "../devices/thing-control.ts";
import type { Connector } from "../ecosystems/connector.ts";
import type { Credential } from "../ecosystems/credential.ts";
import { UnknownDevice } from "../model/errors.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import type { Membership } from "../nodes/membership.ts";
import type { ErrorOwners } from "../runtime/error-owners.ts";
import type { OutgoingCalls } from "../runtime/network/outgoing-calls.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Store } from "../store/seam.ts";
import type { DeviceRow } from "../store/tables/devices.ts";
import type { FanRequestRow } from "../store/tables/fan-requests.ts";
import type { ThingCommandRow } from "../store/tables/thing-commands.ts";
import { positionOf } from "../virtual-device/attribute-names.ts";
import { blankValues } from "../virtual-device/attribute-values.ts";
import { type LargeStrings, largeStrings } from "../virtual-device/large-strings.ts";
import { decodeIndexMap } from "../virtual-device/stored-index-map.ts";
import { blindHours } from "./blind-hours.ts";
import { AwaitedFans } from "./commands/awaited-fans.ts";
import { CommandSender } from "./commands/command-sender.ts";
import { fanCommands } from "./commands/fan-commands.ts";
import { receiptsKept } from "./commands/fan-receipts.ts";
import { thingCommands } from "./commands/thing-commands.ts";
import { thingControl } from "./commands/thing-control.ts";
import type { TokenSealing } from "./credential.ts";
import { FederatedTokens, type LinkOptions, type Unlinked } from "./federated-tokens.ts";
import type { Feeds } from "./feeds/feeds.ts";
import {
  type Freshness,
  type FreshnessBeside,
  freshnessBeside,
  freshnessHere,
  freshnessOf,
  freshnessOfEach,
  tallyOf,
} from "./freshness.ts";
import { type FederationTables, LinkKeeper } from "./keeper.ts";
import { type CountsOfTenants, type LinkCounts, type LinkOverview, linkCountsOn, linkOverview } from "./link-counts.ts";
import type { LinkFaultKind } from "./link-faults.ts";
import { blindTimes, foundLinks, type ShownLink, shownLinksOf } from "./link-overview.ts";
import { type LinkStatus, linkStatus } from "./link-status.ts";
import { thingFreshnessOfEach } from "./thing-freshness.ts";
import type { ThingIdOf } from "./thing-marks.ts";

/** Links to accounts in ecosystems, for every surface: the adaptor, /v3, pages and the command line. */
export interface Federation {
  /**
   * Links the user to an account of that ecosystem. When this resolves, the token is proven, and device and attributes
   * are durable. A credential is renewed; a token alone is used as long as the ecosystem accepts it.
   */
  link(
    userId: UserId,
    ecosystemName: string,
    token: string | Credential,
    address?: string,
    options?: LinkOptions,
  ): Promise<DeviceId>;
  /** Replaces the token or credential of an existing link; the virtual device and its indexes stay. */
  relink(
    userId: UserId,
    ecosystemName: string,
    token: string | Credential,
    address?: string,
    options?: LinkOptions,
  ): Promise<DeviceId>;
  /** Removes the link, its virtual device and all their data. */
  unlink(userId: UserId, ecosystemName: string): Promise<Unlinked>;
  /** Removes a link by its name in the store, also one of an ecosystem that is no longer configured. */
  unlinkStored(userId: UserId, ecosystem: string): Promise<Unlinked>;
  /** Unlinks every link of the user, also of an ecosystem that is no longer configured or doesn't answer. */
  unlinkAll(userId: UserId): Promise<readonly Unlinked[]>;
  /** The link's state, and notices about its account. */
  status(userId: UserId, ecosystemName: string): Promise<LinkStatus>;
  /** The index map of a virtual device; UnknownDevice for any other. */
  largeStrings(userId: UserId, deviceId: DeviceId): Promise<LargeStrings>;
  /** Whether a device's state is current; an ordinary device is always present. */
  freshness(userId: UserId, deviceId: DeviceId): Promise<Freshness>;
  /** Freshness of many devices with one query. A device whose link has just ended is left out. */
  freshnessOfEach(
    devices: readonly Pick<DeviceRow, "userId" | "id" | "isVirtual">[],
  ): Promise<ReadonlyMap<DeviceId, Freshness>>;
  /** Freshness of one device, read together with its state. */
  freshnessBeside(): FreshnessBeside;
  /** Freshness of the things of these links. */
  thingFreshnessOfEach(
    links: readonly { readonly userId: UserId; readonly deviceId: DeviceId }[],
  ): Promise<ReadonlyMap<DeviceId, Freshness>>;
  /** Freshness of one device without a query; undefined when the store must be asked. */
  freshnessHere(device: { readonly id: DeviceId; readonly isVirtual: boolean }): Freshness | undefined;
  /** Commands to things. */
  readonly control: ThingControl;
  /** The receipts of a device's fan requests, newest first. */
  receipts(userId: UserId, deviceId: DeviceId): Promise<readonly FanRequestRow[]>;
}

export interface FederationParts {
  readonly store: Store<FederationTables>;
  readonly states: DeviceStates;
  readonly commit: Commit;
  readonly membership: Membership;
  readonly connectors: ReadonlyMap<string, Connector>;
  readonly sealing: TokenSealing;
  readonly thingIdOf: ThingIdOf;
  readonly runtime: Runtime;
  /** Counts an unexpected error in one link's work. */
  readonly countFault?: (kind: LinkFaultKind) => void;
  /** Finds the link to which an uncaught error belongs. */
  readonly owners?: ErrorOwners;
  /** The feeds of ecosystems that have no connection for each account. */
  readonly feeds?: Feeds;
  readonly outgoing: OutgoingCalls;
  /** How often confirmation times are stored; every minute. */
  readonly confirmEveryMs?: number;
}

/** Federation with its background work: no stream is opened and no command sent before `start`. */
export interface RunningFederation extends Federation {
  readonly keeper: LinkKeeper;
  readonly fans: CommandSender<FanRequestRow>;
  readonly commands: CommandSender<ThingCommandRow>;
  /** The links that this node follows, by state, and how many of them are stale. */
  tally(): ReturnType<typeof tallyOf>;
  /** The links of a user, for an administrator. */
  shownLinksOf(userId: UserId): Promise<readonly ShownLink[]>;
  /** Links of some tenants, or of all, for an administrator. */
  foundLinks(filter: Parameters<typeof foundLinks>[1]): ReturnType<typeof foundLinks>;
  /** For how long each of these links was blind in this time, up to now. */
  blindTimes(links: Parameters<typeof blindTimes>[1], withinMs: number): ReturnType<typeof blindTimes>;
  blindHours(links: Parameters<typeof blindHours>[1], sinceMs: number, hours: number): ReturnType<typeof blindHours>;
  /** All links, counted by state. */
  overview(): Promise<LinkOverview>;
  /** Links of some tenants, or of all, counted by state; up to a second old. */
  readonly linkCounts: LinkCounts;
  countsOfTenants(): Promise<CountsOfTenants>;
  /** Called after each commit: a fan request that became durable on this node is sent at once. */
  afterCommit(commits: readonly DeviceCommit[]): void;
  start(): Promise<void>;
  /** Ends the streams and hands the links back, while everything else goes on: other nodes can follow them at once. */
  handBack(): Promise<void>;
  stop(): Promise<void>;
}

export function federationOn(parts: FederationParts): RunningFederation {
  const { store } = parts;
  const awaited = new AwaitedFans();
  const keeper = new LinkKeeper({
    ...parts,
    restated: (...snapshot) => awaited.restated(...snapshot),
  });
  const connectionOf = (deviceId: DeviceId) => keeper.supervisor(deviceId)?.connection;
  const thisNode = { ...parts, keeper };
  const senderParts = {
    ...parts,
    connectionOf,
    isFollowed: async ({ userId, deviceId }: { readonly userId: UserId; readonly deviceId: DeviceId }) => {
      const found = await freshnessOfEach(thisNode, [{ userId, id: deviceId, isVirtual: true }]);
      return found.get(deviceId)?.isPresent ?? false;
    },
    ended: () => {
      fans.wake();
      commands.wake();
    },
  };
  const fans = new CommandSender({ ...senderParts, kind: fanCommands(awaited) });
  const commands = new CommandSender({ ...senderParts, kind: thingCommands(parts.connectors) });
  const tokens = new FederatedTokens({ ...parts, keeper });
  const freshness = (userId: UserId, deviceId: DeviceId) => freshnessOf(thisNode, userId, deviceId);
  const control = thingControl({
    ...parts,
    stateOf: (deviceId) => keeper.standing(deviceId)?.state,
    isStale: async (thing) => (await thingFreshnessOfEach(thisNode, [thing])).get(thing.deviceId)?.isStale ?? true,
    stored: () => commands.wake(),
  });
  return {
    keeper,
    fans,
    commands,
    control,
    tally: () => tallyOf(keeper, parts.runtime.nowMs()),
    shownLinksOf: (userId) => shownLinksOf(thisNode, userId),
    foundLinks: (filter) => foundLinks(thisNode, filter),
    blindTimes: (links, withinMs) => blindTimes(thisNode, links, withinMs),
    blindHours: (links, sinceMs, hours) => blindHours(thisNode, links, sinceMs, hours),
    overview: () => linkOverview(thisNode),
    ...linkCountsOn(thisNode),
    afterCommit: (commits) => {
      if (commits.some(isFanRequest)) fans.wake();
    },
    async start() {
      await parts.feeds?.start();
      await keeper.start();
      await fans.start();
      await commands.start();
    },
    handBack: () => keeper.stop(),
    async stop() {
      // All at the same time: a running command does not need its link to record the outcome.
      await Promise.all([fans.stop(), commands.stop(), keeper.stop()]);
      await parts.feeds?.stop();
    },
    receipts: (userId, deviceId) => store.read((tx) => tx.fanRequests.ofDevice(userId, deviceId, receiptsKept)),
    link: (...parameters) => tokens.link(...parameters),
    relink: (...parameters) => tokens.relink(...parameters),
    unlink: (userId, ecosystemName) => tokens.unlink(userId, ecosystemName),
    unlinkStored: (userId, ecosystem) => tokens.unlinkStored(userId, ecosystem),
    unlinkAll: (userId) => tokens.unlinkAll(userId),
    status: async (userId, ecosystemName) => linkStatus(thisNode, freshness, userId, tokens.nameOf(ecosystemName)),
    freshness,
    freshnessOfEach: (devices) => freshnessOfEach(thisNode, devices),
    freshnessBeside: () => freshnessBeside(thisNode),
    thingFreshnessOfEach: (links) => thingFreshnessOfEach(thisNode, links),
    freshnessHere: (device) => freshnessHere(thisNode, device),
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
    const position = typeof key === "number" && value !== null ? positionOf(key) : undefined;
    return position?.kind === "thermostat" && position.field === "requestWrite";
  });
}
