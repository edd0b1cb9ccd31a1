import type { ReadThing } from "../devices/read-thing.ts";
import type { AccessScope } from "../model/access-scope.ts";
import type { DeviceId, TenantId, UserId } from "../model/ids.ts";
import { limits, type OnLimitReached } from "../model/limits.ts";
import { dnsLookup } from "../runtime/network/dns-lookup.ts";
import type { OutgoingCalls } from "../runtime/network/outgoing-calls.ts";
import type { Resolve } from "../runtime/network/public-address.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { TimeSlices } from "../runtime/time-slices.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { LogPosition } from "../store/tables/log-position.ts";
import { type Beginning, beginningAt } from "./beginning.ts";
import { changeHints, changesHeartbeatSeconds } from "./change-hints.ts";
import { compileFilter, type ReaderFilter, unreadableReporter } from "./client-events.ts";
import { EventHub, intervalMs } from "./event-hub.ts";
import { EventReader, type EventWriter, readsAtOnce } from "./event-reader.ts";
import type { OperatorScope } from "./event-scope.ts";
import { type HistoryPage, type HistoryQuery, historyOf } from "./history.ts";
import { readLogPage } from "./log-page.ts";
import { LogRetention } from "./log-retention.ts";
import { OpenStreams } from "./open-streams.ts";
import { OwnerQueues } from "./owner-queues.ts";
import { ReadTurns } from "./read-turns.ts";
import { type PastThingChange, type ThingHistoryQuery, thingHistoryOf } from "./thing-history.ts";
import { type Post, postWith } from "./webhooks/post.ts";
import { WebhookSender } from "./webhooks/sender.ts";
import { type WebhookAdministration, webhookAdministrationOn } from "./webhooks/webhook-administration.ts";
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
  readonly outgoing: OutgoingCalls;
  readonly logDays: number;
  /** Maximal number of open streams of a client for one user or tenant, on this node. */
  readonly streamsAtOnce: number;
  readonly sealing: {
    seal(secret: string, place: string): string;
    open(sealedSecret: string, place: string): string;
  };
  readonly allowsPrivateWebhooks: boolean;
  /** The User-Agent of webhook requests. */
  readonly userAgent: string;
  /** Whether this node receives hints at present when another node has appended to the log. */
  readonly receivesHints?: () => boolean;
  /** Resolves when this node has read which access has ended; nothing is sent before that. */
  readonly revocationsRead?: () => Promise<void>;
  /** Lets the event loop serve others; by a timer by default. */
  readonly turn?: () => Promise<void>;
  readonly resolve?: Resolve;
  /** How webhooks are called; over the network by default. */
  readonly post?: Post;
  readonly newWebhookId?: () => string;
  /** Whether every node can read sealed addresses of webhooks; true by default. */
  readonly sealsAddresses?: () => boolean;
  /** Counts messages that were delayed or dropped because of a limit (docs/limits.md). */
  readonly onLimitReached?: OnLimitReached;
}

/** A request for a stream. */
export interface EventRequest {
  readonly clientId: string;
  readonly accessScope: AccessScope & { readonly tenantId: TenantId };
  readonly filter: ReaderFilter;
  readonly beginning: Beginning;
  /** True when the client's access token has expired. */
  readonly hasExpired: () => boolean;
  /** The heartbeat interval that the client asked for; undefined for the default interval. */
  readonly heartbeatSeconds?: number | undefined;
}

/** Events of devices for clients: live streams, and history. */
export interface Events {
  /**
   * Where a stream begins: after the event at which an earlier one broke off, or now. Call it before the answer's head
   * is sent: a client that has the head may read its devices, and relies on receiving every later event.
   */
  beginning(lastEventId: string | undefined, heartbeatSeconds?: number): Promise<Beginning>;
  /** Sends all events within the access scope from there on, until the stream is closed. */
  follow(request: EventRequest, writer: EventWriter): void;
  /** Sends hints at what changes from now on within the operator's tenants, until the stream is closed. */
  followChanges(
    request: Pick<OperatorScope, "tenantIds"> & { readonly operatorId: number; readonly beginning: Beginning },
    writer: EventWriter,
  ): void;
  history(userId: UserId, deviceId: DeviceId, query: HistoryQuery): Promise<HistoryPage>;
  thingHistory(
    thing: Pick<ReadThing, "userId" | "deviceId" | "thingId">,
    query: ThingHistoryQuery,
  ): Promise<HistoryPage<PastThingChange>>;
}

export interface RunningEvents extends Events {
  readonly hub: EventHub;
  readonly webhooks: Webhooks;
  readonly webhookAdministration: WebhookAdministration;
  /** Called after each commit of this node: the log has grown. */
  afterCommit(isUrgent: boolean): void;
  /** Called at a hint: another node may have appended to the log. */
  hinted(): void;
  readonly retention: LogRetention;
  start(): void;
  stop(): Promise<void>;
}

export function eventsOn(parts: EventsParts): RunningEvents {
  const { store, runtime, logDays, sealing, allowsPrivateWebhooks: allowsPrivate, userAgent } = parts;
  const addressRules = { resolve: parts.resolve ?? dnsLookup({ resolvesLocalNames: allowsPrivate }), allowsPrivate };
  const addressOf = ({ id, url, sealedUrl }: WebhookRow) =>
    sealedUrl === null ? url : sealing.open(sealedUrl, addressContext(id));
  const sender = new WebhookSender({
    store,
    runtime,
    post: parts.post ?? postWith({ ...addressRules, userAgent }),
    secretOf: ({ id, sealedSecret }) => sealing.open(sealedSecret, secretContext(id)),
    addressOf,
    ...(parts.onLimitReached && { onLimitReached: parts.onLimitReached }),
  });
  const revocationsRead = parts.revocationsRead ?? (async () => undefined);
  const hub = new EventHub({ store, runtime, receivesHints: parts.receivesHints ?? (() => false), revocationsRead });
  const streams = new OpenStreams(parts.streamsAtOnce);
  const consoleStreams = new OpenStreams(limits.consoleStreamsPerOperator);
  const serve = (reader: EventReader) =>
    hub.serve(reader).catch((error) => {
      runtime.report.warn({ error }, "an event stream could not be started");
      reader.parts.writer.end();
    });
  const turn = parts.turn ?? (() => new Promise<void>((resolve) => runtime.after(0, resolve)));
  const read = (after: LogPosition, limit: number) => readLogPage(store, after, limit);
  const newReadTurns = () => new ReadTurns({ read, turn, runtime, atMost: readsAtOnce });
  const reads = { firstReads: newReadTurns(), readTurns: newReadTurns() };
  const reading = { runtime, ...reads, timeSlices: new TimeSlices({ turn, runtime }), revocationsRead };
  const histories = new OwnerQueues(
    "historiesWaiting",
    "Too many questions about the history of this user's devices wait. Try again when they are answered.",
  );
  const retention = new LogRetention({ store, runtime, keptMs: logDays * 86_400_000 });
  return {
    hub,
    webhooks: webhooksOn({
      ...addressRules,
      outgoing: parts.outgoing,
      store,
      seal: sealing.seal,
      addressOf,
      sealsAddresses: parts.sealsAddresses ?? (() => true),
      newId: parts.newWebhookId ?? newWebhookId,
      wake: () => sender.wake(),
    }),
    webhookAdministration: webhookAdministrationOn({
      store,
      seal: sealing.seal,
      addressOf,
      wake: () => sender.wake(),
    }),
    afterCommit(isUrgent) {
      hub.wake();
      sender.afterCommit(isUrgent);
    },
    hinted() {
      hub.wake();
      sender.hinted();
    },
    retention,
    beginning: (lastEventId, heartbeatSeconds) => beginningAt(store, lastEventId, heartbeatSeconds),
    follow({ clientId, accessScope, filter, beginning, hasExpired, heartbeatSeconds }, writer) {
      streams.add(JSON.stringify([clientId, ...ownerOf(accessScope)]), writer);
      const eventsOf = compileFilter(filter, unreadableReporter(runtime.report));
      const groupKey = keyOf(accessScope, filter, heartbeatSeconds);
      const times = { hasExpired, heartbeatSeconds, heartbeatMs: intervalMs({ heartbeatSeconds }) };
      const turnOwner = { tenant: String(accessScope.tenantId), holder: ownerOf(accessScope).join(" ") };
      const readerParts = { ...reading, turnOwner, accessScope, eventsOf, groupKey, writer, ...times };
      void serve(new EventReader(readerParts, beginning));
    },
    followChanges({ tenantIds, operatorId, beginning }, writer) {
      consoleStreams.add(String(operatorId), writer);
      const accessScope: OperatorScope = { kind: "operator", tenantIds };
      const groupKey = JSON.stringify(["operator", tenantIds?.toSorted((a, b) => a - b) ?? null]);
      const heartbeatSeconds = changesHeartbeatSeconds;
      const heartbeatMs = intervalMs({ heartbeatSeconds });
      const times = { hasExpired: () => false, heartbeatSeconds, heartbeatMs };
      const turnOwner = { tenant: "operators", holder: String(operatorId) };
      const readerParts = { ...reading, turnOwner, accessScope, eventsOf: changeHints, groupKey, writer, ...times };
      void serve(new EventReader(readerParts, beginning));
    },
    history: (userId, deviceId, query) =>
      histories.run(userId, () => historyOf({ store, turn }, userId, deviceId, query)),
    thingHistory: (thing, query) => histories.run(thing.userId, () => thingHistoryOf({ store, turn }, thing, query)),
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
  const { deviceIds, attributes, hearsAlerts = true, hearsThings = false, thingIds = [] } = filter;
  const { hearsLinkSessions = false } = filter;
  const things = hearsThings ? thingIds : null;
  return JSON.stringify([
    ...ownerOf(accessScope),
    deviceIds,
    attributes,
    hearsAlerts,
    things,
    hearsLinkSessions,
    heartbeatSeconds,
  ]);
}

function ownerOf(accessScope: AccessScope): readonly [kind: string, id: number] {
  return [accessScope.kind, accessScope.kind === "user" ? accessScope.userId : accessScope.tenantId];
}
