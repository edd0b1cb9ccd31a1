import { AlreadyFederated, NotFederated } from "../../../src/model/errors.ts";
import type { DeviceId, UserId } from "../../../src/model/ids.ts";
import type { LinkRow } from "../../../src/store/tables/links.ts";
import type { LinkCall } from "../checks/history.ts";
import type { Upstream } from "../ecosystem/upstream.ts";
import type { Faults } from "../faults.ts";
import { type SimulatedNode, tokenIn } from "../node.ts";
import type { Calls } from "./calls.ts";
import { grantOf, userOf } from "./tokens.ts";

export interface LinkOwnersParts {
  readonly calls: Calls;
  readonly faults: Faults;
  readonly upstream: Upstream;
  readonly users: readonly UserId[];
  readonly linkOf: (userId: number) => LinkRow | undefined;
  /** The last token of a removed link. */
  readonly tokenOfRemoved: (deviceId: DeviceId) => string;
  readonly committedSoFar: () => number;
}

/** The users with linked accounts: they link, replace tokens, unlink and link again, each call on any node. */
export class LinkOwners {
  readonly calls: LinkCall[] = [];
  /** Devices whose removal was acknowledged, by user. */
  readonly former = new Map<UserId, DeviceId[]>();
  readonly #parts: LinkOwnersParts;
  readonly #unwanted = new Set<UserId>();
  /** The number of calls in progress, by user. */
  readonly #waiting = new Map<UserId, number>();

  constructor(parts: LinkOwnersParts) {
    this.#parts = parts;
  }

  wantsLink(userId: UserId): boolean {
    return !this.#unwanted.has(userId);
  }

  start(): void {
    const { dice } = this.#parts.calls.scheduler;
    for (const userId of this.#parts.users) {
      const token = this.#parts.upstream.tokens.newest(userId);
      this.#link(userId, token);
      if (dice.chance(0.3)) this.#link(userId, token);
      if (dice.chance(0.5)) this.#unlink(userId, [3_000, 25_000]);
    }
  }

  /** The user passes the account's new token to the service, and retries until it is accepted. */
  relink(userId: UserId): void {
    this.#relink(userId, [200, 4_000], () => this.relink(userId));
  }

  /** Checks the link now and then, and repairs what only its user can: a missing token, or a missing link. */
  lookAfter(userId: UserId): void {
    const { calls, linkOf, upstream } = this.#parts;
    calls.scheduler.after(1_500, undefined, `user ${userId} looks`, () => {
      const link = linkOf(userId);
      const isWaiting = (this.#waiting.get(userId) ?? 0) > 0;
      if (!isWaiting && !link && this.wantsLink(userId)) this.#link(userId, upstream.tokens.issue(userId));
      if (!isWaiting && link && !this.wantsLink(userId)) this.#unlink(userId, [0, 100]);
      else if (!isWaiting && link && this.#isLost(link)) this.#relink(userId, [0, 100]);
      this.lookAfter(userId);
    });
  }

  /** Only a new token helps. An ecosystem with renewal may have refused two access tokens of a valid grant. */
  #isLost(link: LinkRow): boolean {
    const { tokens } = this.#parts.upstream;
    if (!tokens.isGrantGood(tokenIn(link))) return true;
    return tokens.rules !== undefined && link.state === "needs_reauth";
  }

  #link(userId: UserId, token: string): void {
    const { upstream } = this.#parts;
    this.#make("link", userId, () => token, [0, 3_000], {
      send: (node) => node.link(userId, upstream.credentialFor(node, token)),
      done: (deviceId) => {
        if (this.former.has(userId)) this.#parts.faults.count("linked again");
        return deviceId;
      },
      failed: (error) => {
        if (error instanceof AlreadyFederated || !this.wantsLink(userId)) return;
        // The token may have been revoked in the meantime.
        this.#link(userId, upstream.tokens.forCall(userId));
      },
    });
  }

  #relink(userId: UserId, range: readonly [number, number], again: () => void = () => undefined): void {
    const { upstream, faults } = this.#parts;
    // Read when the call is made, so that it is the newest.
    this.#make("relink", userId, () => upstream.tokens.forCall(userId), range, {
      send: (node, token) => node.relink(userId, upstream.credentialFor(node, token!)),
      done: (deviceId) => deviceId,
      failed: (error) => {
        if (error instanceof NotFederated) faults.count("new token came too late");
        else again();
      },
    });
  }

  #unlink(userId: UserId, range: readonly [number, number]): void {
    const { calls, faults, upstream } = this.#parts;
    const { dice } = calls.scheduler;
    const later = () => {
      this.#unwanted.delete(userId);
      if (dice.chance(0.3)) this.#unwanted.add(userId);
      else this.#link(userId, upstream.tokens.issue(userId));
    };
    this.#make("unlink", userId, () => null, range, {
      send: (node) => {
        // A concurrent new token is accepted before the unlinking, or not at all.
        if (dice.chance(0.3)) this.#relink(userId, [0, 150]);
        return node.unlink(userId);
      },
      done: ({ deviceId }, node, call) => {
        faults.count("unlinked");
        this.former.set(userId, [...(this.former.get(userId) ?? []), deviceId]);
        call.leftOver = this.#leftOver(node, deviceId);
        later();
        return deviceId;
      },
      failed: (error) => {
        if (error instanceof NotFederated) return later();
        faults.count("unlinking in doubt");
        if (dice.chance(0.6)) this.#unlink(userId, [0, 3_000]);
        else later();
      },
    });
  }

  /** Work that a node still does for the removed device after it answered the unlinking; there must be none. */
  #leftOver(node: SimulatedNode, deviceId: DeviceId): string | undefined {
    const { upstream, linkOf, tokenOfRemoved } = this.#parts;
    if (node.federation.keeper.supervisor(deviceId)) return `${node.name} still follows`;
    const token = tokenOfRemoved(deviceId);
    const present = linkOf(userOf(token));
    // A concurrent call to link with the same token may have succeeded since.
    if (present && grantOf(tokenIn(present)) === grantOf(token)) return undefined;
    const streams = upstream.openStreamsOf(node, token);
    return streams > 0 ? `${node.name} has ${streams} streams open` : undefined;
  }

  #make<Result>(
    kind: LinkCall["kind"],
    userId: UserId,
    tokenOf: () => string | null,
    range: readonly [number, number],
    steps: {
      readonly send: (node: SimulatedNode, token: string | null) => Promise<Result>;
      readonly done: (result: Result, node: SimulatedNode, call: LinkCall) => DeviceId;
      readonly failed: (error: unknown) => void;
    },
  ): void {
    const { calls, committedSoFar } = this.#parts;
    const count = (by: number) => this.#waiting.set(userId, (this.#waiting.get(userId) ?? 0) + by);
    count(1);
    calls.laterOnSomeNode(`user ${userId}: ${kind}`, range, (node) => {
      const token = tokenOf();
      const call: LinkCall = {
        kind,
        userId,
        node: node.name,
        token,
        fromSeq: committedSoFar(),
        toSeq: Number.POSITIVE_INFINITY,
        toMs: Number.POSITIVE_INFINITY,
        outcome: "open",
        deviceId: null,
        leftOver: undefined,
      };
      this.calls.push(call);
      calls.untilAnswered(
        steps.send(node, token),
        (result) => {
          count(-1);
          call.toSeq = committedSoFar();
          call.toMs = calls.scheduler.nowMs;
          call.outcome = "done";
          call.deviceId = steps.done(result, node, call);
        },
        (error) => {
          count(-1);
          if (error !== undefined) call.toSeq = committedSoFar();
          const isRefused = error instanceof NotFederated || error instanceof AlreadyFederated;
          if (error !== undefined) call.outcome = isRefused ? "refused" : "failed";
          steps.failed(error);
        },
      );
    });
  }
}
