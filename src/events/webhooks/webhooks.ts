import { randomBytes } from "node:crypto";
import type { KeepAnswer } from "../../idempotency/idempotent-writes.ts";
import { BadParameter, LimitReached, NotFound } from "../../model/errors.ts";
import type { TenantId } from "../../model/ids.ts";
import { limits } from "../../model/limits.ts";
import { type CallCause, causeOfUser, type OutgoingCalls } from "../../runtime/network/outgoing-calls.ts";
import { type AddressRules, NotReachable, reachableAddresses } from "../../runtime/network/public-address.ts";
import type { Store, Transaction } from "../../store/seam.ts";
import type { DeliveryRow } from "../../store/tables/webhook-deliveries.ts";
import type { WebhookOwner, WebhookRow } from "../../store/tables/webhooks.ts";
import type { ReaderFilter } from "../client-events.ts";
import { boundedFilter } from "../event-filter.ts";
import { newWebhookSecret } from "./signature.ts";

export type { DeliveryRow } from "../../store/tables/webhook-deliveries.ts";
export type { WebhookOwner, WebhookRow } from "../../store/tables/webhooks.ts";

export interface WebhookParts extends AddressRules {
  readonly store: Store<Pick<Transaction, "log" | "logEpoch" | "webhooks" | "deliveries" | "idempotencyKeys">>;
  readonly seal: (secret: string, place: string) => string;
  readonly addressOf: (webhook: WebhookRow) => string;
  /** Whether every node can read sealed addresses. */
  readonly sealsAddresses: () => boolean;
  readonly outgoing: OutgoingCalls;
  readonly newId: () => string;
  /** Wakes the sender. */
  readonly wake: () => void;
}

export interface NewWebhook extends ReaderFilter {
  readonly url: string;
}

export interface AddedWebhook {
  readonly webhook: WebhookRow;
  readonly secret: string;
}

/**
 * The webhooks of an owner: a client, for the user or tenant that it acts for. Webhooks of others look as if they did
 * not exist.
 */
export interface Webhooks {
  /** Returns the secret, which is never shown again. The signal aborts when the client has disconnected. */
  add(
    owner: WebhookOwner & { readonly tenantId: TenantId },
    webhook: NewWebhook,
    signal?: AbortSignal,
    keep?: KeepAnswer<AddedWebhook>,
  ): Promise<AddedWebhook>;
  list(owner: WebhookOwner): Promise<readonly WebhookRow[]>;
  remove(owner: WebhookOwner, id: string, keep?: KeepAnswer): Promise<void>;
  /** Newest first. */
  deliveries(owner: WebhookOwner, id: string): Promise<readonly DeliveryRow[]>;
  /** Sends a message again, after all that wait for the same device; returns the new delivery. */
  resend(owner: WebhookOwner, id: string, deliveryId: number, keep?: KeepAnswer<DeliveryRow>): Promise<DeliveryRow>;
}

const webhookLimits = { deliveriesShown: 100, urlCharacters: 2_048 };

export function newWebhookId(): string {
  return `wh_${randomBytes(12).toString("base64url")}`;
}

export function webhooksOn(parts: WebhookParts): Webhooks {
  const { store, seal, addressOf, sealsAddresses, outgoing, newId, wake, ...rules } = parts;
  return {
    async add(
      owner,
      { url, hearsAlerts = true, hearsThings = false, hearsLinkSessions = false, ...filter },
      disconnected,
      keep,
    ) {
      const { deviceIds, attributes } = boundedFilter(filter);
      const { hostname } = readUrl(url, rules.allowsPrivate);
      refuseMore(await store.read((tx) => tx.webhooks.ofOwner(owner)));
      // Private names may come and go: the attempt reports one that can't be resolved.
      if (!rules.allowsPrivate) {
        await outgoing.run({ ...causeOf(owner), disconnected }, (inTime) => checkHost(hostname, rules, inTime));
      }
      const id = newId();
      const secret = newWebhookSecret();
      const added = await store.transaction(async (tx) => {
        // The lock keeps others from adding a webhook after this count.
        await tx.webhooks.lockFeed();
        refuseMore(await tx.webhooks.ofOwner(owner));
        const from = await tx.log.end();
        // Without any webhook the feed does not advance, so it starts at the present end.
        if (!(await tx.webhooks.isAny())) {
          await tx.webhooks.setFeed({ ...from, things: from, epoch: (await tx.logEpoch.current()).name });
        }
        const key = await tx.webhooks.add({
          id,
          tenantId: owner.tenantId,
          userId: owner.kind === "user" ? owner.userId : null,
          clientId: owner.clientId,
          ...(sealsAddresses() ? { url: "", sealedUrl: seal(url, addressContext(id)) } : { url, sealedUrl: null }),
          sealedSecret: seal(secret, secretContext(id)),
          deviceIds,
          attributes,
          hearsAlerts,
          hearsThings,
          hearsLinkSessions,
          from,
        });
        const added = { webhook: { ...(await tx.webhooks.byKey(key))!, url }, secret };
        await keep?.(tx, added);
        return added;
      });
      wake();
      return added;
    },
    list: async (owner) => {
      const rows = await store.read((tx) => tx.webhooks.ofOwner(owner));
      return rows.map((webhook) => ({ ...webhook, url: addressOrEmpty(webhook, addressOf) }));
    },
    remove: (owner, id, keep) =>
      store.transaction(async (tx) => {
        await tx.webhooks.lockFeed();
        const webhook = await tx.webhooks.find(owner, id);
        if (!webhook) throw unknown();
        await tx.webhooks.lock(webhook);
        await tx.webhooks.remove(webhook);
        await keep?.(tx);
      }),
    deliveries: (owner, id) =>
      store.read(async (tx) => {
        const webhook = await tx.webhooks.find(owner, id);
        if (!webhook) throw unknown();
        return tx.deliveries.ofWebhook(webhook, webhookLimits.deliveriesShown);
      }),
    async resend(owner, id, deliveryId, keep) {
      const resent = await store.transaction(async (tx) => {
        await tx.webhooks.lockFeed();
        const webhook = await tx.webhooks.find(owner, id);
        const delivery = webhook && (await tx.deliveries.find(webhook, deliveryId));
        if (!delivery) throw unknown();
        await tx.webhooks.lock(webhook);
        const { messages } = await tx.deliveries.waitingOf(webhook, limits.webhookMessagesWaiting);
        if (messages >= limits.webhookMessagesWaiting) {
          const sentence = `${messages} messages wait for this webhook already. Try again when they are delivered.`;
          throw new LimitReached("webhookMessagesWaiting", sentence);
        }
        const resent = (await tx.deliveries.find(webhook, await tx.deliveries.add({ ...delivery, isResend: true })))!;
        await keep?.(tx, resent);
        return resent;
      });
      wake();
      return resent;
    },
  };
}

/** The context that a webhook's secret is sealed with: it opens only for this webhook. */
export function secretContext(webhookId: string): string {
  return `webhook ${webhookId}`;
}

export function addressContext(webhookId: string): string {
  return `webhook address ${webhookId}`;
}

/** The address; empty when its key is missing, so that one such webhook doesn't hide the others. */
function addressOrEmpty(webhook: WebhookRow, addressOf: WebhookParts["addressOf"]): string {
  try {
    return addressOf(webhook);
  } catch {
    return "";
  }
}

function unknown(): NotFound {
  return new NotFound("There is no such webhook or delivery.");
}

function refuseMore({ length }: readonly WebhookRow[]): void {
  if (length < limits.webhooksPerOwner) return;
  const sentence = `There are ${limits.webhooksPerOwner} webhooks already. Remove one to add another.`;
  throw new LimitReached("webhooksPerOwner", sentence);
}

function readUrl(text: string, allowsPrivate: boolean): URL {
  const url = URL.canParse(text) && text.length <= webhookLimits.urlCharacters ? new URL(text) : undefined;
  const isWeb = url?.protocol === "https:" || (allowsPrivate && url?.protocol === "http:");
  if (!url || !isWeb || url.username || url.password || url.hash) {
    throw new BadParameter("url", "The member url must be an https address without user, password and fragment.");
  }
  return url;
}

function causeOf(owner: WebhookOwner & { readonly tenantId: TenantId }): CallCause {
  const { tenantId } = owner;
  if (owner.kind === "user") return causeOfUser(owner.userId, tenantId);
  return { user: `clients of tenant ${tenantId}`, tenant: `tenant ${tenantId}` };
}

/** The same sentence for a private address and an unknown name: the answer must not reveal a private network. */
async function checkHost(hostname: string, rules: AddressRules, signal: AbortSignal): Promise<void> {
  try {
    await reachableAddresses(hostname, rules, signal);
    // A client that has disconnected would not get the secret.
    if (signal.aborted) throw new NotReachable();
  } catch (error) {
    if (!(error instanceof NotReachable)) throw error;
    throw new BadParameter("url", "The member url must be a public https address that can be resolved.");
  }
}
