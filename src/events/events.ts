import type { AccessScope } from "../model/access-scope.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import type { ReachLimit } from "../model/limits.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Store, Transaction } from "../store/seam.ts";
import { eventsThrough, type ReaderFilter, unreadableIn } from "./client-events.ts";
import { EventHub } from "./event-hub.ts";
import { type Beginning, beginningAt, type EventOutlet, EventReader } from "./event-reader.ts";
import { type HistoryPage, type HistoryQuestion, historyOf } from "./history.ts";
import { LogRetention } from "./log-retention.ts";
import { OpenStreams } from "./open-streams.ts";
import { OwnerLanes } from "./owner-lanes.ts";
import { nameLookup } from "./webhooks/name-lookup.ts";
import { type Post, postWith } from "./webhooks/post.ts";
import type { Resolve } from "./webhooks/public-address.ts";
import { WebhookSender } from "./webhooks/sender.ts";
import {
  addressContext,
  newWebhookId,
  secretContext,
  type WebhookRow,
  type Webhooks,
  webhooksOn,
} from "./webhooks/webhooks.ts";

export interface EventsParts {
  readonly store: Store<
    Pick<Transaction, "log" | "logEpoch" | "webhooks" | "deliveries" | "idempotencyKeys" | "clock">
  >;
  readonly runtime: Runtime;
  readonly logDays: number;
  /** How many streams a client may have open here for one whom it acts for. */
  readonly streamsAtOnce: number;
  readonly sealing: {
    seal(secret: string, place: string): string;
    open(sealedSecret: string, place: string): string;
  };
  readonly allowsPrivateWebhooks: boolean;
  /** By what name we go where we call. */
  readonly userAgent: string;
  /** Whether this node is told at present when another has added to the log. */
  readonly isTold?: () => boolean;
  /** Resolves when this node has heard whose access has ended: before that, its streams are told nothing. */
  readonly readersKnown?: () => Promise<void>;
  readonly resolve?: Resolve;
  /** How webhooks are called; over the network unless it is given. */
  readonly post?: Post;
  readonly newWebhookId?: () => string;
  /** Whether every node can read sealed addresses of webhooks; all can unless it is given. */
  readonly sealsAddresses?: () => boolean;
  /** Something was held up, or dropped, because of a limit (docs/limits.md). */
  readonly reached?: ReachLimit;
}

/** A stream that somebody wants to read. */
export interface EventRequest {
  readonly clientId: string;
  readonly accessScope: AccessScope;
  readonly filter: ReaderFilter;
  readonly beginning: Beginning;
  /** Until when, on this node's own unjumping clock. */
  readonly untilMs: number;
  /** The heartbeat interval that the client asked for; undefined for the default interval. */
  readonly heartbeatSeconds?: number | undefined;
}

/** What clients hear of what happens to devices, now and afterwards. */
export interface Events {
  /**
   * Where a stream begins: behind the event where an earlier one broke off, or now. To be asked before the answer's head
   * goes out: a client that has it may read its devices, and counts on hearing of all that happens since.
   */
  beginning(lastEventId: string | undefined, heartbeatSeconds?: number): Promise<Beginning>;
  /** Feeds the outlet with all that happens within reach, from there on, until it is closed. */
  follow(request: EventRequest, outlet: EventOutlet): void;
  history(userId: UserId, deviceId: DeviceId, question: HistoryQuestion): Promise<HistoryPage>;
}

export interface RunningEvents extends Events {
  readonly hub: EventHub;
  readonly webhooks: Webhooks;
  /** Told after each commit of this node: the log has grown, by something urgent or not. */
  heard(isUrgent: boolean): void;
  /** Some node may have added to the log. */
  hinted(): void;
  readonly retention: LogRetention;
  start(): void;
  stop(): Promise<void>;
}

export function eventsOn(parts: EventsParts): RunningEvents {
  const { store, runtime, logDays, sealing, allowsPrivateWebhooks: allowsPrivate, userAgent } = parts;
  const outgoing = { resolve: parts.resolve ?? nameLookup({ isLocal: allowsPrivate }), allowsPrivate };
  const addressOf = ({ id, url, sealedUrl }: WebhookRow) =>
    sealedUrl === null ? url : sealing.open(sealedUrl, addressContext(id));
  const sender = new WebhookSender({
    store,
    runtime,
    post: parts.post ?? postWith({ ...outgoing, userAgent }),
    secretOf: ({ id, sealedSecret }) => sealing.open(sealedSecret, secretContext(id)),
    addressOf,
    ...(parts.reached && { reached: parts.reached }),
  });
  const hub = new EventHub({
    store,
    runtime,
    isTold: parts.isTold ?? (() => false),
    readersKnown: parts.readersKnown ?? (async () => undefined),
  });
  const streams = new OpenStreams(parts.streamsAtOnce);
  const turn = () => new Promise<void>((resolve) => runtime.after(0, resolve));
  const histories = new OwnerLanes(
    "historiesWaiting",
    "Too many questions about the history of this user's devices wait. Try again when they are answered.",
  );
  const retention = new LogRetention({ store, runtime, keptMs: logDays * 86_400_000 });
  return {
    hub,
    webhooks: webhooksOn({
      ...outgoing,
      store,
      seal: sealing.seal,
      addressOf,
      sealsAddresses: parts.sealsAddresses ?? (() => true),
      newId: parts.newWebhookId ?? newWebhookId,
      wake: () => sender.wake(),
    }),
    heard(isUrgent) {
      hub.wake();
      sender.heard(isUrgent);
    },
    hinted() {
      hub.wake();
      sender.hinted();
    },
    retention,
    beginning: (lastEventId, heartbeatSeconds) => beginningAt(store, lastEventId, heartbeatSeconds),
    follow({ clientId, accessScope, filter, beginning, untilMs, heartbeatSeconds }, outlet) {
      streams.add(JSON.stringify([clientId, ...whose(accessScope)]), outlet);
      const eventsOf = eventsThrough(filter, unreadableIn(runtime.report));
      const groupKey = keyOf(accessScope, filter, heartbeatSeconds);
      const readerParts = { store, accessScope, eventsOf, groupKey, outlet, untilMs, heartbeatSeconds };
      const reader = new EventReader(readerParts, beginning);
      hub.serve(reader).catch((error) => {
        runtime.report.warn({ error }, "a client's stream of events could not be begun");
        outlet.end();
      });
    },
    history: (userId, deviceId, question) =>
      histories.run(userId, () => historyOf({ store, turn }, userId, deviceId, question)),
    start() {
      retention.start();
      sender.start();
    },
    async stop() {
      await hub.stop();
      await sender.stop();
      await retention.stop();
    },
  };
}

function keyOf(accessScope: AccessScope, filter: ReaderFilter, heartbeatSeconds: number | undefined): string {
  const { deviceIds, attributes, hearsAlerts = true } = filter;
  return JSON.stringify([...whose(accessScope), deviceIds, attributes, hearsAlerts, heartbeatSeconds]);
}

function whose(accessScope: AccessScope): readonly [kind: string, id: number] {
  return [accessScope.kind, accessScope.kind === "user" ? accessScope.userId : accessScope.tenantId];
}
