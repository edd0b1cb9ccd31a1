import type { Commit, CommitTables } from "../devices/commit.ts";
import { deviceEntry, linkEntry } from "../devices/log-entries.ts";
import type { DeviceStates } from "../devices/states.ts";
import type { Connector } from "../ecosystems/connector.ts";
import type { Credential } from "../ecosystems/credential.ts";
import type { Home } from "../home/home.ts";
import {
  AlreadyFederated,
  AnotherAccount,
  BadParameter,
  InvalidSecToken,
  NotFederated,
  NotFound,
  restOfChange,
  UnknownEcosystem,
} from "../model/errors.ts";
import type { DeviceId, TenantId, UserId } from "../model/ids.ts";
import { justLinked } from "../model/just-linked.ts";
import { virtualDeviceType } from "../model/virtual-device-type.ts";
import type { Membership } from "../nodes/membership.ts";
import { causeOfUser, type OutgoingCalls } from "../runtime/network/outgoing-calls.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Store } from "../store/seam.ts";
import type { LinkRow, NewLink } from "../store/tables/links.ts";
import { blankValues, mirrorChanges, packValues } from "../virtual-device/attribute-values.ts";
import { assignIndexes, emptyIndexMap } from "../virtual-device/index-map.ts";
import { mirror } from "../virtual-device/mirror.ts";
import { encodeIndexMap } from "../virtual-device/stored-index-map.ts";
import { isAnotherAccount, switchAccount } from "./another-account.ts";
import { readAccount } from "./connector-calls.ts";
import {
  callTokenOf,
  openCredential,
  type SealedCredential,
  sealCredential,
  storedCallToken,
  type TokenSealing,
} from "./credential.ts";
import type { Feeds } from "./feeds/feeds.ts";
import type { FederationTables, LinkKeeper } from "./keeper.ts";
import { type Mirrored, toAttributeChange } from "./lane.ts";
import { encodeNotices } from "./notices.ts";
import { noThingMarks, type ThingIdOf, thingUpdate } from "./thing-marks.ts";
import { type RemovedCounts, removeLink } from "./unlinking.ts";

export interface FederatedTokenParts {
  readonly store: Store<FederationTables>;
  readonly commit: Commit;
  readonly keeper: LinkKeeper;
  readonly membership: Membership;
  readonly connectors: ReadonlyMap<string, Connector>;
  readonly states: DeviceStates;
  readonly sealing: TokenSealing;
  readonly thingIdOf: ThingIdOf;
  readonly runtime: Runtime;
  readonly feeds?: Pick<Feeds, "accountOf" | "isAccountShared">;
  readonly outgoing: OutgoingCalls;
}

/** What a caller adds to a link. */
export interface LinkOptions {
  /** Aborts when the client disconnects. It ends the read that proves the token, and nothing after it. */
  readonly disconnected?: AbortSignal | undefined;
  /** The link session in which the user links the account. */
  readonly linkSession?: string;
  /** Further writes in the transaction that makes or changes the link. `home`: the account that was read. */
  readonly also?: (tx: CommitTables, deviceId: DeviceId, home: Home) => Promise<void>;
  /** Called with the home of another account than the linked one. The relink then throws AnotherAccount. */
  readonly onAnotherAccount?: (home: Home) => void;
}

export interface Unlinked {
  readonly deviceId: DeviceId;
  readonly removed: RemovedCounts;
  readonly isTokenRevoked: boolean;
}

/** Time limit of a read that proves a token. A connector may need several calls for it, and wait between them. */
const proofLimitMs = 75_000;

/** The part of a connector that unlinking needs. */
type Revoking = Pick<Connector, "name" | "revoke" | "callTokenOf">;

/**
 * Links, relinks and unlinks users. A token is proven by a read before anything is stored, and a refused token changes
 * nothing.
 */
export class FederatedTokens {
  readonly #parts: FederatedTokenParts;

  constructor(parts: FederatedTokenParts) {
    this.#parts = parts;
  }

  /**
   * Links a user. `address`: the address of the account, for an ecosystem whose accounts have one each. The read that proves the token is the first snapshot: device, link, index map and attributes become
   * durable together. So the attributes are filled when this resolves, and no alert can exist before them.
   */
  async link(
    userId: UserId,
    ecosystemName: string,
    brought: string | Credential,
    address?: string,
    options: LinkOptions = {},
  ): Promise<DeviceId> {
    const { runtime, keeper } = this.#parts;
    const connector = this.#connector(ecosystemName);
    const tokenOrCredential = withAddress(connector, brought, address);
    const { tenantId, link: existing } = await this.#find(userId, connector.name);
    if (existing) throw new AlreadyFederated(connector.name);
    if (tenantId === undefined) throw new InvalidSecToken();
    const callToken = callTokenOf(connector, tokenOrCredential);
    const home = await this.#prove(connector, callToken, [userId, tenantId], options);
    const readMs = runtime.elapsedMs();
    const { row, mirrored } = await this.#store(userId, connector, tokenOrCredential, home, readMs, options);
    keeper.adopt(row, mirrored);
    return row.deviceId;
  }

  /**
   * Replaces the token or credential. The virtual device, its indexes and its alerts stay; the old token isn't revoked. If the token
   * belongs to another account, the device shows that account when this resolves.
   */
  async relink(
    userId: UserId,
    ecosystemName: string,
    brought: string | Credential,
    address?: string,
    options: LinkOptions = {},
  ): Promise<DeviceId> {
    const { store, keeper, membership } = this.#parts;
    const { also, onAnotherAccount } = options;
    const connector = this.#connector(ecosystemName);
    const tokenOrCredential = withAddress(connector, brought, address);
    const callToken = callTokenOf(connector, tokenOrCredential);
    const find = (tx: FederationTables) => tx.links.find(userId, connector.name);
    const { tenantId, link: before } = await this.#find(userId, connector.name);
    if (!before || tenantId === undefined) throw new NotFederated(connector.name);
    const home = await this.#prove(connector, callToken, [userId, tenantId], options);
    const isAnother = await isAnotherAccount(this.#parts, connector, before, { callToken, home });
    if (onAnotherAccount && isAnother) {
      onAnotherAccount(home);
      throw new AnotherAccount(connector.name);
    }
    const { deviceId, claimed } = await store.transaction(async (tx) => {
      const nowMs = await tx.users.lock(userId);
      const link = nowMs === undefined ? undefined : await find(tx);
      if (nowMs === undefined || !link) throw new NotFederated(connector.name);
      const { deviceId } = link;
      await also?.(tx, deviceId, home);
      const isFollowed = typeof brought === "string" && keeper.isFollowing(link, callToken);
      // Keep a credential: the store may already hold its next token, which this node does not use yet.
      if (isFollowed && link.sealedCredential !== null) return { deviceId, claimed: undefined };
      const isKept = typeof brought === "string" && (await this.#isLiveElsewhere(tx, connector, link, callToken));
      if (isKept) return { deviceId, claimed: undefined };
      const { sealedToken, sealedCredential } = this.#seal(userId, connector.name, tokenOrCredential, nowMs);
      await tx.links.setToken(userId, deviceId, sealedToken, sealedCredential);
      if (isFollowed) return { deviceId, claimed: undefined };
      // This node takes over the link with a new epoch, in this transaction. An older epoch, this node's own included,
      // can no longer record that the old token was refused.
      const reason = "a new token was given";
      const blindness = link.blindness ?? { sinceMs: link.confirmedMs, cause: reason };
      await tx.links.setState(userId, deviceId, { state: "waiting", reason, blindness });
      await tx.log.append(linkEntry(userId, deviceId, nowMs, { ...link, state: "waiting", reason }));
      return { deviceId, claimed: await tx.links.takeOver(userId, deviceId, membership.id) };
    });
    if (claimed) {
      if (isAnother && claimed.indexMap === before.indexMap) await this.#showAnotherAccount(claimed, home);
      keeper.adopt(claimed);
    }
    return deviceId;
  }

  /**
   * Unlinks: when this resolves, the link, its virtual device, all their data and the stream are gone. Revoking the
   * token at the ecosystem is best effort.
   */
  async unlink(userId: UserId, ecosystemName: string): Promise<Unlinked> {
    return this.#unlink(userId, this.#connector(ecosystemName));
  }

  /** Like `unlink`, by the name that the link has in the store: also for an ecosystem that is no longer configured. */
  async unlinkStored(userId: UserId, ecosystem: string): Promise<Unlinked> {
    return this.#unlink(userId, this.#parts.connectors.get(ecosystem) ?? withoutConnector(ecosystem));
  }

  /** Unlinks the user from every ecosystem. At an ecosystem that is no longer configured the token is not revoked. */
  async unlinkAll(userId: UserId): Promise<readonly Unlinked[]> {
    const { store } = this.#parts;
    const unlinked: Unlinked[] = [];
    for (const { ecosystem } of await store.read((tx) => tx.links.ofUser(userId))) {
      try {
        unlinked.push(await restOfChange(unlinked.length > 0, () => this.unlinkStored(userId, ecosystem)));
      } catch (error) {
        // Another request has removed the link.
        if (!(error instanceof NotFederated)) throw error;
      }
    }
    return unlinked;
  }

  /** The name of a configured ecosystem; case is ignored. */
  nameOf(ecosystemName: string): string {
    return this.#connector(ecosystemName).name;
  }

  async #unlink(userId: UserId, connector: Revoking): Promise<Unlinked> {
    const { store, keeper, states, feeds } = this.#parts;
    const { tenantId, link } = await this.#find(userId, connector.name);
    // Revoking would end the consent of the other user too.
    const isShared = link !== undefined && (await feeds?.isAccountShared(link)) === true;
    const { deviceId, sealed, removed } = await removeLink(store, userId, connector.name);
    await keeper.drop(deviceId);
    states.forget(deviceId);
    const isTokenRevoked = !isShared && (await this.#revoke(userId, tenantId, connector, sealed));
    return { deviceId, removed, isTokenRevoked };
  }

  /** Reads the account, which proves the token. */
  #prove(
    connector: Connector,
    callToken: string,
    [userId, tenantId]: readonly [UserId, TenantId],
    { linkSession, disconnected }: LinkOptions,
  ): Promise<Home> {
    const { outgoing, runtime } = this.#parts;
    const read = (signal: AbortSignal) => readAccount(connector, callToken, signal, runtime);
    return outgoing.run({ ...causeOfUser(userId, tenantId), linkSession, disconnected }, read, proofLimitMs);
  }

  /** The user's link to that ecosystem, and the user's tenant; undefined when there is none. */
  #find(userId: UserId, ecosystem: string): Promise<{ readonly tenantId?: TenantId; readonly link?: LinkRow }> {
    return this.#parts.store.read(async (tx) => {
      const [link, [user]] = await Promise.all([tx.links.find(userId, ecosystem), tx.users.some([userId])]);
      return { ...(user && { tenantId: user.tenantId }), ...(link && { link }) };
    });
  }

  /**
   * Whether another node follows the link with that token. Only a live stream proves it: a node that can't open the
   * stored token waits, and then the new one must go to this node.
   */
  async #isLiveElsewhere(
    tx: Pick<FederationTables, "nodes">,
    connector: Connector,
    link: LinkRow,
    callToken: string,
  ): Promise<boolean> {
    const { membership, sealing } = this.#parts;
    if (link.state !== "live" || link.owner === null || link.owner === membership.id) return false;
    if (storedCallToken(sealing, connector, link) !== callToken) return false;
    return (await membership.living(tx)).includes(link.owner);
  }

  /** Best effort: the token is stored already, and the stream will bring the same account later. */
  async #showAnotherAccount(link: LinkRow, home: Home): Promise<void> {
    const { commit, membership, runtime } = this.#parts;
    const { userId, deviceId, epoch } = link;
    try {
      await commit({
        userId,
        cause: { by: "ecosystem" },
        updates: async (tx) => [await switchAccount(tx, link, home)],
        ownership: { deviceId, owner: membership.id, epoch },
      });
    } catch (error) {
      runtime.report.warn(
        { userId, deviceId, error },
        "the account of the new token could not be mirrored before its stream opens",
      );
    }
  }

  /** Best effort: the link is removed already, so a token that can't be opened or revoked is only reported. */
  async #revoke(
    userId: UserId,
    tenantId: TenantId | undefined,
    connector: Revoking,
    sealed: SealedCredential,
  ): Promise<boolean> {
    const { sealing, outgoing, runtime } = this.#parts;
    try {
      const { credential } = openCredential(sealing.open, { userId, ecosystem: connector.name, ...sealed });
      const revoke = (signal: AbortSignal) => connector.revoke(callTokenOf(connector, credential), signal, credential);
      return await outgoing.run(causeOfUser(userId, tenantId), revoke);
    } catch (error) {
      const sentence = "the token of a removed link could not be revoked at its ecosystem";
      runtime.report.error({ userId, ecosystem: connector.name, error }, sentence);
      return false;
    }
  }

  /** `readMs`: when the account was read, on this node's monotonic clock. */
  async #store(
    userId: UserId,
    connector: Connector,
    tokenOrCredential: string | Credential,
    home: Home,
    readMs: number,
    { also }: LinkOptions,
  ) {
    const { commit, membership, runtime, thingIdOf } = this.#parts;
    const { map, overLimit } = assignIndexes(emptyIndexMap, home);
    const things = thingUpdate(home, noThingMarks, { userId, ecosystem: connector.name }, thingIdOf);
    const notices = encodeNotices(overLimit, home, map);
    const values = mirror(home, map, blankValues);
    let row: LinkRow | undefined;
    await commit({
      userId,
      cause: { by: "ecosystem" },
      updates: async (tx, nowMs) => {
        const name = connector.displayName;
        const provenMs = nowMs - Math.ceil(runtime.elapsedMs() - readMs);
        const deviceId = await tx.devices.add({ userId, typeName: virtualDeviceType, name, isVirtual: true });
        const link: NewLink & Pick<LinkRow, "sealedCredential"> = {
          userId,
          deviceId,
          ecosystem: connector.name,
          ...this.#seal(userId, connector.name, tokenOrCredential, nowMs),
          state: "waiting",
          reason: justLinked,
          blindness: { sinceMs: provenMs, cause: justLinked },
          owner: membership.id,
          confirmedMs: provenMs,
          indexMap: encodeIndexMap(map),
          notices,
        };
        const ownership = await tx.links.add(link);
        if (!ownership) throw new AlreadyFederated(connector.name);
        row = { ...link, renewingMs: null, epoch: ownership.epoch };
        await tx.log.append(deviceEntry(userId, deviceId, nowMs, "added"));
        await tx.log.append(linkEntry(userId, deviceId, nowMs, link));
        const changes = mirrorChanges(blankValues, values).map(toAttributeChange);
        await also?.(tx, deviceId, home);
        return [{ deviceId, changes, things: things.writes }];
      },
    }).catch((error: unknown) => {
      // The user was removed after the token of the call was verified.
      throw error instanceof NotFound ? new InvalidSecToken() : error;
    });
    const mirrored: Mirrored = { indexMap: map, notices, values: packValues(values), things: things.marks };
    return { row: row!, mirrored };
  }

  #seal(userId: UserId, ecosystem: string, tokenOrCredential: string | Credential, nowMs: number) {
    const issued =
      typeof tokenOrCredential === "string" ? tokenOrCredential : { ...tokenOrCredential, issuedMs: nowMs };
    return sealCredential(this.#parts.sealing.seal, { userId, ecosystem }, issued);
  }

  #connector(ecosystemName: string): Connector {
    const connector = this.#parts.connectors.get(ecosystemName.toLowerCase());
    if (connector) return connector;
    const known = [...this.#parts.connectors.keys()].join(", ");
    throw new UnknownEcosystem(`There is no ecosystem of that name. Known: ${known}.`);
  }
}

/** Nobody can revoke a token at an ecosystem that is no longer configured. */
function withoutConnector(name: string): Revoking {
  return { name, revoke: async () => false };
}

/** A token with the address of its account becomes a credential, where accounts have addresses of their own. */
function withAddress(
  { credentialFrom, tokenProblem }: Pick<Connector, "credentialFrom" | "tokenProblem">,
  brought: string | Credential,
  address: string | undefined,
): string | Credential {
  if (typeof brought === "string" && tokenProblem !== undefined) {
    throw new BadParameter("anAccessToken", `The parameter anAccessToken ${tokenProblem}`);
  }
  if (typeof brought !== "string" || !credentialFrom) return brought;
  const result = credentialFrom(brought, address);
  if ("credential" in result) return result.credential;
  throw new BadParameter("anEcosystemUrl", `The parameter anEcosystemUrl ${result.problem}`);
}
