import type { OwnerId, TenantId } from "../../model/ids.ts";
import { type LimitName, limits } from "../../model/limits.ts";

/** A message to be sent, and the counters that its slot belongs to. */
export interface SlotUse {
  readonly webhookId: string;
  readonly ownerId: OwnerId;
  readonly tenantId: TenantId;
  /** Host and port of the receiver: webhooks of many owners may name the same one. */
  readonly receiver: string;
  readonly isUrgent: boolean;
}

/**
 * Bounds the messages that this node sends at once: in total, and per tenant, receiver, owner and webhook. A slow
 * receiver holds a slot until its attempt times out, so no single party may use them all. Tenants can share a receiver,
 * so each has a bound there too. Urgent messages may use a reserve on top of the bounds that owners share.
 */
export class SendingSlots {
  #total = 0;
  readonly #byTenant = new Map<TenantId, number>();
  readonly #byReceiver = new Map<string, number>();
  readonly #byShare = new Map<string, number>();
  readonly #byOwner = new Map<OwnerId, number>();
  readonly #byWebhook = new Map<string, number>();

  /** The limit that makes this message wait; undefined when there is a free slot. */
  limitFor({ webhookId, receiver, ownerId, tenantId, isUrgent }: SlotUse): LimitName | undefined {
    const reserve = isUrgent ? limits.webhookSendsUrgent : 0;
    if (countOf(this.#byWebhook, webhookId) >= limits.webhookSendsPerWebhook) return "webhookSendsPerWebhook";
    if (countOf(this.#byOwner, ownerId) >= limits.webhookSendsPerOwner) return "webhookSendsPerOwner";
    const share = limits.webhookSendsPerReceiverAndTenant + reserve;
    if (countOf(this.#byShare, shareKey(receiver, tenantId)) >= share) return "webhookSendsPerReceiverAndTenant";
    if (countOf(this.#byReceiver, receiver) >= limits.webhookSendsPerReceiver + reserve)
      return "webhookSendsPerReceiver";
    if (countOf(this.#byTenant, tenantId) >= limits.webhookSendsPerTenant + reserve) return "webhookSendsPerTenant";
    return this.#total >= limits.webhookSends + reserve ? "webhookSends" : undefined;
  }

  take(use: SlotUse): void {
    this.#count(use, 1);
  }

  release(use: SlotUse): void {
    this.#count(use, -1);
  }

  /** Number of running attempts of this owner. */
  ofOwner(ownerId: OwnerId): number {
    return countOf(this.#byOwner, ownerId);
  }

  #count({ tenantId, receiver, ownerId, webhookId }: SlotUse, by: 1 | -1): void {
    this.#total += by;
    add(this.#byTenant, tenantId, by);
    add(this.#byReceiver, receiver, by);
    add(this.#byShare, shareKey(receiver, tenantId), by);
    add(this.#byOwner, ownerId, by);
    add(this.#byWebhook, webhookId, by);
  }
}

function shareKey(receiver: string, tenantId: TenantId): string {
  return `${tenantId} ${receiver}`;
}

function countOf<Key>(counts: ReadonlyMap<Key, number>, key: Key): number {
  return counts.get(key) ?? 0;
}

function add<Key>(counts: Map<Key, number>, key: Key, by: number): void {
  const count = countOf(counts, key) + by;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}

/**
 * Orders messages: urgent ones first, then round-robin over owners, so that an owner with many due or running messages
 * doesn't come before the first message of another.
 */
export function inTurns<Message extends { readonly use: SlotUse }>(
  messages: readonly Message[],
  slots: Pick<SendingSlots, "ofOwner">,
): readonly Message[] {
  const turns = new Map<OwnerId, number>();
  const ordered = messages.map((message) => {
    const { ownerId, isUrgent } = message.use;
    const turn = turns.get(ownerId) ?? slots.ofOwner(ownerId);
    turns.set(ownerId, turn + 1);
    return { message, isUrgent, turn };
  });
  return ordered
    .sort((a, b) => Number(b.isUrgent) - Number(a.isUrgent) || a.turn - b.turn)
    .map(({ message }) => message);
}
