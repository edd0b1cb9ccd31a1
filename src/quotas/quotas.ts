import { QuotaExceeded } from "../model/errors.ts";
import type { TenantId } from "../model/ids.ts";
import type { OnLimitReached } from "../model/limits.ts";
import { MinuteBucket } from "./minute-bucket.ts";
import { type QuotaHolder, type QuotaKind, type QuotaValues, quotaLimits } from "./quota-kinds.ts";
import type { QuotaOwner, QuotaSettings } from "./quota-settings.ts";

/** The caller that uses a quota. A call with a security token has no client. */
export interface QuotaCaller {
  readonly tenantId: TenantId;
  readonly clientId?: string | undefined;
  /** A command on the service's own machine is not counted: an operator looks after a tenant at its quota. */
  readonly isCommand?: true;
}

export interface QuotaParts {
  readonly settings: Pick<QuotaSettings, "version" | "valuesOf">;
  /** How many nodes divide the quotas, this one included. */
  readonly liveNodes: () => number;
  readonly elapsedMs: () => number;
  readonly onLimitReached: OnLimitReached;
}

/** How much of its quotas an owner uses on this node. */
export type QuotaUse = Readonly<Record<QuotaKind, number>>;

/** From this number on, owners that use nothing are forgotten. */
const mostHeld = 10_000;

/** When a stream ends is up to its client, so nobody knows when the next one can be opened. */
const streamRetrySeconds = 10;

/**
 * Counts what clients and tenants do on this node, and refuses what exceeds their quotas here. The live nodes divide
 * a quota that an operator has set (docs/limits.md).
 */
export class Quotas {
  readonly #parts: QuotaParts;
  readonly #clients = new Map<string, Held>();
  readonly #tenants = new Map<TenantId, Held>();

  constructor(parts: QuotaParts) {
    this.#parts = parts;
  }

  /**
   * Counts a request, or throws QuotaExceeded and counts nothing. A request that may carry an alarm is counted and never
   * refused.
   */
  admitRequest(caller: QuotaCaller, mayRefuse = true): void {
    if (caller.isCommand) return;
    this.#admit("requestsPerMinute", caller, mayRefuse);
  }

  /** Counts a command to a thing, or throws QuotaExceeded. */
  admitCommand(caller: QuotaCaller): void {
    if (caller.isCommand) return;
    this.#admit("commandsPerMinute", caller, true);
  }

  /** Counts an open stream, or throws QuotaExceeded. Returns the function that must be called when the stream ends. */
  openStream(caller: QuotaCaller): () => void {
    if (caller.isCommand) return () => undefined;
    const held = this.#heldBy(caller);
    for (const one of held) {
      if (one.streams >= one.values.openStreams) {
        throw this.#exceeded(one, "openStreams", streamRetrySeconds, "A stream can be opened when another one ended.");
      }
    }
    for (const one of held) one.streams += 1;
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      for (const one of held) one.streams -= 1;
    };
  }

  useOf({ tenantId, clientId }: QuotaOwner): QuotaUse {
    const held = clientId === null ? this.#tenants.get(tenantId) : this.#clients.get(clientId);
    return held ? held.use(this.#parts.elapsedMs()) : { requestsPerMinute: 0, openStreams: 0, commandsPerMinute: 0 };
  }

  /** This runs for each request. */
  #admit(kind: "requestsPerMinute" | "commandsPerMinute", caller: QuotaCaller, mayRefuse: boolean): void {
    const nowMs = this.#parts.elapsedMs();
    const ofTenant = this.#ofTenant(caller.tenantId);
    const ofClient = caller.clientId === undefined ? undefined : this.#ofClient(caller.tenantId, caller.clientId);
    if (mayRefuse) {
      if (ofClient) this.#check(ofClient, kind, nowMs);
      this.#check(ofTenant, kind, nowMs);
    }
    ofClient?.buckets[kind].use(nowMs, ofClient.values[kind]);
    ofTenant.buckets[kind].use(nowMs, ofTenant.values[kind]);
  }

  #check(held: Held, kind: "requestsPerMinute" | "commandsPerMinute", nowMs: number): void {
    const waitMs = held.buckets[kind].waitMs(nowMs, held.values[kind]);
    if (waitMs > 0) throw this.#exceeded(held, kind, Math.max(1, Math.ceil(waitMs / 1_000)));
  }

  #exceeded(held: Held, kind: QuotaKind, retryAfterSeconds: number, more = ""): QuotaExceeded {
    this.#parts.onLimitReached(quotaLimits[held.holder][kind]);
    const onThisNode = this.#parts.liveNodes() > 1 ? " on this node" : "";
    const what = `The ${held.holder} has used its quota of ${held.values[kind]} ${words[kind]}${onThisNode}.`;
    return new QuotaExceeded(retryAfterSeconds, more === "" ? what : `${what} ${more}`);
  }

  #heldBy({ tenantId, clientId }: QuotaCaller): readonly Held[] {
    const ofTenant = this.#ofTenant(tenantId);
    return clientId === undefined ? [ofTenant] : [this.#ofClient(tenantId, clientId), ofTenant];
  }

  #ofClient(tenantId: TenantId, clientId: string): Held {
    let held = this.#clients.get(clientId);
    if (!held) {
      this.#forgetUnused(this.#clients);
      held = new Held("client", { tenantId, clientId });
      this.#clients.set(clientId, held);
    }
    held.update(this.#parts);
    return held;
  }

  #ofTenant(tenantId: TenantId): Held {
    let held = this.#tenants.get(tenantId);
    if (!held) {
      this.#forgetUnused(this.#tenants);
      held = new Held("tenant", { tenantId, clientId: null });
      this.#tenants.set(tenantId, held);
    }
    held.update(this.#parts);
    return held;
  }

  #forgetUnused<Key>(owners: Map<Key, Held>): void {
    if (owners.size < mostHeld || owners.size % 1_000 !== 0) return;
    const nowMs = this.#parts.elapsedMs();
    for (const [key, held] of owners) if (held.isUnused(nowMs)) owners.delete(key);
  }
}

const words: Readonly<Record<QuotaKind, string>> = {
  requestsPerMinute: "requests a minute",
  openStreams: "open streams",
  commandsPerMinute: "commands a minute",
};

/** One owner's quotas and what it uses of them. */
class Held {
  readonly holder: QuotaHolder;
  readonly #owner: QuotaOwner;
  readonly buckets = { requestsPerMinute: new MinuteBucket(), commandsPerMinute: new MinuteBucket() };
  streams = 0;
  /** On this node. */
  values!: QuotaValues;
  #version = -1;
  #nodes = 0;

  constructor(holder: QuotaHolder, owner: QuotaOwner) {
    this.holder = holder;
    this.#owner = owner;
  }

  update({ settings, liveNodes }: Pick<QuotaParts, "settings" | "liveNodes">): void {
    const nodes = liveNodes();
    if (this.#version === settings.version && this.#nodes === nodes) return;
    this.#version = settings.version;
    this.#nodes = nodes;
    this.values = settings.valuesOf(this.#owner, nodes);
  }

  use(nowMs: number): QuotaUse {
    const { requestsPerMinute, commandsPerMinute } = this.buckets;
    return {
      requestsPerMinute: requestsPerMinute.used(nowMs, this.values.requestsPerMinute),
      openStreams: this.streams,
      commandsPerMinute: commandsPerMinute.used(nowMs, this.values.commandsPerMinute),
    };
  }

  isUnused(nowMs: number): boolean {
    const { requestsPerMinute, commandsPerMinute } = this.buckets;
    return this.streams === 0 && requestsPerMinute.isUnused(nowMs) && commandsPerMinute.isUnused(nowMs);
  }
}
